//! The guest as a place to work in by hand: what udev would have made, and room for
//! the files that tools want to write.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use disklab_lab_guest::{LAB_DIRECTORY, PLACE, mount_host};
use rustix::fs::syncfs;
use rustix::mount::{MountFlags, mount};

use super::replaced::{BY_THE_CLOCK, PROGRAMS, ZPOOL, before, put, replace};
use super::session::ShellSession;
use super::unavailable;
use crate::drives::database::DeviceDatabase;
use crate::tools;

/// Directories of the host that tools write to (`/etc/mdadm/mdadm.conf`, `/etc/fstab`,
/// what LVM and cryptsetup remember). What is written lies in the guest's memory.
const OVERLAID: [&str; 2] = ["/etc", "/var"];

/// LVM without udev, and without what the host's configuration says.
const LVM: &str = "# There is no udev daemon in the lab.
devices { use_devicesfile = 0 obtain_device_list_from_udev = 0 }
activation { udev_sync = 0 udev_rules = 0 monitoring = 0 }
";

/// What an interactive bash reads.
const BASHRC: &str = r#"command_not_found_handle() {
    printf 'bash: %s: not installed on this machine, whose programs the lab runs\n' "$1" >&2
    return 127
}
PS1='\[\e[1m\]lab\[\e[0m\]:\w# '
HISTFILE=
alias ls='ls --color=auto' ll='ls -l'
"#;

/// Where bash finds [`BASHRC`].
pub const BASHRC_PATH: &str = "/run/disklab/bashrc";

/// Makes it so, as far as it can be. What fails is said, and does not keep the user
/// from his prompt.
pub fn prepare(session: &ShellSession, mut complain: impl FnMut(String)) {
    let mut try_to = |what: &str, done: io::Result<()>| {
        if let Err(e) = done {
            complain(format!("cannot {what}: {e}"));
        }
    };
    for dir in OVERLAID {
        try_to(&format!("make '{dir}' writable"), overlay(dir));
    }
    try_to("name the drives", DeviceDatabase::default().refresh(&session.drives));
    // Only the program that takes too much ends then, not the session.
    try_to("spare the session", fs::write("/proc/sys/vm/panic_on_oom", "0"));
    try_to("configure LVM", configure_lvm());
    try_to("configure the shell", fs::write(BASHRC_PATH, BASHRC));
    for (name, script) in BY_THE_CLOCK {
        try_to("adapt a program to virtual time", replace(name, script));
    }
    for (name, stands_alone, script) in tools::scripts() {
        try_to("have a program answer for modelled drives", replace(name, &script));
        if stands_alone {
            try_to("have a program answer for modelled drives", put(name, &script));
        }
    }
    for (name, script) in unavailable::scripts(session) {
        let done = replace(name, &script).and_then(|()| put(name, &script));
        try_to("have a program say why it does nothing", done);
    }
    if let Some(programs) = &session.programs {
        let script = before(&programs.join("zpool"), ZPOOL);
        try_to("mount pools where directories can be made", put("zpool", &script));
    }
    try_to("have commands run as they are", put("sudo", unavailable::SUDO));
    let home = Path::new(PLACE).join("home");
    try_to("make a home", fs::create_dir_all(&home));
    // The user's directory is there already, but where it lies in one that is the
    // guest's own now.
    if !session.directory.is_dir() {
        try_to("show the current directory", show(&session.directory));
    }
    for directory in &session.writable {
        try_to("make a directory writable", mount_host(directory, directory));
    }
    try_to("enter the current directory", std::env::set_current_dir(&session.directory));
    set_environment(&home, session);
}

#[allow(unsafe_code)]
fn set_environment(home: &Path, session: &ShellSession) {
    // SAFETY: the guest's first program has one thread yet.
    unsafe {
        std::env::set_var("HOME", home);
        std::env::set_var("TERM", &session.terminal);
        std::env::set_var("SHELL", "/bin/bash");
        let path = std::env::var("PATH").unwrap_or_default();
        let more = session.programs.as_ref().map(|p| format!("{}:", p.display()));
        std::env::set_var("PATH", format!("{PROGRAMS}:{}{path}", more.unwrap_or_default()));
        std::env::set_var("USER", "root");
        std::env::set_var("LOGNAME", "root");
        std::env::set_var("LVM_SYSTEM_DIR", Path::new(PLACE).join("lvm"));
        std::env::set_var("DM_DISABLE_UDEV", "1");
        // It takes `/run/udev` for a sign of a daemon that makes nodes (`use_udev` in its lib.c).
        std::env::set_var("MDADM_NO_UDEV", "1");
        // `mount -t hostfs -o DIRECTORY`: util-linux 2.39 and later would take the directory for an option.
        std::env::set_var("LIBMOUNT_FORCE_MOUNT2", "always");
        std::env::set_var("LVM_SUPPRESS_FD_WARNINGS", "1");
        std::env::set_var("DISKLAB_LAB", LAB_DIRECTORY);
    }
}

/// Lays a file system in memory over a directory.
fn overlay(dir: &str) -> io::Result<()> {
    let place = Path::new(PLACE).join("overlay").join(dir.trim_start_matches('/'));
    let (upper, work) = (place.join("upper"), place.join("work"));
    fs::create_dir_all(&upper)?;
    fs::create_dir_all(&work)?;
    let data = format!("lowerdir={dir},upperdir={},workdir={}", upper.display(), work.display());
    let data = CString::new(data)?;
    // What was mounted within must be seen there again.
    mount("overlay", dir, "overlay", MountFlags::empty(), data.as_c_str())?;
    if dir == "/var" {
        fs::create_dir_all("/var/tmp")?;
        mount("tmpfs", "/var/tmp", "tmpfs", MountFlags::empty(), Some(c"mode=1777"))?;
    }
    Ok(())
}

/// Mounts a directory of the host at its own place, to be read.
fn show(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let path = CString::new(directory.as_os_str().as_bytes())?;
    mount("none", directory, "hostfs", MountFlags::RDONLY, path.as_c_str())?;
    Ok(())
}

fn configure_lvm() -> io::Result<()> {
    let directory = Path::new(PLACE).join("lvm");
    fs::create_dir_all(&directory)?;
    fs::write(directory.join("lvm.conf"), LVM)
}

/// Has the host's files written. What lies on drives ends with them.
pub fn sync_host() {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    for line in mounts.lines() {
        let mut words = line.split(' ').skip(1);
        if let (Some(place), Some("hostfs")) = (words.next(), words.next())
            && let Ok(directory) = fs::File::open(unescape(place))
        {
            let _ = syncfs(&directory);
        }
    }
}

/// A path as `/proc/mounts` writes it: `\040` is a space (proc(5), `fs/proc_namespace.c`).
fn unescape(text: &str) -> String {
    let mut rest = text;
    let mut bytes = Vec::with_capacity(text.len());
    while let Some(at) = rest.find('\\') {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        let digits = rest.get(at + 1..at + 4);
        match digits.and_then(|octal| u8::from_str_radix(octal, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &rest[at + 4..];
            }
            None => {
                bytes.push(b'\\');
                rest = &rest[at + 1..];
            }
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::unescape;

    #[test]
    fn mount_points_with_spaces_are_read() {
        assert_eq!(unescape("/mnt/my\\040disk\\134x"), "/mnt/my disk\\x");
        assert_eq!(unescape("/mnt/\\04"), "/mnt/\\04");
        assert_eq!(unescape("\\"), "\\");
        assert_eq!(unescape("/mnt/é\\040"), "/mnt/é ");
        assert_eq!(unescape("/a\\é99"), "/a\\é99");
    }
}
