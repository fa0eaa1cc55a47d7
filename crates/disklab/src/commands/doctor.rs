//! `disklab doctor`: what this machine can do, what is missing, how to get it.

mod lab;
mod sections;

use std::collections::BTreeSet;

use disklab_exec::{Interrupt, find_program};
use disklab_lab_kernel::zfs_configuration;
use disklab_runner::{decide_leftover, leftover_lines, state_directory, tear_down_leftovers};
use disklab_stack::{LeftoverDecision, Machine, Need, Recovery};
use serde_json::{Value, json};

use self::sections::{DoctorRow, DoctorSection};
use crate::cli::DoctorArgs;
use crate::exit::{DONE, Failure};
use crate::printing::{print, print_json};

/// Programs that no layer names but that runs are better with.
const OTHER_PROGRAMS: &[(&str, &str)] =
    &[("fio", "fio"), ("hdparm", "hdparm"), ("smartctl", "smartmontools")];

/// Programs that come with the lab's kernel with ZFS.
const ZFS_PROGRAMS: &[&str] = &["zpool", "zfs"];
/// How to have ZFS outside of the lab.
const ZFS_PACKAGES: &str = "install OpenZFS (Debian: zfs-dkms and zfsutils-linux in contrib)";

/// Tears down leftovers, then says what there is.
pub fn doctor(args: &DoctorArgs, as_json: bool) -> Result<u8, Failure> {
    let state = state_directory();
    let decided = match (&args.discard, &args.keep) {
        (Some(id), _) => Some(decide_leftover(&state, id, LeftoverDecision::Discard)?),
        (None, Some(id)) => Some(decide_leftover(&state, id, LeftoverDecision::Keep)?),
        (None, None) => None,
    };
    if let Some(recovery) = decided {
        if as_json {
            print_json(&leftovers(&recovery))?;
        } else {
            print(&leftovers_text(&recovery))?;
        }
        return Ok(DONE);
    }
    let recovery = tear_down_leftovers(&state, &Interrupt::new())?;
    let (lab_rows, lab_packages) = lab::lab();
    let needs = needs();
    let sections = [
        DoctorSection::new("The lab (the default bench; needs no root)", lab_rows),
        DoctorSection::new(
            "Programs, for the stacks and workloads that use them",
            programs(&needs),
        ),
        DoctorSection::new(
            "This machine's own kernel, for --on loop and --on disks:…; the lab has its own",
            kernel(&needs),
        ),
    ];
    if as_json {
        let mut answer = leftovers(&recovery);
        answer["needs"] = sections.iter().flat_map(DoctorSection::json).collect::<Vec<_>>().into();
        print_json(&answer)?;
        return Ok(DONE);
    }
    let mut text = leftovers_text(&recovery);
    let shown: Vec<String> = sections.iter().map(DoctorSection::to_string).collect();
    text.push_str(&shown.join("\n"));
    let mut packages = missing_packages(&needs);
    packages.extend(lab_packages);
    if !packages.is_empty() {
        let list: Vec<&str> = packages.into_iter().collect();
        text.push_str(&format!(
            "\nOn Debian, all missing programs at once: apt-get install {}\n",
            list.join(" ")
        ));
    }
    print(&text)?;
    Ok(DONE)
}

fn leftovers_text(recovery: &Recovery) -> String {
    leftover_lines(recovery).iter().map(|line| format!("{line}\n")).collect()
}

/// Debian's packages of the programs that are missing. OpenZFS is in none that is enough.
fn missing_packages(needs: &BTreeSet<Need>) -> BTreeSet<&'static str> {
    let package = |need: &Need| match need {
        Need::Program { name, package }
            if !ZFS_PROGRAMS.contains(name) && find_program(name).is_none() =>
        {
            Some(*package)
        }
        _ => None,
    };
    needs.iter().filter_map(package).collect()
}

/// What was done about what killed runs left.
fn leftovers(recovery: &Recovery) -> Value {
    let left = recovery.left.iter().map(|left| {
        let found: Vec<_> = left.obstacles.iter().map(ToString::to_string).collect();
        json!({ "id": left.id.to_string(), "things": left.things, "found": found })
    });
    json!({
        "taken_down": recovery.done,
        "left": left.collect::<Vec<_>>(),
        "notes": recovery.notes,
    })
}

fn needs() -> BTreeSet<Need> {
    let mut needs: BTreeSet<Need> = disklab_stack::known_needs().into_iter().collect();
    needs.extend([Need::Root, Need::Loop]);
    for (name, package) in OTHER_PROGRAMS {
        needs.insert(Need::Program { name, package });
    }
    needs
}

fn programs(needs: &BTreeSet<Need>) -> Vec<DoctorRow> {
    let row = |need: &Need| match need {
        Need::Program { name, package } => {
            let remedy = if ZFS_PROGRAMS.contains(name) {
                format!("the lab has its own; elsewhere: {ZFS_PACKAGES}")
            } else {
                format!("apt-get install {package}")
            };
            Some(DoctorRow::new(*name, find_program(name).is_some(), remedy))
        }
        _ => None,
    };
    needs.iter().filter_map(row).collect()
}

fn kernel(needs: &BTreeSet<Need>) -> Vec<DoctorRow> {
    let machine = Machine::here();
    // What the guests' kernels have: with ZFS, which the lab builds when it is needed.
    let lab = Machine::configured(&zfs_configuration(), ZFS_PROGRAMS);
    needs
        .iter()
        .filter(|need| need.package().is_none())
        .map(|need| {
            DoctorRow::new(need.to_string(), machine.has(need), remedy(need, lab.has(need)))
        })
        .collect()
}

/// What to do if this kernel does not have it; the lab may.
fn remedy(need: &Need, lab_has_it: bool) -> String {
    match need {
        Need::Root => "run it with sudo; the lab and --on dir:PATH need no root".into(),
        Need::Zfs => format!("the lab has it; elsewhere: {ZFS_PACKAGES}"),
        _ if lab_has_it => "stacks that need it are skipped; the lab has it".to_owned(),
        _ => "stacks that need it are skipped".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remedy_says_what_the_lab_has() {
        let lab = Machine::configured(&zfs_configuration(), ZFS_PROGRAMS);
        let kernel: Vec<Need> =
            needs().into_iter().filter(|need| need.package().is_none()).collect();
        assert!(kernel.len() > 10, "{kernel:?}");
        for need in kernel {
            let text = remedy(&need, lab.has(&need));
            assert!(text.contains("the lab") || need == Need::Loop, "{need}: {text}");
        }
        assert!(!remedy(&Need::FileSystem("hfs"), false).contains("the lab"));
    }

    #[test]
    fn programs_name_their_packages() {
        for row in programs(&needs()) {
            let own = ZFS_PROGRAMS.contains(&row.name.as_str());
            assert_eq!(row.remedy.contains("the lab has its own"), own, "{row:?}");
            assert!(own || row.remedy.starts_with("apt-get install "), "{row:?}");
        }
    }
}
