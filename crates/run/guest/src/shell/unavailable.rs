//! Programs that can do nothing in the lab and say so: a sentence is more help than 'command
//! not found', or than nothing.

use super::session::ShellSession;

const NO_NVME: &str = "sends NVMe commands, and the lab's disks are virtio: `lsblk -o \
                       NAME,MODEL,SERIAL` and `smartctl -i` show the modelled drive";
const NO_SCSI: &str = "sends SCSI commands, and the lab's disks are virtio: `lsblk -o \
                       NAME,MODEL,SERIAL` and `smartctl -i` show the modelled drive";
const NO_ZFS: &str = "needs a kernel with ZFS: leave and call `disklab lab shell --zfs`";

const UNAVAILABLE: [(&str, &str); 9] = [
    ("lsscsi", NO_SCSI),
    ("nvme", NO_NVME),
    ("sdparm", NO_SCSI),
    ("sg_inq", NO_SCSI),
    ("sg_logs", NO_SCSI),
    ("sg_modes", NO_SCSI),
    ("sg_readcap", NO_SCSI),
    ("sg_vpd", NO_SCSI),
    ("sginfo", NO_SCSI),
];
const ZFS: [&str; 2] = ["zfs", "zpool"];

/// Instead of sudo, which may not be there, and has nothing to do.
pub const SUDO: &str = r#"#!/bin/sh
# The session's user is root.
while :; do
    case $1 in
    -E | -H | -n | -S) shift ;;
    -i | -s) shift; [ $# -gt 0 ] || exec "${SHELL:-/bin/sh}" ;;
    --) shift; break ;;
    -* | '') echo "disklab: you are root in the lab: call the command without sudo" >&2; exit 1 ;;
    *) break ;;
    esac
done
exec env "$@"
"#;

/// What each of them says.
pub fn scripts(session: &ShellSession) -> impl Iterator<Item = (&'static str, String)> {
    let zfs = ZFS.into_iter().filter(|_| session.programs.is_none());
    UNAVAILABLE.into_iter().chain(zfs.map(|name| (name, NO_ZFS))).map(|(name, why)| {
        (name, format!("#!/bin/sh\ncat >&2 <<'END'\ndisklab: {name} {why}\nEND\nexit 1\n"))
    })
}
