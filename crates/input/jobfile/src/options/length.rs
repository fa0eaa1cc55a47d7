//! How much, and how long.

use super::spec::{Chapter, Scaled, option, switch};
use crate::error::ChoiceError;
use crate::lists::steady;
use crate::value::{TimeUnit, time};

pub(super) const CHAPTER: Chapter = Chapter {
    title: "Amount and time",
    options: &[
        option(
            "size",
            "a size, or PERCENT%",
            "Bytes that the files of one clone have together, and which it reads or writes once; a \
             percentage is that of the files or devices that are there",
            |d, g| {
                d.size = g.some_amount()?;
                Ok(())
            },
        )
        .scaled(Scaled::Size)
        .differs("needed in a study, and in bytes, since its files are new"),
        option(
            "io_size",
            "a size, or PERCENT%",
            "Bytes that one clone reads and writes: fewer than `size`, or more, beginning again \
             at the start; a percentage is that of `size`",
            |d, g| {
                d.io_size = g.some_amount()?;
                Ok(())
            },
        )
        .alias(&["io_limit"])
        .scaled(Scaled::Size)
        .differs("no percentages in a study"),
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
        option("loops", "from 0", "Everything so many times; 0 is once (1)", |d, g| {
            d.loops = g.from(0)?.max(1);
            Ok(())
        }),
        option("runtime", "a time, in s", "It ends at the latest after so long", |d, g| {
            d.timing.runtime = Some(g.time(TimeUnit::Seconds)?).filter(|t| !t.is_zero());
            Ok(())
        })
        .alias(&["timeout"]),
        switch(
            "time_based",
            "Runs until `runtime`, if that is given, starting again when all is done",
            |d, g| {
                d.timing.time_based = g.flag()?;
                Ok(())
            },
        ),
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
                d.steady.seconds = u32::try_from(seconds)
                    .ok()
                    .filter(|n| *n <= 86_400)
                    .ok_or(ChoiceError::MoreThanADay)?;
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
