//! As what clones run.

use super::spec::{Chapter, option};
use crate::error::NumberError;
use crate::job::{CpuPolicy, IoClass};
use crate::lists::{memory_policy, nodes, processors};
use crate::value::shown;

pub(super) const CHAPTER: Chapter = Chapter {
    title: "Priority and processors",
    options: &[
        option("nice", "-20 to 19", "The nice value; see nice(2) (0)", |d, g| {
            d.process.nice = match g.text.parse::<i8>() {
                Ok(nice) if (-20..=19).contains(&nice) => nice,
                _ => {
                    let found = shown(g.text);
                    return Err(NumberError::Integer { least: -20, most: 19, found }.into());
                }
            };
            Ok(())
        }),
        option("prio", "0 to 7", "The I/O priority, 0 is the highest; see ionice(1)", |d, g| {
            // At most 7.
            d.io_level = Some(g.small(0, 7)? as u8);
            Ok(())
        }),
        option(
            "prioclass",
            "0 to 3",
            "Its class: 0 none, 1 real time, 2 best effort, 3 idle; see ionice(1)",
            |d, g| {
                d.io_class = Some(g.word(&[
                    ("0", IoClass::None),
                    ("1", IoClass::Realtime),
                    ("2", IoClass::BestEffort),
                    ("3", IoClass::Idle),
                ])?);
                Ok(())
            },
        ),
        option(
            "cpus_allowed",
            "such as 0-1,3",
            "The processors on which it may run (all)",
            |d, g| {
                d.process.cpus = Some(processors(g.text)?);
                Ok(())
            },
        ),
        option("cpumask", "an integer", "The same as bits, the lowest is processor 0", |d, g| {
            let mask = g.from(1)?;
            d.process.cpus = Some((0..63).filter(|cpu| mask >> cpu & 1 == 1).collect());
            Ok(())
        })
        .differs("no negative numbers; 0, which allows none, is an error"),
        option(
            "cpus_allowed_policy",
            "shared or split",
            "Whether all clones run on all of them, or each on one of its own (shared)",
            |d, g| {
                d.process.cpu_policy =
                    g.word(&[("shared", CpuPolicy::Shared), ("split", CpuPolicy::Split)])?;
                Ok(())
            },
        ),
        option(
            "numa_cpu_nodes",
            "such as 0-1",
            "It runs on the processors of these NUMA nodes (all)",
            |d, g| {
                d.process.numa_nodes = Some(nodes(g.text)?);
                Ok(())
            },
        )
        .differs("where there is no such node, it runs anywhere and the result says so"),
        option(
            "numa_mem_policy",
            "default, local, prefer:NODE, bind:NODES or interleave[:NODES]",
            "On which NUMA nodes its memory lies; see set_mempolicy(2)",
            |d, g| {
                d.process.memory_policy = Some(memory_policy(g.text)?);
                Ok(())
            },
        )
        .differs("where there is no such node, memory lies anywhere and the result says so"),
    ],
};
