//! How much, and how long.

use super::{Chapter, Scaled, option, switch};
use crate::value::{TimeUnit, time};

pub(super) const CHAPTER: Chapter = Chapter {
    title: "Amount and time",
    options: &[
        option(
            "size",
            "a size",
            "Bytes that the files of one clone have together, and which it reads or writes once",
            |d, g| {
                d.size = Some(g.size()?).filter(|bytes| *bytes > 0);
                Ok(())
            },
        )
        .scaled(Scaled::Size)
        .differs("no percentages: files have no size before they are made"),
        option(
            "io_size",
            "a size",
            "Bytes that one clone reads and writes: fewer than `size`, or more, beginning again \
             at the start",
            |d, g| {
                d.io_size = Some(g.size()?).filter(|bytes| *bytes > 0);
                Ok(())
            },
        )
        .alias(&["io_limit"])
        .scaled(Scaled::Size)
        .differs("no percentages"),
        option(
            "number_ios",
            "from 0",
            "It ends after so many I/Os for each of the `loops`, if nothing ends it before",
            |d, g| {
                d.number_ios = Some(g.from(0)?).filter(|n| *n > 0);
                Ok(())
            },
        )
        .scaled(Scaled::Count),
        option("loops", "from 1", "Everything so many times (1)", |d, g| {
            d.loops = g.from(1)?;
            Ok(())
        })
        .differs("0 is an error"),
        option("runtime", "a time, in s", "It ends at the latest after so long", |d, g| {
            d.timing.runtime = Some(g.time(TimeUnit::Seconds)?).filter(|t| !t.is_zero());
            Ok(())
        })
        .alias(&["timeout"]),
        switch(
            "time_based",
            "It goes on until `runtime`, beginning again when all is done",
            |d, g| {
                d.timing.time_based = g.flag()?;
                Ok(())
            },
        )
        .differs("an error without `runtime`, which fio only mentions"),
        option(
            "ramp_time",
            "a time, in s",
            "So long it runs before anything is counted",
            |d, g| {
                d.timing.ramp = g.time(TimeUnit::Seconds)?;
                Ok(())
            },
        ),
        option(
            "startdelay",
            "a time or a range, in s",
            "It starts so much later; each clone draws from a range",
            |d, g| {
                let read = |text: &str| time(text, TimeUnit::Seconds);
                d.timing.start_delay = match g.text.split_once(['-', ':']) {
                    Some((from, to)) => {
                        let (from, to) = (read(from)?, read(to)?);
                        (from.min(to), from.max(to))
                    }
                    None => (read(g.text)?, read(g.text)?),
                };
                Ok(())
            },
        ),
    ],
};
