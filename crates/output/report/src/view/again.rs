//! How to make a run's samples again.

use disklab_store::{RunInfo, Session};
use disklab_study::{RebuildRequest, Study, StudyGoal, selects};

use crate::Report;

/// The command that makes this run's samples again, as one would type it: with the seed that
/// was drawn and the settings that were found, also those of a merged run, whose parts each
/// ran a part of the cells. The same command that read an imported run.
pub(crate) fn command_line(report: &Report) -> String {
    command(&report.info, &report.sessions)
}

/// The command that runs the same cells until the stack to take is known for each purpose; none
/// where the run was such a campaign, and had all the time that it wanted. Of the cells only
/// those that `only` matches, where the run was of all; cells that this leaves out anyway need no
/// `--without`.
pub(crate) fn settle_command(report: &Report, only: Vec<String>) -> Option<String> {
    let mut info = report.info.clone();
    if info.options.only.is_empty() && !only.is_empty() {
        info.options.without.retain(|pattern| overlaps(&report.study, pattern, &only));
    }
    settle(&info, &report.sessions, only)
}

/// Whether a cell of the study is of `pattern` and of one of the others.
fn overlaps(study: &Study, pattern: &str, others: &[String]) -> bool {
    study.stacks.iter().any(|stack| {
        study.workloads.iter().any(|workload| {
            let is_of = |pattern: &str| selects(pattern, &stack.id, &workload.id);
            is_of(pattern) && others.iter().any(|other| is_of(other))
        })
    })
}

fn settle(info: &RunInfo, sessions: &[Session], only: Vec<String>) -> Option<String> {
    if info.options.goal.is_some() && info.options.budget.is_none() {
        return None;
    }
    let mut info = info.clone();
    info.options.goal.get_or_insert(StudyGoal::Purposes);
    (info.options.budget, info.options.precision) = (None, None);
    if info.options.only.is_empty() {
        info.options.only = only;
    }
    Some(shell_words::join(words(&info, sessions, None)))
}

/// The study as it is named on the command line.
pub(crate) fn study_word(report: &Report) -> &str {
    study(&report.info, &report.sessions)
}

/// What the command needs besides: the program and, in the lab, the kernel.
pub(crate) fn prerequisites(info: &RunInfo) -> String {
    let kernel = info.environment.lab_kernel.as_ref();
    let kernel = kernel.map(|kernel| format!(" and the lab's kernel {kernel}"));
    format!("disklab {}{}", info.disklab, kernel.unwrap_or_default())
}

fn command(info: &RunInfo, sessions: &[Session]) -> String {
    if info.is_import()
        && let Some(session) = sessions.first()
    {
        return shell_words::join(&session.command);
    }
    shell_words::join(words(info, sessions, Some(info.seed)))
}

/// The words of a command that does what a run did.
fn words(info: &RunInfo, sessions: &[Session], seed: Option<u64>) -> Vec<String> {
    let command = match (&info.options.rebuild, &info.options.scrub) {
        (Some(_), _) => "rebuild",
        (None, Some(_)) => "scrub",
        (None, None) => "run",
    };
    let mut words = ["disklab", command, study(info, sessions)].map(str::to_owned).to_vec();
    if info.is_quick() {
        words.push("--quick".to_owned());
    }
    let mut option = |name: &str, value: String| words.extend([format!("--{name}"), value]);
    if !info.is_lab() {
        option("on", info.bench.to_string());
    }
    if let Some(seed) = seed {
        option("seed", seed.to_string());
    }
    if !info.options.is_adaptive() {
        option("repeats", info.repeats.to_string());
    }
    if info.scale != 1.0 {
        option("scale", info.scale.to_string());
    }
    let options = &info.options;
    for (name, value) in options.listed() {
        let mut each = |all: &[String]| all.iter().for_each(|one| option(&name, one.clone()));
        match name.as_str() {
            // They follow from the study, the goal and the division, or are there already.
            "looks" | "most-repeats" | "part" | "quick" => {}
            // In the lab, where files lie decides nothing.
            "scratch" if info.is_lab() => {}
            "rebuild" => {
                let RebuildRequest { fail, load, .. } = options.rebuild.clone().unwrap_or_default();
                fail.into_iter().for_each(|drive| option("fail", drive.to_string()));
                load.into_iter().for_each(|load| option("load", load));
            }
            "scrub" => {
                let load = options.scrub.clone().and_then(|request| request.load);
                load.into_iter().for_each(|load| option("load", load));
            }
            "axis" => options.axis.iter().for_each(|axis| option(&name, axis.to_string())),
            "only" => each(&options.only),
            "without" => each(&options.without),
            "fault" => each(&options.fault),
            "set-drive" => each(&options.set_drive),
            _ => option(&name, value),
        }
    }
    if options.rebuild.as_ref().is_some_and(|request| request.hot_spare) {
        words.push("--hot-spare".to_owned());
    }
    words
}

