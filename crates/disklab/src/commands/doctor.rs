//! `disklab doctor`: what this machine can do, what is missing, how to get it.

mod lab;

use std::collections::BTreeSet;

use disklab_exec::{Interrupt, find_program};
use disklab_stack::{Machine, Need};
use serde_json::json;

use super::{print, print_json};
use crate::exit::{DONE, Failure};
use crate::setup::take_down_leftovers;

/// Programs that no layer names but that runs are better with.
const OTHER_PROGRAMS: &[(&str, &str)] =
    &[("fio", "fio"), ("hdparm", "hdparm"), ("smartctl", "smartmontools")];

/// Takes down leftovers, then says what there is.
pub fn doctor(as_json: bool) -> Result<u8, Failure> {
    let cleaned = take_down_leftovers(&Interrupt::new())?;
    let machine = Machine::here();
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
            (name_of(need), have, remedy(need))
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

fn remedy(need: &Need) -> String {
    match need {
        Need::Program { package, .. } => format!("apt-get install {package}"),
        Need::Root => "run it with sudo; --on dir:PATH needs no root".to_owned(),
        Need::Zfs => "install OpenZFS (Debian: zfs-dkms in contrib)".to_owned(),
        Need::Loop | Need::FileSystem(_) | Need::Md(_) | Need::DeviceMapper(_) => {
            "this kernel lacks it; stacks that need it are left out".to_owned()
        }
    }
}
