//! The settings of the machine that a guest stands for.

use std::fs;
use std::path::Path;

use disklab_cell::LabPlan;
use disklab_lab_guest::{DiskTransport, limit_dirty_pages};
use disklab_study::{MACHINES, MachineProfile, MachineSetting};

/// The shares of memory that become bytes in a guest ([`limit_dirty_pages`]).
const DIRTY: MachineSetting = MachineSetting::Sysctl("vm.dirty_ratio");
const DIRTY_BACKGROUND: MachineSetting = MachineSetting::Sysctl("vm.dirty_background_ratio");

/// The machine that a plan names; the standard one if this version does not know it.
pub(super) fn profile_of(plan: &LabPlan) -> &'static MachineProfile {
    let named = MACHINES.iter().find(|machine| machine.name == plan.machine);
    named.unwrap_or(MachineProfile::standard())
}

/// What a plan's guest sees its drives as.
pub(super) fn transport_of(plan: &LabPlan) -> DiskTransport {
    match plan.scsi_timeout {
        Some(_) => DiskTransport::Scsi,
        None => DiskTransport::Block,
    }
}

/// Sets this guest up as the machine is. What its kernel does not have is left out: it has only the
/// parts that the study needs.
pub(super) fn set_up(machine: &MachineProfile, transport: DiskTransport) {
    let percent = |wanted: MachineSetting| {
        let found = machine.settings().find(|(setting, _)| *setting == wanted);
        found.and_then(|(_, value)| value.parse().ok())
    };
    if let (Some(throttle), Some(background)) = (percent(DIRTY), percent(DIRTY_BACKGROUND)) {
        limit_dirty_pages(throttle, background);
    }
    for (setting, value) in machine.settings() {
        match setting {
            DIRTY | DIRTY_BACKGROUND => {}
            MachineSetting::Sysctl(name) => {
                let _ = fs::write(format!("/proc/sys/{}", name.replace('.', "/")), value);
            }
            MachineSetting::Sysfs(path) => {
                let _ = fs::write(path, value);
            }
            MachineSetting::Queue(file) => {
                let queues = (0..).map(|index| transport.disk_name(index));
                let queues = queues.map(|name| format!("/sys/block/{name}/queue"));
                for queue in queues.take_while(|queue| Path::new(queue).exists()) {
                    let _ = fs::write(format!("{queue}/{file}"), value);
                }
            }
        }
    }
}

/// What a record says of it: its name, and what was set.
pub(super) fn described(machine: &MachineProfile) -> String {
    let settings = machine.settings().map(|(setting, value)| match setting {
        MachineSetting::Sysctl(name) | MachineSetting::Sysfs(name) => format!("{name} {value}"),
        MachineSetting::Queue(file) => format!("queue/{file} {value}"),
    });
    format!("{}: {}", machine.name, settings.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_the_name_and_every_setting() {
        let text = described(MachineProfile::standard());
        assert!(text.starts_with("debian-13: vm.dirty_ratio 20, "), "{text}");
        for words in ["queue/read_ahead_kb 128", "/sys/kernel/mm/lru_gen/enabled 7"] {
            assert!(text.contains(words), "{text}");
        }
    }
}
