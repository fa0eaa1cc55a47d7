//! `disklab doctor`: what this machine can do, what is missing, how to get it.

mod lab;

use std::collections::BTreeSet;

use disklab_exec::{Interrupt, find_program};
use disklab_lab::kernel::ZFS_CONFIGURATION;
use disklab_stack::{Machine, Need};
use serde_json::json;

use super::{print, print_json};
use crate::exit::{DONE, Failure};
use crate::setup::take_down_leftovers;

/// Programs that no layer names but that runs are better with.
const OTHER_PROGRAMS: &[(&str, &str)] =
    &[("fio", "fio"), ("hdparm", "hdparm"), ("smartctl", "smartmontools")];

/// Programs that come with the lab's kernel with ZFS.
const ZFS_PROGRAMS: &[&str] = &["zpool", "zfs"];
/// How to have ZFS outside of the lab.
const ZFS_PACKAGES: &str = "install OpenZFS (Debian: zfs-dkms and zfsutils-linux in contrib)";

/// Takes down leftovers, then says what there is.
pub fn doctor(as_json: bool) -> Result<u8, Failure> {
    let cleaned = take_down_leftovers(&Interrupt::new())?;
    let machine = Machine::here();
    // What the guests' kernels have: with ZFS, which the lab builds when it is needed.
    let lab = Machine::configured(ZFS_CONFIGURATION, ZFS_PROGRAMS);
    let mut needs: BTreeSet<Need> = disklab_stack::known_needs().into_iter().collect();
    needs.extend([Need::Root, Need::Loop]);
    for (name, package) in OTHER_PROGRAMS {
        needs.insert(Need::Program { name, package });
    }
    let (lab_rows, lab_packages) = lab::lab();
    let rows: Vec<(String, bool, String)> = needs
        .iter()
        .map(|need| {
            let have = match need {
                Need::Program { name, .. } => find_program(name).is_some(),
                other => machine.has(other),
            };
            (name_of(need), have, remedy(need, lab.has(need)))
        })
        .chain(lab_rows)
        .collect();
    if as_json {
        let rows: Vec<_> = rows
            .iter()
            .map(|(name, have, remedy)| json!({ "name": name, "here": have, "remedy": remedy }))
            .collect();
        print_json(&json!({ "taken_down": cleaned, "needs": rows }))?;
        return Ok(DONE);
    }
    let mut text = String::new();
    for line in &cleaned {
        text.push_str(&format!("left by a killed run: {line}\n"));
    }
    let width = rows.iter().map(|(name, ..)| name.chars().count()).max().unwrap_or(0);
    for (name, have, remedy) in &rows {
        let end = if *have { "here".to_owned() } else { format!("missing: {remedy}") };
        text.push_str(&format!("{name:width$}  {end}\n"));
    }
    let packages: BTreeSet<&str> = needs
        .iter()
        .filter_map(|need| match need {
            Need::Program { name, .. } if ZFS_PROGRAMS.contains(name) => None,
            Need::Program { name, package } if find_program(name).is_none() => Some(*package),
            _ => None,
        })
        .chain(lab_packages)
        .collect();
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

fn name_of(need: &Need) -> String {
    match need {
        Need::Program { name, .. } => (*name).to_owned(),
        other => other.to_string(),
    }
}

/// What to do about a need that this machine does not meet; the lab may.
fn remedy(need: &Need, lab_has_it: bool) -> String {
    match need {
        Need::Program { name, .. } if ZFS_PROGRAMS.contains(name) => {
            format!("the lab has its own; elsewhere: {ZFS_PACKAGES}")
        }
        Need::Program { package, .. } => format!("apt-get install {package}"),
        Need::Root => "the lab needs no root, nor does --on dir:PATH; else run it with sudo".into(),
        Need::Zfs => format!("the lab has it; elsewhere: {ZFS_PACKAGES}"),
        Need::Loop | Need::FileSystem(_) | Need::Md(_) | Need::DeviceMapper(_) => {
            let elsewhere = "stacks that need it are left out";
            if lab_has_it {
                format!("this kernel lacks it, the lab's has it; elsewhere {elsewhere}")
            } else {
                format!("this kernel lacks it; {elsewhere}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_lab_has_is_said_to_be_there() {
        let lab = Machine::configured(ZFS_CONFIGURATION, ZFS_PROGRAMS);
        let mut kinds = 0;
        for need in disklab_stack::known_needs() {
            let text = remedy(&need, lab.has(&need));
            match need {
                Need::FileSystem(_) | Need::Md(_) | Need::DeviceMapper(_) | Need::Zfs => {
                    assert!(text.contains("the lab"), "{need}: {text}");
                    kinds += 1;
                }
                Need::Program { name, .. } => {
                    assert_eq!(
                        text.contains("the lab has its own"),
                        name.starts_with('z'),
                        "{name}"
                    );
                }
                Need::Root | Need::Loop => {}
            }
        }
        assert!(kinds > 10, "{kinds}");
        assert!(!remedy(&Need::FileSystem("hfs"), false).contains("the lab"));
    }
}
