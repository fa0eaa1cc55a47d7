//! LVM's programs, kept away from what is not ours.

use std::path::{Path, PathBuf};

use disklab_exec::Invocation;

use crate::udev;

/// One of LVM's commands, such as `vgcreate`, that sees no device but those of
/// the [`filter`], keeps no files below `/etc/lvm`, and asks no daemon.
///
/// A thin pool's metadata are not checked: those of a new one are right, and the program for it
/// comes in a package of its own.
///
/// The settings are those of lvm.conf(5). Without a devices file and with a
/// filter of its own, the volume groups of this machine are invisible to it.
pub(crate) fn lvm(command: &str, filter: &str) -> Invocation {
    let udev = u8::from(udev::is_running());
    let config = format!(
        "devices {{ use_devicesfile=0 filter=[{filter}] global_filter=[{filter}] \
         hints=\"none\" external_device_info_source=\"none\" obtain_device_list_from_udev=0 }} \
         activation {{ udev_sync={udev} udev_rules={udev} monitoring=0 }} \
         backup {{ backup=0 archive=0 }} \
         global {{ use_lvmpolld=0 use_lvmlockd=0 event_activation=0 thin_check_executable=\"\" }}"
    );
    udev::dm(Invocation::new("lvm")).arg(command).arg("--config").arg(config)
}

/// A filter that lets `devices` through by whatever name LVM knows them, and
/// nothing else.
pub(crate) fn filter(devices: &[PathBuf]) -> String {
    let mut patterns: Vec<String> = Vec::new();
    for device in devices {
        let mut names = vec![device.clone()];
        names.extend(device.canonicalize());
        for name in names {
            let pattern = format!("\"a|^{}$|\"", escape(&name));
            if !patterns.contains(&pattern) {
                patterns.push(pattern);
            }
        }
    }
    patterns.push("\"r|.*|\"".to_owned());
    patterns.join(",")
}

/// A pattern that matches no more than `path`: whatever could have a meaning in
/// a regular expression, in the pattern's frame or in LVM's quotes becomes
/// 'any one character'.
fn escape(path: &Path) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/-_:@%,=".contains(c);
    path.to_string_lossy().chars().map(|c| if plain(c) { c } else { '.' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_given_devices_pass() {
        let devices = ["/dev/no-such-1", "/dev/disk/by-id/x+y|z\""].map(PathBuf::from);
        assert_eq!(
            filter(&devices),
            r#""a|^/dev/no-such-1$|","a|^/dev/disk/by-id/x.y.z.$|","r|.*|""#
        );
        assert_eq!(filter(&[]), r#""r|.*|""#);
    }
}