/// The study as it is named on the command line: a shipped one by its id, which lies in no
/// file of this machine.
fn study<'a>(info: &'a RunInfo, sessions: &[Session]) -> &'a str {
    let is_typed = sessions.iter().any(|session| session.command.contains(&info.study_file));
    if !is_typed && info.study_file == format!("studies/{}.toml", info.study) {
        return &info.study;
    }
    &info.study_file
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use disklab_sample::{Environment, LabKernelIdentity};
    use jiff::Timestamp;

    use super::*;

    fn info(bench: &str, options: &[(&str, &str)]) -> RunInfo {
        let options = options.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        let options = options.collect::<BTreeMap<_, _>>();
        RunInfo {
            disklab: "0.1.0".to_owned(),
            study: "nas".to_owned(),
            title: "NAS".to_owned(),
            study_file: "studies/nas.toml".to_owned(),
            study_text: String::new(),
            bench: bench.parse().expect(bench),
            bench_about: String::new(),
            options: serde_json::from_value(serde_json::to_value(options).expect("texts"))
                .expect("settings"),
            scale: 1.0 / 64.0,
            repeats: 3,
            seed: 8_765_432_109_876_543,
            created: Timestamp::UNIX_EPOCH,
            stacks: Vec::new(),
            left_out: Vec::new(),
            reference: None,
            machines: Default::default(),
            environment: Environment::default(),
        }
    }

    fn session(command: &[&str]) -> Session {
        Session {
            began: Timestamp::UNIX_EPOCH,
            command: command.iter().map(|word| (*word).to_owned()).collect(),
            disklab: "0.1.0".to_owned(),
            kernel: String::new(),
        }
    }

    #[test]
    fn command_has_what_was_drawn_and_what_was_set() {
        let options = [
            ("kernel", "/k/linux"),
            ("memory", "1GiB"),
            ("only", "a/*:* b:dd"),
            ("scratch", "/tmp/x"),
            ("set-drive", "'m:a.b=32 MiB' m:c.d=1"),
        ];
        // Nothing of it was typed but for the study.
        let typed = session(&["disklab", "run", "nas"]);
        assert_eq!(
            command(&info("lab", &options), &[typed]),
            "disklab run nas --seed 8765432109876543 --repeats 3 --scale 0.015625 \
             --kernel /k/linux --memory 1g --only 'a/*:*' --only b:dd \
             --set-drive 'm:a.b=32 MiB' --set-drive 'm:c.d=1'"
        );
    }

    #[test]
    fn command_of_a_quick_run_asks_for_the_quick_form() {
        let mut info = info(
            "lab",
            &[("goal", "purposes"), ("looks", "5"), ("most-repeats", "8"), ("quick", "yes")],
        );
        info.scale = 1.0;
        let command = command(&info, &[session(&["disklab", "run", "nas"])]);
        assert_eq!(command, "disklab run nas --quick --seed 8765432109876543 --goal purposes");
    }

    #[test]
    fn command_of_another_bench_and_of_a_goal() {
        let options = [("goal", "best"), ("looks", "12"), ("scratch", "/tmp/x")];
        let mut info = info("loop", &options);
        info.scale = 1.0;
        let typed = session(&["disklab", "run", "studies/nas.toml"]);
        assert_eq!(
            command(&info, &[typed]),
            "disklab run studies/nas.toml --on loop --seed 8765432109876543 --goal best \
             --scratch /tmp/x"
        );
    }

    #[test]
    fn inconclusive_results_are_settled_with_the_same_cells() {
        let typed = [session(&["disklab", "run", "nas"])];
        let some = || vec!["b".to_owned()];
        let settled = |options: &[(&str, &str)]| settle(&info("lab", options), &typed, some());
        assert_eq!(
            settled(&[("only", "a/*:*"), ("quick", "yes")]).as_deref(),
            Some("disklab run nas --quick --scale 0.015625 --goal purposes --only 'a/*:*'")
        );
        assert_eq!(settled(&[("goal", "best"), ("looks", "12")]), None, "it had all its blocks");
        let had_no_time = settled(&[("goal", "rank"), ("looks", "12"), ("budget", "60 s")]);
        assert_eq!(
            had_no_time.as_deref(),
            Some("disklab run nas --scale 0.015625 --goal rank --only b")
        );
    }

    #[test]
    fn redundant_exclusions_are_omitted() {
        let text = include_str!("../../../../../studies/nas.toml");
        let study = disklab_study::load("studies/nas.toml", text).expect("the study");
        let only = ["sqlite".to_owned(), "raid5/xfs:vm-image".to_owned()];
        let needed = |pattern| overlaps(&study, pattern, &only);
        assert!(needed("zfs-*") && needed("raid1/ext4:*") && needed("raid5/*:vm-*"));
        assert!(!needed("*:safe-write-4K") && !needed("postgresql") && !needed("raid6/*:vm-image"));
    }

    #[test]
    fn imported_run_is_read_again() {
        let read = session(&["disklab", "import", "a.json", "--to", "x y"]);
        assert_eq!(command(&info("import", &[]), &[read]), "disklab import a.json --to 'x y'");
    }

    #[test]
    fn lab_kernel_is_a_prerequisite() {
        let mut info = info("lab", &[]);
        assert_eq!(prerequisites(&info), "disklab 0.1.0");
        info.environment.lab_kernel = Some(LabKernelIdentity {
            digest: "0123456789abcdef0123".to_owned(),
            configuration: Some("77".to_owned()),
            recipe: None,
        });
        assert_eq!(
            prerequisites(&info),
            "disklab 0.1.0 and the lab's kernel SHA-256 0123456789abcdef, .config 77, not built \
             by disklab"
        );
    }
}
