//! What is reported.

use super::spec::{Chapter, flag, option};
use crate::error::{ChoiceError, NameError};
use crate::value::real;

/// fio takes no more (FIO_IO_U_LIST_MAX_LEN in stat.h).
const MOST_PERCENTILES: usize = 20;

/// How logs differ.
const LOGS: &str = "only in `disklab fio`, which writes it when all is done, each line for the time \
                    of `log_avg_msec`, at least 7.8 ms (1 s after an hour), and one file for clones \
                    that are reported together; a study keeps the figures over time itself";
const WRITES_BANDWIDTH: &str =
    "Bandwidth over time goes to NAME_bw.N.log in the working directory (the job's name)";
const WRITES_IOPS: &str = "I/Os per second over time go to NAME_iops.N.log (the job's name)";
const WRITES_LATENCY: &str = "Mean total latencies over time go to NAME_lat.N.log (the job's name)";

/// The beginning of a log's name; empty for the job's name.
fn log_name(text: &str) -> Result<String, NameError> {
    match text {
        // The option stands alone.
        "1" => Ok(String::new()),
        text if text.ends_with('/') || text.contains('\\') => Err(NameError::Log),
        text => Ok(text.to_owned()),
    }
}

/// Words on all of these: samples keep the whole distribution.
const ONLY_JSON: &str = "only in the output in fio's format: samples keep whole histograms";

pub(super) const CHAPTER: Chapter = Chapter {
    title: "Reports",
    options: &[
        option(
            "percentile_list",
            "NUMBER:NUMBER…, at most 20",
            "Which percentiles are reported",
            |d, g| {
                let mut list = Vec::new();
                for part in g.text.split(':') {
                    match real(part)? {
                        n if (0.0..=100.0).contains(&n) => list.push(n),
                        _ => return Err(ChoiceError::Percentile.into()),
                    }
                }
                if list.len() > MOST_PERCENTILES {
                    let most = MOST_PERCENTILES;
                    return Err(ChoiceError::TooManyPercentiles { most }.into());
                }
                list.sort_unstable_by(f64::total_cmp);
                d.reporting.percentiles = list;
                Ok(())
            },
        )
        .differs(ONLY_JSON),
        flag("clat_percentiles", "Percentiles of completion latencies (1)", |d, g| {
            d.reporting.clat_percentiles = g.flag()?;
            Ok(())
        })
        .differs(ONLY_JSON),
        flag("lat_percentiles", "Percentiles of total latencies (0)", |d, g| {
            d.reporting.lat_percentiles = g.flag()?;
            Ok(())
        })
        .differs(ONLY_JSON),
        flag("slat_percentiles", "Percentiles of submission latencies (0)", |d, g| {
            d.reporting.slat_percentiles = g.flag()?;
            Ok(())
        })
        .differs(ONLY_JSON),
        flag("gtod_reduce", "All of `disable_…` below", |d, g| {
            d.gtod_reduce = g.flag()?;
            Ok(())
        })
        .differs("only the output in fio's format lacks them"),
        flag("disable_lat", "No total latencies (0)", |d, g| {
            d.reporting.lat = !g.flag()?;
            Ok(())
        })
        .differs("only the output in fio's format lacks them"),
        flag("disable_clat", "No completion latencies (0)", |d, g| {
            d.reporting.clat = !g.flag()?;
            Ok(())
        })
        .differs("only the output in fio's format lacks them"),
        flag("disable_slat", "No submission latencies (0)", |d, g| {
            d.reporting.slat = !g.flag()?;
            Ok(())
        })
        .differs("only the output in fio's format lacks them"),
        flag("disable_bw_measurement", "No bandwidth over time (0)", |d, g| {
            d.reporting.bw = !g.flag()?;
            Ok(())
        })
        .alias(&["disable_bw"])
        .differs("only the output in fio's format lacks them"),
        option(
            "clocksource",
            "gettimeofday, clock_gettime or cpu",
            "Which clock measures",
            |_, g| Ok(g.word(&[("gettimeofday", ()), ("clock_gettime", ()), ("cpu", ())])?),
        )
        .differs("no effect: always `clock_gettime` with `CLOCK_MONOTONIC`"),
        option(
            "bwavgtime",
            "milliseconds",
            "Over which time bandwidth is averaged for its extremes (500)",
            |d, g| {
                d.reporting.bw_window = g.milliseconds(1)?;
                Ok(())
            },
        ),
        option("iopsavgtime", "milliseconds", "The same for I/Os per second (500)", |d, g| {
            d.reporting.iops_window = g.milliseconds(1)?;
            Ok(())
        }),
        option(
            "log_avg_msec",
            "milliseconds",
            "The step of log files; 0 keeps each I/O (0)",
            |d, g| {
                d.reporting.log_step = Some(g.milliseconds(0)?).filter(|step| !step.is_zero());
                Ok(())
            },
        )
        .differs("no effect where no log is asked for"),
        option("write_bw_log", "the beginning of a name, or nothing", WRITES_BANDWIDTH, |d, g| {
            d.reporting.logs.bandwidth = Some(log_name(g.text)?);
            Ok(())
        })
        .bare()
        .differs(LOGS),
        option("write_iops_log", "the beginning of a name, or nothing", WRITES_IOPS, |d, g| {
            d.reporting.logs.operations = Some(log_name(g.text)?);
            Ok(())
        })
        .bare()
        .differs(LOGS),
        option("write_lat_log", "the beginning of a name, or nothing", WRITES_LATENCY, |d, g| {
            d.reporting.logs.latency = Some(log_name(g.text)?);
            Ok(())
        })
        .bare()
        .differs(LOGS),
        flag("per_job_logs", "Whether each job has log files of its own (1)", |d, g| {
            d.reporting.logs.together = !g.flag()?;
            Ok(())
        })
        .differs("only in `disklab fio`: a study keeps the figures over time itself"),
        flag("disk_util", "No effect: how busy the drive was is not in this output", |_, g| {
            g.flag()?;
            Ok(())
        }),
        option("significant_figures", "1 to 10", "How exact fio's own table is (4)", |d, g| {
            // At most 10.
            d.reporting.significant_figures = g.small(1, 10)? as u8;
            Ok(())
        })
        .differs("no effect: there is no such table"),
        option(
            "kb_base",
            "1024 or 1000",
            "How sizes in the job are read: 1024: `k`, `kB` are 1024 and `KiB` is 1000; 1000: \
             `k`, `kB` are 1000 and `KiB` is 1024 (1024)",
            |d, g| {
                d.reporting.kb_base = g.word(&[("1024", 1024), ("1000", 1000)])?;
                Ok(())
            },
        )
        .differs("with 1024, `KiB` is an error, since fio reads it as 1000"),
        option(
            "unit_base",
            "0, 8 or 1",
            "Whether bandwidth is shown in bytes or bits (0)",
            |d, g| {
                d.reporting.unit_base = g.word(&[("0", 0), ("8", 8), ("1", 1)])?;
                Ok(())
            },
        )
        .differs("no effect: there is no such table"),
    ],
};
