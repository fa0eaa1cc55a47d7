//! The attacks. Each is harmless enough where it succeeds.

use std::ffi::{CString, c_long};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;

/// The user's terminal, if there is one.
pub const TERMINAL: &str = "DISKLAB_TEST_TERMINAL";

/// What Landlock alone keeps from being done.
pub const WRITES: &[&str] = &[
    "open-for-writing",
    "create-elsewhere",
    "mkdir-elsewhere",
    "symlink-elsewhere",
    "link-into-the-lab",
    "rename-into-the-lab",
    "unlink",
    "write-to-a-process",
    "read-a-terminal",
];

/// The number of a call that fails, or 0.
macro_rules! attack {
    ($name:literal, $call:ident $(, $argument:expr)*) => {{
        // SAFETY: all pointers are to what lives for as long.
        let done = unsafe { libc::syscall(libc::$call $(, $argument as c_long)*) };
        tell($name, if done < 0 { last() } else { 0 });
        done
    }};
}

fn last() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(-1)
}

fn tell(name: &str, errno: i32) {
    println!("attack {name} {errno}");
}

fn tell_result<T>(name: &str, done: std::io::Result<T>) -> Option<T> {
    tell(name, done.as_ref().err().map_or(0, |e| e.raw_os_error().unwrap_or(-1)));
    done.ok()
}

fn text(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap()
}

const AT: i32 = libc::AT_FDCWD;

pub fn play(process: i32, user: &Path) {
    let file = text(&user.join("file"));
    attributes(&file);
    contents(&file, user);
    locks(&file);
    terminal();
    set_id_and_devices();
    processes(process);
    sockets(user);
    kernel();
    needed();
    attack!("unlink", SYS_unlink, text(&user.join("other")).as_ptr());
}

fn attributes(file: &CString) {
    let path = file.as_ptr();
    // SAFETY: the path lives.
    let fd = unsafe { libc::open(path, libc::O_RDONLY) };
    tell("allowed-reading-as-documented", if fd < 0 { last() } else { 0 });
    let (name, times) = (c"user.disklab".as_ptr(), [[1_i64; 2]; 2]);
    attack!("chmod", SYS_chmod, path, 0o4755);
    attack!("fchmod", SYS_fchmod, fd, 0o4755);
    attack!("fchmodat", SYS_fchmodat, AT, path, 0o4755);
    attack!("fchmodat2", SYS_fchmodat2, AT, path, 0o4755, 0);
    attack!("chown", SYS_chown, path, 1, 1);
    attack!("lchown", SYS_lchown, path, 1, 1);
    attack!("fchown", SYS_fchown, fd, 1, 1);
    attack!("fchownat", SYS_fchownat, AT, path, 1, 1, 0);
    attack!("utime", SYS_utime, path, 0);
    attack!("utimes", SYS_utimes, path, times.as_ptr());
    attack!("futimesat", SYS_futimesat, AT, path, times.as_ptr());
    attack!("utimensat", SYS_utimensat, AT, path, times.as_ptr(), 0);
    attack!("setxattr", SYS_setxattr, path, name, name, 4, 0);
    attack!("lsetxattr", SYS_lsetxattr, path, name, name, 4, 0);
    attack!("fsetxattr", SYS_fsetxattr, fd, name, name, 4, 0);
    attack!("removexattr", SYS_removexattr, path, name);
    // FS_IOC_SETFLAGS (`include/uapi/linux/fs.h`): no flags.
    attack!("ioctl-flags", SYS_ioctl, fd, 0x4008_6602_u32, &raw const times);
    attack!("lease", SYS_fcntl, fd, libc::F_SETLEASE, libc::F_RDLCK);
}

