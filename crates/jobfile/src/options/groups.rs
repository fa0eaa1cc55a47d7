//! How many, for whom they wait, and with whom they are reported.

use super::{Chapter, option, switch};
use crate::job::ContinueOn;

/// fio takes no more on any machine that it knows (REAL_MAX_JOBS in fio.h).
const MOST_CLONES: u32 = 4096;

pub(super) const CHAPTER: Chapter = Chapter {
    title: "Clones and groups",
    options: &[
        option("numjobs", "1 to 4096", "How many clones do the same at once (1)", |d, g| {
            d.process.clones = g.small(1, MOST_CLONES)?;
            Ok(())
        }),
        switch("thread", "Clones are threads, not processes", |d, g| {
            d.process.threads = g.flag()?;
            Ok(())
        })
        .differs("always threads"),
        switch("group_reporting", "The clones of a group are reported as one", |d, g| {
            d.groups.group_reporting = g.flag()?;
            Ok(())
        }),
        switch("new_group", "Begins a new group of reports", |d, g| {
            d.groups.new_group = g.flag()?;
            Ok(())
        }),
        switch(
            "stonewall",
            "It starts when all jobs before it have ended, and begins a new group",
            |d, g| {
                d.groups.stonewall = g.flag()?;
                Ok(())
            },
        )
        .alias(&["wait_for_previous"]),
        option(
            "wait_for",
            "a job's name",
            "It starts when that job, which stands before it, has ended",
            |d, g| {
                d.wait_for = Some(g.text.to_owned());
                Ok(())
            },
        ),
        switch("exitall", "When it ends, the other jobs of its group are ended", |d, g| {
            d.groups.exit_all = g.flag()?;
            Ok(())
        })
        .differs("ends all jobs, those of later groups too"),
        switch("exitall_on_error", "When it ends by an error, all other jobs are ended", |d, g| {
            d.groups.exit_all_on_error = g.flag()?;
            Ok(())
        }),
        option(
            "continue_on_error",
            "none, read, write, io, verify, all, 0 or 1",
            "Which errors are counted and do not end the job (none)",
            |d, g| {
                let which = |read, write, verify| ContinueOn { read, write, verify };
                d.continue_on_error = g.word(&[
                    ("none", which(false, false, false)),
                    ("0", which(false, false, false)),
                    ("read", which(true, false, false)),
                    ("write", which(false, true, false)),
                    ("io", which(true, true, false)),
                    ("verify", which(false, false, true)),
                    ("all", which(true, true, true)),
                    ("1", which(true, true, true)),
                ])?;
                Ok(())
            },
        ),
    ],
};
