//! What user space sets on a machine: a file of `machines/` for each, which a study names by
//! `lab.machine`. The lab's guest sets the same.

/// A machine whose settings the lab's guest has.
#[derive(Debug, PartialEq, Eq)]
pub struct MachineProfile {
    /// Its name in a study.
    pub name: &'static str,
    text: &'static str,
}

/// Where a setting is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MachineSetting {
    /// A sysctl, such as `vm.swappiness`.
    Sysctl(&'static str),
    /// A file of each disk's `queue` in sysfs, such as `read_ahead_kb`.
    Queue(&'static str),
    /// A file of sysfs, by its path.
    Sysfs(&'static str),
}

/// All of them, the default first.
pub static MACHINES: [MachineProfile; 3] = [
    MachineProfile { name: "debian-13", text: include_str!("../../../../machines/debian-13.conf") },
    MachineProfile { name: "debian-12", text: include_str!("../../../../machines/debian-12.conf") },
    MachineProfile {
        name: "openmediavault",
        text: include_str!("../../../../machines/openmediavault.conf"),
    },
];

impl MachineProfile {
    /// The machine that a study has which names none.
    pub fn standard() -> &'static Self {
        &MACHINES[0]
    }

    /// Its settings, in the order of its file.
    pub fn settings(&self) -> impl Iterator<Item = (MachineSetting, &'static str)> + use<> {
        let lines = self.text.lines().map(|line| line.split('#').next().unwrap_or(""));
        lines.filter_map(|line| {
            let (key, value) = line.split_once('=')?;
            let (key, value) = (key.trim(), value.trim());
            let setting = match key.strip_prefix("queue/") {
                Some(file) => MachineSetting::Queue(file),
                None if key.starts_with("/sys/") => MachineSetting::Sysfs(key),
                None => MachineSetting::Sysctl(key),
            };
            Some((setting, value))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_setting_is_read_once_and_names_its_source() {
        for machine in &MACHINES {
            let lines = machine.text.lines().filter(|line| !line.starts_with('#'));
            let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
            let settings: Vec<_> = machine.settings().collect();
            assert_eq!(settings.len(), lines.len(), "{}", machine.name);
            let mut seen = BTreeSet::new();
            for (line, (setting, value)) in lines.iter().zip(settings) {
                let source = line.split_once('#').map_or("", |(_, source)| source.trim());
                assert!(!source.is_empty(), "{}: no source: {line}", machine.name);
                assert!(value.parse::<u64>().is_ok(), "{}: {line}", machine.name);
                assert!(seen.insert(format!("{setting:?}")), "{}: twice: {line}", machine.name);
            }
        }
    }

    /// What one sets, all set: a setting that only some have would depend on the kernel's default.
    #[test]
    fn machines_set_the_same_but_for_what_is_their_own() {
        let keys = |machine: &MachineProfile| -> Vec<MachineSetting> {
            machine.settings().map(|(setting, _)| setting).collect()
        };
        let standard = keys(MachineProfile::standard());
        for machine in &MACHINES {
            let own = keys(machine);
            assert!(standard.iter().all(|setting| own.contains(setting)), "{}", machine.name);
        }
    }
}