fn contents(file: &CString, user: &Path) {
    let path = file.as_ptr();
    let inside = |name: &str| text(&user.join(name));
    attack!("truncate", SYS_truncate, path, 0);
    attack!("open-and-truncate", SYS_open, path, libc::O_RDONLY | libc::O_TRUNC);
    attack!("openat-and-truncate", SYS_openat, AT, path, libc::O_RDONLY | libc::O_TRUNC);
    attack!("open-for-ioctl", SYS_open, path, libc::O_ACCMODE);
    attack!("open-for-writing", SYS_open, path, libc::O_WRONLY);
    let make = libc::O_CREAT | libc::O_WRONLY;
    attack!("create-elsewhere", SYS_open, inside("new").as_ptr(), make, 0o600);
    attack!("creat", SYS_creat, inside("new").as_ptr(), 0o600);
    let how = [0_u64; 3];
    attack!("openat2", SYS_openat2, AT, path, how.as_ptr(), 24);
    attack!("mkdir-elsewhere", SYS_mkdir, inside("directory").as_ptr(), 0o700);
    attack!("symlink-elsewhere", SYS_symlink, path, inside("link").as_ptr());
    attack!("link-into-the-lab", SYS_link, path, c"linked".as_ptr());
    attack!("rename-into-the-lab", SYS_rename, path, c"renamed".as_ptr());
    // If that was done, it is there again for the others.
    let _ = std::fs::rename("renamed", user.join("file"));
}

fn set_id_and_devices() {
    let make = libc::O_CREAT | libc::O_WRONLY;
    attack!("create-set-uid", SYS_open, c"a".as_ptr(), make, 0o4755);
    attack!("create-set-gid", SYS_openat, AT, c"b".as_ptr(), make, 0o2755);
    let unnamed = libc::O_TMPFILE | libc::O_RDWR;
    attack!("create-unnamed-set-uid", SYS_open, c".".as_ptr(), unnamed, 0o4755);
    attack!("mkdir-set-gid", SYS_mkdir, c"c".as_ptr(), 0o2755);
    attack!("mknod-set-uid", SYS_mknod, c"d".as_ptr(), libc::S_IFREG | 0o4755, 0);
    // The loop devices' number: root could write to drives by it.
    attack!("mknod-block", SYS_mknod, c"e".as_ptr(), libc::S_IFBLK | 0o600, 7 << 8);
    attack!("mknod-character", SYS_mknodat, AT, c"f".as_ptr(), libc::S_IFCHR | 0o600, 259);
}

fn processes(process: i32) {
    attack!("kill", SYS_kill, process, libc::SIGTERM);
    attack!("kill-group", SYS_kill, -process, 0);
    attack!("own-by-another", SYS_fcntl, 1, libc::F_SETOWN, process);
    attack!("tkill", SYS_tkill, process, libc::SIGTERM);
    attack!("tgkill", SYS_tgkill, process, process, libc::SIGTERM);
    attack!("rt_sigqueueinfo", SYS_rt_sigqueueinfo, process, 0, 0);
    attack!("pidfd_open", SYS_pidfd_open, process, 0);
    // Who is nobody's parent cannot trace another.
    attack!("ptrace-attach", SYS_ptrace, libc::PTRACE_ATTACH, process, 0, 0);
    attack!("ptrace-seize", SYS_ptrace, libc::PTRACE_SEIZE, process, 0, 0);
    attack!("process_vm_writev", SYS_process_vm_writev, process, 0, 0, 0, 0, 0);
    attack!("process_vm_readv", SYS_process_vm_readv, process, 0, 0, 0, 0, 0);
    attack!("prlimit", SYS_prlimit64, process, libc::RLIMIT_NOFILE, 0, 0);
    attack!("setpriority", SYS_setpriority, libc::PRIO_PROCESS, process, 0);
    attack!("sched_setscheduler", SYS_sched_setscheduler, process, 0, 0);
    attack!("sched_setaffinity", SYS_sched_setaffinity, process, 0, 0);
    attack!("setsid", SYS_setsid);
    attack!("setpgid", SYS_setpgid, 0, 0);
    attack!("outlive-its-parent", SYS_prctl, libc::PR_SET_PDEATHSIG, 0);
    let score = CString::new(format!("/proc/{process}/oom_score_adj")).unwrap();
    attack!("write-to-a-process", SYS_open, score.as_ptr(), libc::O_WRONLY);
}

