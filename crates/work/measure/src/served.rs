//! Disks that are not drives of their own: a host, a controller or another machine answers.

use crate::block::BlockDevice;
use crate::drive_state::identity;

/// Words in the model or vendor of a virtual machine's disk, and whose they are.
const VIRTUAL: [(&str, &str); 9] = [
    ("qemu", "QEMU"),
    ("vbox", "VirtualBox"),
    ("vmware", "VMware"),
    ("virtual disk", "Hyper-V"),
    ("msft", "Hyper-V"),
    ("xen", "Xen"),
    ("amazon elastic block", "Amazon's block storage"),
    ("persistentdisk", "Google's block storage"),
    ("bhyve", "bhyve"),
];

/// Words in the model or vendor of what a RAID controller or another machine offers as one
/// disk, and what it is. A word with a `*` is the beginning of one.
const VOLUMES: [(&str, &str); 14] = [
    ("logical volume", "a Smart Array controller's volume"),
    ("perc", "a PERC controller's volume"),
    ("megaraid", "a MegaRAID controller's volume"),
    ("mr9*", "a MegaRAID controller's volume"),
    ("serveraid", "a ServeRAID controller's volume"),
    ("raid", "a RAID controller's volume"),
    ("adaptec", "an Adaptec controller's volume"),
    ("areca", "an Areca controller's volume"),
    ("3ware", "a 3ware controller's volume"),
    ("lio-org", "an iSCSI or Fibre Channel target (LIO)"),
    ("iet", "an iSCSI target (IET)"),
    ("iscsi disk", "an iSCSI target"),
    ("truenas", "an iSCSI target (TrueNAS)"),
    ("synology", "an iSCSI target (Synology)"),
];

/// Kernel names of disks that a host or another machine serves.
const SERVED: [(&str, &str); 3] = [("vd", "virtio"), ("xvd", "Xen"), ("ubd", "User-Mode Linux")];

/// What a disk calls its vendor and itself, in small letters.
fn names(device: &BlockDevice) -> (String, String) {
    let vendor = device.attribute("device/vendor").unwrap_or_default();
    let model = identity(device).model.unwrap_or_default();
    (vendor.to_ascii_lowercase(), model.to_ascii_lowercase())
}

/// Who serves a disk that is not a drive but a virtual one.
pub fn host_of(device: &BlockDevice) -> Option<&'static str> {
    let (vendor, small) = names(device);
    let name = device.name();
    let by_name = SERVED.iter().find(|(prefix, _)| {
        name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(char::is_alphabetic))
    });
    let by_model = VIRTUAL.iter().find(|(word, _)| small.contains(word) || vendor.contains(word));
    by_name.or(by_model).map(|(_, whose)| *whose)
}

/// Whose volume a disk is, if a controller or another machine offers it.
pub fn volume_of(device: &BlockDevice) -> Option<&'static str> {
    let (vendor, model) = names(device);
    // A maker of both, Synology, names its drives in the model and its targets in the vendor.
    let model = model.replace("synology", "");
    let texts = [vendor.as_str(), model.as_str()];
    let words = || texts.iter().flat_map(|text| text.split(|c: char| !c.is_alphanumeric()));
    let is_of = |word: &str| match word.strip_suffix('*') {
        Some(beginning) => words().any(|w| w.starts_with(beginning)),
        None if word.contains([' ', '-']) => texts.iter().any(|text| text.contains(word)),
        None => words().any(|w| w == word),
    };
    VOLUMES.iter().find(|(word, _)| is_of(word)).map(|(_, what)| *what)
}
