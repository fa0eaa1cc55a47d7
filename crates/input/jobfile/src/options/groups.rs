//! How many, for whom they wait, and with whom they are reported.

use super::spec::{Chapter, flag, option, switch};
use crate::job::ExitWhat;
use crate::lists::errors;

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
        switch(
            "exitall",
            "When any job ends, others are ended, as `exit_what` says; one section that has it is \
             enough",
            |d, g| {
                d.groups.exit_all = g.flag()?;
                Ok(())
            },
        ),
        option(
            "exit_what",
            "group, stonewall or all",
            "Which jobs end with this one: those of its group, all that run, or all of the file \
             (group)",
            |d, g| {
                d.groups.exit_what = g.word(&[
                    ("group", ExitWhat::Group),
                    ("stonewall", ExitWhat::Stonewall),
                    ("all", ExitWhat::All),
                ])?;
                Ok(())
            },
        ),
        switch(
            "exitall_on_error",
            "When it ends by an error, others are ended, as `exit_what` says",
            |d, g| {
                d.groups.exit_all_on_error = g.flag()?;
                Ok(())
            },
        ),
        option(
            "continue_on_error",
            "none, read, write, io, verify, all, 0 or 1",
            "Which errors are counted and do not end the job (none)",
            |d, g| {
                let which = |read, write, verify| (read, write, verify);
                let (read, write, verify) = g.word(&[
                    ("none", which(false, false, false)),
                    ("0", which(false, false, false)),
                    ("read", which(true, false, false)),
                    ("write", which(false, true, false)),
                    ("io", which(true, true, false)),
                    ("verify", which(false, false, true)),
                    ("all", which(true, true, true)),
                    ("1", which(true, true, true)),
                ])?;
                let on = &mut d.continue_on_error;
                (on.read, on.write, on.verify) = (read, write, verify);
                Ok(())
            },
        ),
        option(
            "ignore_error",
            "ERROR:ERROR…, by direction",
            "These errors of reads, of writes and of verification are counted and do not end the \
             job: names such as ENOSPC, or numbers (EIO:EILSEQ). Turns `continue_on_error` on",
            |d, g| {
                let [read, write, verify] = errors(g.text)?;
                let on = &mut d.continue_on_error;
                on.read |= read.is_some();
                on.write |= write.is_some();
                on.verify |= verify.is_some();
                on.read_errors = read.or(on.read_errors.take());
                on.write_errors = write.or(on.write_errors.take());
                Ok(())
            },
        )
        .differs("of verification, every error is one"),
        option(
            "threads",
            "a number",
            "No effect: an option of fio's profile `tiobench`",
            |_, _| Ok(()),
        ),
        flag("create_serialize", "No effect: files are laid out one after the other", |_, g| {
            g.flag()?;
            Ok(())
        }),
        flag("error_dump", "No effect: an error that ends a job is always reported", |_, g| {
            g.flag()?;
            Ok(())
        }),
    ],
};