fn sockets(user: &Path) {
    for (name, family) in [
        ("inet", libc::AF_INET),
        ("inet6", libc::AF_INET6),
        ("netlink", libc::AF_NETLINK),
        ("packet", libc::AF_PACKET),
        ("vsock", libc::AF_VSOCK),
    ] {
        // SAFETY: there is no pointer.
        let fd = unsafe { libc::socket(family, libc::SOCK_DGRAM, 0) };
        tell(name, if fd < 0 { last() } else { 0 });
    }
    attack!("unix-packets", SYS_socket, libc::AF_UNIX, libc::SOCK_SEQPACKET, 0);
    attack!("unix-datagrams", SYS_socket, libc::AF_UNIX, libc::SOCK_DGRAM, 0);
    tell_result("connect-to-a-service", UnixStream::connect(user.join("stream")));
    tell_result("connect-by-a-swapped-name", UnixStream::connect("disk0"));
    let service = socket_address(&user.join("datagrams"));
    for (kind, number) in [
        ("datagrams", libc::SOCK_DGRAM),
        ("packets", libc::SOCK_SEQPACKET),
        ("raw", libc::SOCK_RAW),
        ("stream", libc::SOCK_STREAM),
    ] {
        let mut pair = [-1; 2];
        // SAFETY: the two numbers live.
        let made = unsafe { libc::socketpair(libc::AF_UNIX, number, 0, pair.as_mut_ptr()) };
        let kept = if kind == "stream" { "allowed-pair" } else { "pair" };
        tell(&format!("{kept}-of-{kind}"), if made < 0 { last() } else { 0 });
        if made == 0 {
            send_away(kind, pair[0], &service);
        }
    }
    tell_result("allowed-the-calendar", UnixStream::connect("calendar"));
    tell_result("the-calendar-again", UnixStream::connect("calendar"));
}

fn socket_address(path: &Path) -> libc::sockaddr_un {
    let mut address = libc::sockaddr_un { sun_family: libc::AF_UNIX as u16, sun_path: [0; 108] };
    for (to, from) in address.sun_path.iter_mut().zip(path.as_os_str().as_bytes()) {
        *to = from.cast_signed();
    }
    address
}

/// Sends a descriptor over a socket that is connected, to an address of somebody else's.
fn send_away(kind: &str, socket: i32, service: &libc::sockaddr_un) {
    let (address, length) = (std::ptr::from_ref(service), size_of_val(service));
    let bytes = b"x";
    // SAFETY: all pointers are to what lives for as long.
    let sent = unsafe {
        let to = address.cast();
        libc::sendto(socket, bytes.as_ptr().cast(), 1, libc::MSG_NOSIGNAL, to, length as u32)
    };
    tell(&format!("send-to-a-service-by-{kind}"), if sent < 0 { last() } else { 0 });
    let mut part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: 1 };
    // A header of 16 bytes, and the number of the standard output.
    let control = [20_u64, 1 | (libc::SCM_RIGHTS as u64) << 32, 1];
    // SAFETY: zeros are a message without anything.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_name = address.cast_mut().cast();
    message.msg_namelen = length as u32;
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.as_ptr().cast_mut().cast();
    message.msg_controllen = 20;
    // SAFETY: as above.
    let sent = unsafe { libc::sendmsg(socket, &raw const message, libc::MSG_NOSIGNAL) };
    tell(&format!("descriptor-to-a-service-by-{kind}"), if sent < 0 { last() } else { 0 });
    // SAFETY: as above.
    let bound = unsafe {
        libc::bind(socket, std::ptr::from_ref(&socket_address(Path::new("bound"))).cast(), 110)
    };
    tell(&format!("bind-{kind}"), if bound < 0 { last() } else { 0 });
}

/// Opens a terminal of the test's own, and its other end as if it were the user's.
fn terminal() {
    let own = std::fs::OpenOptions::new().read(true).open("/dev/null");
    tell_result("allowed-null", own);
    let path = std::env::var(TERMINAL).unwrap_or_default();
    if path.is_empty() {
        return;
    }
    attack!("read-a-terminal", SYS_open, text(Path::new(&path)).as_ptr(), libc::O_NOCTTY);
}

