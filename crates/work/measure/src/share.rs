//! A share of another machine, and what of the network is seen from here.

use std::io::ErrorKind;
use std::net::IpAddr;
use std::path::Path;
use std::time::Instant;

use disklab_sample::{NetworkLink, NetworkShare};

use crate::SystemRoot;
use crate::mounts::Mount;

/// File systems whose files are on another machine.
const NETWORK: [&str; 12] = [
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "ceph",
    "glusterfs",
    "fuse.sshfs",
    "fuse.glusterfs",
    "fuse.rclone",
    "9p",
    "afs",
    "lustre",
];

/// Names that are looked up to know how long a request takes.
const LOOK_UPS: u64 = 21;

/// File systems whose files are in memory.
const MEMORY: [&str; 3] = ["tmpfs", "ramfs", "hugetlbfs"];

/// Whether files of this file system are on another machine.
pub(crate) fn is_network(kind: &str) -> bool {
    NETWORK.contains(&kind)
}

/// Whether files of this file system are in memory.
pub(crate) fn is_memory(kind: &str) -> bool {
    MEMORY.contains(&kind)
}

/// What a mount of another machine's files is, with the port that leads there.
pub(crate) fn network_share(root: &SystemRoot, mount: &Mount) -> NetworkShare {
    let protocol = match mount.fs_type.as_str() {
        "nfs" | "nfs4" => "NFS",
        "cifs" | "smb3" => "SMB",
        other => other.strip_prefix("fuse.").unwrap_or(other),
    };
    let source = mount.source.to_string_lossy();
    NetworkShare {
        protocol: protocol.to_owned(),
        server: server(&source).unwrap_or_else(|| source.to_string()),
        link: address(mount, &source).and_then(|to| link(root, to)),
        round_trip_ns: None,
    }
}

/// Nanoseconds that a server takes for a request that needs no drive: the median time in which
/// names of files that `directory` does not have are looked up. Each name is a new one, so that
/// nothing on the way remembers it. `None` if a look-up fails for another reason.
pub fn round_trip(directory: &Path, unique: u64) -> Option<u64> {
    let look_up = |n: u64| {
        let began = Instant::now();
        let found = directory.join(format!(".disklab-{unique:x}-{n}")).symlink_metadata();
        let took = u64::try_from(began.elapsed().as_nanos()).ok()?;
        found.err().filter(|e| e.kind() == ErrorKind::NotFound).map(|_| took)
    };
    let mut times: Vec<u64> = (0..LOOK_UPS).map(look_up).collect::<Option<_>>()?;
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}

/// `//nas/films`, `nas:/films`, `[fe80::1]:/films`, `me@nas:/films`.
fn server(source: &str) -> Option<String> {
    let name = match source.strip_prefix("//") {
        Some(rest) => rest.split('/').next(),
        None if source.starts_with('[') => source[1..].split(']').next(),
        None => source.split_once(":/").map(|(host, _)| host),
    }?;
    let name = name.rsplit('@').next().unwrap_or(name);
    (!name.is_empty()).then(|| name.to_owned())
}

/// The server's address, which NFS and SMB have in their options (nfs(5), `addr=`;
/// kernel: fs/smb/client/cifsfs.c, `cifs_show_address`).
fn address(mount: &Mount, source: &str) -> Option<IpAddr> {
    let options = mount.super_options.split(',');
    let mut named =
        options.filter_map(|o| o.strip_prefix("addr=")?.split('%').next()?.parse().ok());
    named.next().or_else(|| server(source)?.parse().ok())
}

/// The port through which an address is reached.
fn link(root: &SystemRoot, to: IpAddr) -> Option<NetworkLink> {
    let name = match to {
        // Neither table has it.
        _ if to.is_loopback() => Some("lo".to_owned()),
        IpAddr::V4(to) => port_v4(root, u32::from(to)),
        IpAddr::V6(to) => port_v6(root, u128::from(to)),
    }?;
    let port = format!("/sys/class/net/{name}");
    // -1 and an error stand for no speed (kernel: Documentation/ABI/testing/sysfs-class-net).
    let speed = root.value(format!("{port}/speed")).and_then(|text| text.parse::<u64>().ok());
    let is_wireless = root.path(format!("{port}/wireless")).exists();
    Some(NetworkLink { name, megabits: speed.filter(|n| *n > 0 && *n < 10_000_000), is_wireless })
}

