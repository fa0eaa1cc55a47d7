//! How much, and how long.

use super::{Chapter, Scaled, option, switch};
use crate::error::ChoiceError;
use crate::lists::steady;
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
        .differs(
            "no percentages: files have no size before they are made; needed in a study, where files \
             are new",
        ),
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
            "Runs until `runtime`, starting again when all is done",
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
            "steadystate",
            "iops, iops_slope, bw or bw_slope, with `:NUMBER` or `:NUMBER%`",
            "With `steadystate_duration`: what has to be under this limit, so that the job ends: \
             the largest deviation from the mean of the figures of each second, or their slope \
             (iops_slope:0.01%)",
            |d, g| {
                let rule = &mut d.steady;
                (rule.figure, rule.slope, rule.limit, rule.percent) = steady(g.text, g.base)?;
                Ok(())
            },
        )
        .alias(&["ss"]),
        option(
            "steadystate_duration",
            "a time, in s",
            "It ends when it has been steady for so long (0: that ends nothing)",
            |d, g| {
                let seconds = g.time(TimeUnit::Seconds)?.as_secs();
                d.steady.seconds = u32::try_from(seconds).ok().filter(|n| *n <= 86_400).ok_or(ChoiceError::MoreThanADay)?;
                Ok(())
            },
        )
        .alias(&["ss_dur"]),
        option(
            "steadystate_ramp_time",
            "a time, in s",
            "So long it is not looked whether it is steady (0)",
            |d, g| {
                d.steady.ramp = g.time(TimeUnit::Seconds)?;
                Ok(())
            },
        )
        .alias(&["ss_ramp"]),
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