/// What makes others find a file busy that they use and the guest only reads.
fn locks(file: &CString) {
    // SAFETY: the path lives.
    let fd = unsafe { libc::open(file.as_ptr(), libc::O_RDONLY) };
    let range =
        libc::flock { l_type: libc::F_RDLCK as i16, l_whence: 0, l_start: 0, l_len: 0, l_pid: 0 };
    attack!("flock", SYS_flock, fd, libc::LOCK_EX | libc::LOCK_NB);
    attack!("flock-shared", SYS_flock, fd, libc::LOCK_SH | libc::LOCK_NB);
    attack!("record-lock", SYS_fcntl, fd, libc::F_SETLK, &raw const range);
    attack!("record-lock-of-the-file", SYS_fcntl, fd, libc::F_OFD_SETLK, &raw const range);
    attack!("claim", SYS_open, file.as_ptr(), libc::O_RDONLY | libc::O_EXCL);
    attack!("claim-at", SYS_openat, AT, file.as_ptr(), libc::O_RDONLY | libc::O_EXCL);
    attack!("huge-memory-file", SYS_memfd_create, c"huge".as_ptr(), libc::MFD_HUGETLB);
}

fn kernel() {
    let here = c".".as_ptr();
    attack!("mount", SYS_mount, c"none".as_ptr(), here, c"tmpfs".as_ptr(), 0, 0);
    attack!("umount", SYS_umount2, here, 0);
    attack!("fsopen", SYS_fsopen, c"tmpfs".as_ptr(), 0);
    attack!("open_tree", SYS_open_tree, AT, here, 1);
    attack!("chroot", SYS_chroot, here);
    attack!("unshare", SYS_unshare, libc::CLONE_NEWNS);
    attack!("unshare-user", SYS_unshare, libc::CLONE_NEWUSER);
    attack!("setns", SYS_setns, 0, 0);
    attack!("clone-user", SYS_clone, libc::CLONE_NEWUSER | libc::SIGCHLD, 0, 0, 0, 0);
    attack!("clone3", SYS_clone3, 0, 0);
    attack!("bpf", SYS_bpf, 0, 0, 0);
    attack!("perf", SYS_perf_event_open, 0, 0, 0, 0, 0);
    attack!("io_uring", SYS_io_uring_setup, 1, 0);
    attack!("userfaultfd", SYS_userfaultfd, 0);
    attack!("keyctl", SYS_keyctl, 0, 0);
    attack!("add_key", SYS_add_key, 0, 0, 0, 0, 0);
    attack!("by-handle", SYS_open_by_handle_at, AT, 0, 0);
    attack!("module", SYS_init_module, 0, 0, 0);
    attack!("kexec", SYS_kexec_load, 0, 0, 0, 0);
    attack!("reboot", SYS_reboot, 0, 0, 0, 0);
    attack!("swapon", SYS_swapon, 0, 0);
    attack!("sethostname", SYS_sethostname, 0, 0);
    attack!("settimeofday", SYS_settimeofday, 0, 0);
    attack!("iopl", SYS_iopl, 0);
    attack!("setuid", SYS_setuid, 0);
    // TIOCSTI types into a terminal (ioctl_tty(2)).
    attack!("type-into-a-terminal", SYS_ioctl, 0, libc::TIOCSTI, here);
}

/// What the kernel of a guest does.
fn needed() {
    tell_result("allowed-writing-in-the-lab", std::fs::write("mine", "x"));
    tell_result("allowed-renaming-in-the-lab", std::fs::rename("mine", "other"));
    tell_result("allowed-a-process-of-its-own", Command::new("/bin/true").status());
    // SAFETY: there is no pointer.
    let (own, none) = unsafe { (libc::kill(libc::getpid(), 0), libc::kill(0, 0)) };
    tell("allowed-a-signal-to-itself", if own < 0 { last() } else { 0 });
    tell("allowed-a-signal-to-its-session", if none < 0 { last() } else { 0 });
    let child = Command::new("/bin/sleep").arg("60").spawn();
    if let Some(mut child) = tell_result("allowed-a-child", child) {
        tell_result("allowed-killing-it", child.kill());
        let _ = child.wait();
    }
}
