//! How fast.

use std::time::Duration;

use super::spec::{Chapter, flag, option};
use crate::error::{NumberError, ValueError};
use crate::given::{Directions, OptionValue, set};
use crate::job::{RateProcess, ThinkBlocks};
use crate::value::{TimeUnit, count};

pub(super) const CHAPTER: Chapter = Chapter {
    title: "Rate and pauses",
    options: &[
        option("rate", "bytes per second, by direction", "A clone is at most so fast", |d, g| {
            set(&mut d.pace.rate, rates(g)?);
            Ok(())
        }),
        option(
            "rate_iops",
            "I/Os per second, by direction",
            "A clone is at most so fast",
            |d, g| {
                set(&mut d.pace.rate_iops, rates(g)?);
                Ok(())
            },
        ),
        option(
            "rate_min",
            "bytes per second, by direction",
            "The job ends with an error where it is slower, but for its first 2 seconds",
            |d, g| {
                set(&mut d.pace.rate_min, rates(g)?);
                Ok(())
            },
        )
        .alias(&["ratemin"]),
        option(
            "rate_iops_min",
            "I/Os per second, by direction",
            "The job ends with an error where it is slower, but for its first 2 seconds",
            |d, g| {
                set(&mut d.pace.rate_iops_min, rates(g)?);
                Ok(())
            },
        ),
        option(
            "rate_cycle",
            "milliseconds",
            "Over which time `rate_min` and `rate_iops_min` are judged (1000)",
            |d, g| {
                d.pace.cycle = g.milliseconds(1)?;
                Ok(())
            },
        )
        .alias(&["ratecycle"]),
        option(
            "rate_process",
            "linear or poisson",
            "When I/Os of a limited rate begin: evenly, or as those of many users who do not \
             know of each other (linear)",
            |d, g| {
                d.pace.process =
                    g.word(&[("linear", RateProcess::Linear), ("poisson", RateProcess::Poisson)])?;
                Ok(())
            },
        ),
        flag(
            "rate_ignore_thinktime",
            "What a limited rate missed while thinking is caught up (0)",
            |d, g| {
                d.pace.ignore_thinktime = g.flag()?;
                Ok(())
            },
        ),
        option("thinktime", "a time, in µs", "A pause after each I/O (0)", |d, g| {
            d.think_time = g.time(TimeUnit::Microseconds)?;
            Ok(())
        }),
        option(
            "thinktime_spin",
            "a time, in µs",
            "So much of the pause is spent computing (0)",
            |d, g| {
                d.think_spin = g.time(TimeUnit::Microseconds)?;
                Ok(())
            },
        ),
        option("thinktime_blocks", "from 0", "A pause after so many I/Os; 0 is 1 (1)", |d, g| {
            d.think_blocks = g.from(0)?.max(1);
            Ok(())
        }),
        option(
            "thinktime_blocks_type",
            "complete or issue",
            "Whether I/Os are counted when they end or when they begin (complete)",
            |d, g| {
                d.think_counted =
                    g.word(&[("complete", ThinkBlocks::Complete), ("issue", ThinkBlocks::Issue)])?;
                Ok(())
            },
        ),
        option(
            "thinktime_iotime",
            "a time, in s",
            "A pause after so long a time of I/O, too",
            |d, g| {
                d.think_io_time = g.time(TimeUnit::Seconds)?;
                Ok(())
            },
        ),
        option(
            "flow",
            "from 0",
            "Of jobs with the same `flow_id` each has a share of all I/Os, by this weight; those \
             ahead of theirs wait (0: it takes no part)",
            |d, g| {
                d.flow.weight = g.small(0, 1000)?;
                Ok(())
            },
        )
        .differs("shares are those of the jobs that run"),
        option("flow_id", "from 0", "Which jobs share (0)", |d, g| {
            d.flow.id = g.small(0, u32::MAX)?;
            Ok(())
        }),
        option(
            "flow_sleep",
            "microseconds",
            "How long a job ahead of its share sleeps (0)",
            |d, g| {
                d.flow.sleep = Duration::from_micros(g.count(0, 86_400_000_000)?);
                Ok(())
            },
        ),
    ],
};

/// Rates by direction; 0 means none.
fn rates(g: &OptionValue<'_>) -> Result<Directions<Option<u64>>, ValueError> {
    g.directions(|text| {
        let rate = count(text, 0, crate::value::LARGEST, g.base)?;
        Ok::<_, NumberError>(Some(rate).filter(|rate| *rate > 0))
    })
}