/// `/proc/net/route`: device, destination, gateway, …, mask; numbers in the machine's byte order.
fn port_v4(root: &SystemRoot, to: u32) -> Option<String> {
    let text = root.text("/proc/net/route")?;
    let fits = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| u32::from_str_radix(words.get(at)?, 16).ok().map(u32::from_be);
        let (destination, mask) = (number(1)?, number(7)?);
        (to & mask == destination).then(|| (mask.count_ones(), words[0].to_owned()))
    };
    text.lines().skip(1).filter_map(fits).max_by_key(|(bits, _)| *bits).map(|(_, name)| name)
}

/// `/proc/net/ipv6_route`: destination, bits, …, device at the end.
fn port_v6(root: &SystemRoot, to: u128) -> Option<String> {
    let text = root.text("/proc/net/ipv6_route")?;
    let fits = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let destination = u128::from_str_radix(words.first()?, 16).ok()?;
        let bits = u32::from_str_radix(words.get(1)?, 16).ok().filter(|bits| *bits <= 128)?;
        let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
        let name = words.get(9).filter(|name| **name != "lo")?;
        (to & mask == destination & mask).then(|| (bits, (*name).to_owned()))
    };
    text.lines().filter_map(fits).max_by_key(|(bits, _)| *bits).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fabricated::Fabricated;
    use crate::foundation::foundation;

    const ROUTES: &str = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\n\
        wlan0\t00000000\t0101A8C0\t0003\t0\t0\t600\t00000000\t0\n\
        eth0\t0002A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\n";

    #[test]
    fn the_port_to_the_server_of_a_share_is_found() {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
        tree.file("/proc/net/route", ROUTES);
        tree.file("/sys/class/net/eth0/speed", "1000\n");
        tree.directory("/sys/class/net/wlan0/wireless");
        let mounts = "8 1 0:50 / /films rw - cifs //nas/films rw,vers=3.1.1,addr=192.168.2.5\n\
            9 1 0:51 / /far rw - nfs4 far.example:/x rw,addr=10.0.0.1\n\
            9 1 0:53 / /own rw - nfs4 localhost:/x rw,addr=127.0.0.1\n\
            9 1 0:52 / /ssh rw - fuse.sshfs me@box:/home rw\n";
        tree.append("/proc/self/mountinfo", mounts);
        let share = |directory: &str| {
            let found = foundation(&tree.root(), directory.as_ref()).expect("mounted");
            found.share.expect("a share")
        };
        let films = share("/films");
        assert_eq!((films.protocol.as_str(), films.server.as_str()), ("SMB", "nas"));
        let link = |name: &str, megabits, is_wireless| {
            Some(NetworkLink { name: name.to_owned(), megabits, is_wireless })
        };
        assert_eq!(films.link, link("eth0", Some(1000), false));
        assert_eq!(share("/own").link, link("lo", None, false));
        assert_eq!(share("/far").link, link("wlan0", None, true));
        let ssh = share("/ssh");
        assert_eq!((ssh.protocol.as_str(), ssh.server.as_str(), ssh.link), ("sshfs", "box", None));
    }

    #[test]
    fn a_route_of_the_sixth_protocol_is_found() {
        let directory = tempfile::tempdir().expect("temp");
        let tree = Fabricated::new(directory.path());
        let zeros = "0".repeat(32);
        let route = |to: &str, bits: &str, port: &str| {
            format!("{to} {bits} {zeros} 00 {zeros} 00000400 00000001 00000000 00000001 {port}\n")
        };
        let local = format!("fd00{}", "0".repeat(28));
        let text =
            route(&zeros, "00", "lo") + &route(&zeros, "00", "eth9") + &route(&local, "40", "eth2");
        tree.file("/proc/net/ipv6_route", &text);
        let port = |to: &str| link(&tree.root(), to.parse().expect("an address")).map(|l| l.name);
        assert_eq!(port("fd00::7").as_deref(), Some("eth2"));
        assert_eq!(port("2001::7").as_deref(), Some("eth9"));
    }

    proptest! {
        #[test]
        fn hostile_routes_do_no_harm(text in "[0-9A-Fa-f\t \n]{0,200}|\\PC{0,60}") {
            let directory = tempfile::tempdir().expect("temp");
            let tree = Fabricated::new(directory.path());
            tree.file("/proc/net/route", &text);
            tree.file("/proc/net/ipv6_route", &text);
            for to in ["1.2.3.4", "::1"] {
                let _ = link(&tree.root(), to.parse().expect("an address"));
            }
            let _ = server(&text);
        }
    }
}
