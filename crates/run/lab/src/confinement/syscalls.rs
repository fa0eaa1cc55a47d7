//! Which system calls the guest's process may make.
//!
//! The list is what User-Mode Linux makes (`arch/um/os-Linux`, `fs/hostfs/hostfs_user.c`,
//! `arch/um/drivers`) and what the C library makes for it. What is not on it fails with
//! EPERM: among others chmod, chown, utimes, setxattr, mount, unshare, setns, bpf, keyctl,
//! io_uring, process_vm_writev, pidfd calls, truncate, open by handle, and all that locks or
//! claims a file, which a process that only reads it can do to those who use it. The calls of the
//! guest's own programs never get here: the kernel takes them by ptrace before the filter
//! sees them (`syscall_trace_enter`, since Linux 4.8), or by a filter of its own, whose
//! SECCOMP_RET_TRAP goes before EPERM (seccomp(2)).
//!
//! The calls that are made a thousand times a second have no conditions: of these, Linux
//! knows the answer without running the filter (since 5.11).

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use super::ConfinementSupport;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;
type Built<T> = Result<T, seccompiler::BackendError>;

/// The programs of the filters.
#[derive(Debug)]
pub(super) struct Filters {
    /// What is allowed; all else fails with EPERM.
    pub allowed: BpfProgram,
    /// What fails as if this system did not know it, so that the C library does it in
    /// another way.
    pub unknown: BpfProgram,
    /// What the supervisor decides; `None` if there is none.
    pub supervised: Option<BpfProgram>,
}

impl Filters {
    /// Those for a system that has these support. Without filters, they are empty.
    pub fn new(support: ConfinementSupport) -> std::io::Result<Self> {
        if !support.filter {
            return Ok(Self { allowed: Vec::new(), unknown: Vec::new(), supervised: None });
        }
        Self::build(support).map_err(std::io::Error::other)
    }

    fn build(support: ConfinementSupport) -> Built<Self> {
        let errno = |number: i32| SeccompAction::Errno(number.unsigned_abs());
        let allowed = filter(allowed(support)?, errno(libc::EPERM), SeccompAction::Allow)?;
        let clone3 = [(libc::SYS_clone3, Vec::new())].into();
        let unknown = filter(clone3, SeccompAction::Allow, errno(libc::ENOSYS))?;
        let supervised = support.supervision.then(|| supervised(support)).transpose()?;
        Ok(Self { allowed, unknown, supervised })
    }

    /// Those for a program that has to do with no other: what a supervisor would decide fails.
    pub fn alone(support: ConfinementSupport) -> std::io::Result<Self> {
        if !support.filter {
            return Self::new(support);
        }
        let build = || {
            let mut rules = allowed(support)?;
            for call in [libc::SYS_socket, libc::SYS_socketpair, libc::SYS_connect, libc::SYS_kill]
            {
                rules.remove(&call);
            }
            rules.insert(libc::SYS_fcntl, one_of(1, &OWN_FCNTL)?);
            filter(rules, SeccompAction::Errno(libc::EPERM.unsigned_abs()), SeccompAction::Allow)
        };
        let allowed = build().map_err(std::io::Error::other)?;
        Ok(Self { allowed, ..Self::new(ConfinementSupport { supervision: false, ..support })? })
    }
}

fn filter(rules: Rules, otherwise: SeccompAction, then: SeccompAction) -> Built<BpfProgram> {
    SeccompFilter::new(rules, otherwise, then, TargetArch::x86_64)?.try_into()
}

/// A condition on the lower half of an argument: of those bits in the mask, the value.
fn has(argument: u8, mask: u32, value: u32) -> Built<SeccompCondition> {
    SeccompCondition::new(
        argument,
        SeccompCmpArgLen::Dword,
        SeccompCmpOp::MaskedEq(mask.into()),
        value.into(),
    )
}

/// A condition on the whole lower half of an argument.
fn is(argument: u8, value: u32) -> Built<SeccompCondition> {
    has(argument, u32::MAX, value)
}

fn any<const N: usize>(rules: [Vec<SeccompCondition>; N]) -> Built<Vec<SeccompRule>> {
    rules.into_iter().map(SeccompRule::new).collect()
}

/// Of a socket's type, what is not a flag (`SOCK_TYPE_MASK` in include/linux/net.h).
const SOCKET_KIND: u32 = 0xf;

/// Of a file's mode, what has a program run as somebody else.
const SET_ID: u32 = 0o6000;

fn allowed(support: ConfinementSupport) -> Built<Rules> {
    let mut rules: Rules = UNCONDITIONAL.iter().map(|call| (*call, Vec::new())).collect();
    rules.insert(libc::SYS_open, opening(1)?);
    rules.insert(libc::SYS_openat, opening(2)?);
    for (call, mode) in [(libc::SYS_mkdir, 1), (libc::SYS_mkdirat, 2)] {
        rules.insert(call, any([vec![has(mode, SET_ID, 0)?]])?);
    }
    for (call, mode) in [(libc::SYS_mknod, 1), (libc::SYS_mknodat, 2)] {
        // No devices.
        let kind = |kind| has(mode, libc::S_IFMT | SET_ID, kind);
        let kinds = [vec![kind(0)?], vec![kind(libc::S_IFREG)?], vec![kind(libc::S_IFIFO)?]];
        rules.insert(call, any(kinds)?);
    }
    // A stream goes to its peer and to no address (`unix_stream_sendmsg`): so sendmsg needs no
    // look at what it points to. Of other kinds, each message could go to a service of the
    // user's, with descriptors.
    for call in [libc::SYS_socket, libc::SYS_socketpair] {
        let unix = is(0, libc::AF_UNIX.unsigned_abs())?;
        let stream = has(1, SOCKET_KIND, libc::SOCK_STREAM.unsigned_abs())?;
        rules.insert(call, any([vec![unix, stream]])?);
    }
    // No page of such a file can be exchanged when it is missing (`crate::lost_memory`).
    rules.insert(libc::SYS_memfd_create, any([vec![has(1, libc::MFD_HUGETLB, 0)?]])?);
    // No other namespaces. (CLONE_PARENT: before Linux 6.12, programs of the guest beget
    // each other as children of the guest's kernel.)
    let apart = libc::CLONE_NEWNS
        | libc::CLONE_NEWCGROUP
        | libc::CLONE_NEWUTS
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUSER
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWNET;
    rules.insert(libc::SYS_clone, any([vec![has(0, apart.cast_unsigned(), 0)?]])?);
    // Its own limits only.
    rules.insert(libc::SYS_prlimit64, any([vec![is(0, 0)?]])?);
    let dies = libc::PR_SET_PDEATHSIG.unsigned_abs();
    let killed = vec![is(0, dies)?, is(1, libc::SIGKILL.unsigned_abs())?];
    rules.insert(libc::SYS_prctl, any([killed, vec![is(0, libc::PR_SET_NAME.unsigned_abs())?]])?);
    rules.insert(libc::SYS_fcntl, one_of(1, &FCNTL)?);
    rules.insert(libc::SYS_ioctl, one_of(1, &IOCTL)?);
    if support.landlock.is_none() {
        // Landlock keeps a process from tracing others than those confined alike.
        let requests: Vec<u32> = PTRACE.iter().map(|request| request.cast_unsigned()).collect();
        rules.insert(libc::SYS_ptrace, one_of(0, &requests)?);
    }
    Ok(rules)
}

fn one_of(argument: u8, values: &[u32]) -> Built<Vec<SeccompRule>> {
    values.iter().map(|value| SeccompRule::new(vec![is(argument, *value)?])).collect()
}

/// How files may be opened, by the flags that are this argument, and the mode behind them.
fn opening(flags: u8) -> Built<Vec<SeccompRule>> {
    let bits = |value: i32| value.cast_unsigned();
    let access = bits(libc::O_ACCMODE);
    // O_TMPFILE has O_DIRECTORY's bit, which makes no file.
    let unnamed = bits(libc::O_TMPFILE) & !bits(libc::O_DIRECTORY);
    let (named, truncates) = (bits(libc::O_CREAT), bits(libc::O_TRUNC));
    // Where nothing is made, it claims a drive, so that others find it busy.
    let makes = named | unnamed | bits(libc::O_EXCL);
    let (reading, writing, both) = (bits(libc::O_RDONLY), bits(libc::O_WRONLY), bits(libc::O_RDWR));
    let mut rules = vec![
        // Who opens for reading and truncates is not seen by Landlock before Linux 6.2.
        vec![has(flags, makes | truncates | access, reading)?],
        vec![has(flags, makes | access, writing)?],
        vec![has(flags, makes | access, both)?],
    ];
    for made in [named, unnamed] {
        for (seen, value) in [(truncates | access, reading), (access, writing), (access, both)] {
            let no_set_id = has(flags + 1, SET_ID, 0)?;
            rules.push(vec![no_set_id, has(flags, made | seen, made | value)?]);
        }
    }
    rules.into_iter().map(SeccompRule::new).collect()
}

/// What the supervisor decides, which would take more than numbers.
fn supervised(support: ConfinementSupport) -> Built<BpfProgram> {
    let mut rules: Rules = [(libc::SYS_connect, Vec::new())].into();
    if !support.keeps_signals() {
        rules.insert(libc::SYS_kill, Vec::new());
        rules.insert(libc::SYS_fcntl, one_of(1, &[libc::F_SETOWN.unsigned_abs()])?);
    }
    let mut program = filter(rules, SeccompAction::Allow, SeccompAction::Trace(0))?;
    // seccompiler knows no notifications: what would go to a tracer goes to the supervisor.
    for instruction in &mut program {
        let returns = u32::from(instruction.code) == libc::BPF_RET | libc::BPF_K;
        if returns && instruction.k == libc::SECCOMP_RET_TRACE {
            instruction.k = libc::SECCOMP_RET_USER_NOTIF;
        }
    }
    Ok(program)
}

/// What concerns no other process.
const OWN_FCNTL: [u32; 6] = [
    libc::F_DUPFD.unsigned_abs(),
    libc::F_DUPFD_CLOEXEC.unsigned_abs(),
    libc::F_GETFD.unsigned_abs(),
    libc::F_SETFD.unsigned_abs(),
    libc::F_GETFL.unsigned_abs(),
    libc::F_SETFL.unsigned_abs(),
];

const FCNTL: [u32; 9] = [
    libc::F_DUPFD.unsigned_abs(),
    libc::F_DUPFD_CLOEXEC.unsigned_abs(),
    libc::F_GETFD.unsigned_abs(),
    libc::F_SETFD.unsigned_abs(),
    libc::F_GETFL.unsigned_abs(),
    libc::F_SETFL.unsigned_abs(),
    libc::F_GETOWN.unsigned_abs(),
    libc::F_SETOWN.unsigned_abs(),
    // `F_SETSIG` (`include/uapi/asm-generic/fcntl.h`).
    10,
];

/// What asks a file, and changes nothing of a device.
const IOCTL: [u32; 6] = [
    libc::TCGETS as u32,
    libc::TIOCGWINSZ as u32,
    libc::FIONREAD as u32,
    libc::FIONBIO as u32,
    libc::FIOASYNC as u32,
    libc::FIOCLEX as u32,
];

/// All that begins with a program of its own: no PTRACE_ATTACH and no PTRACE_SEIZE.
const PTRACE: [i32; 19] = [
    libc::PTRACE_TRACEME as i32,
    libc::PTRACE_PEEKDATA as i32,
    libc::PTRACE_PEEKUSER as i32,
    libc::PTRACE_POKEDATA as i32,
    libc::PTRACE_POKEUSER as i32,
    libc::PTRACE_CONT as i32,
    libc::PTRACE_KILL as i32,
    libc::PTRACE_SINGLESTEP as i32,
    libc::PTRACE_GETREGS as i32,
    libc::PTRACE_SETREGS as i32,
    libc::PTRACE_GETFPREGS as i32,
    libc::PTRACE_SETFPREGS as i32,
    libc::PTRACE_SYSCALL as i32,
    libc::PTRACE_SETOPTIONS as i32,
    libc::PTRACE_GETSIGINFO as i32,
    libc::PTRACE_GETREGSET as i32,
    libc::PTRACE_SETREGSET as i32,
    // PTRACE_SYSEMU and PTRACE_SYSEMU_SINGLESTEP (`arch/x86/include/uapi/asm/ptrace-abi.h`).
    31,
    32,
];

/// What is allowed whatever its arguments are.
const UNCONDITIONAL: &[i64] = &[
    // Memory.
    libc::SYS_brk,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_msync,
    libc::SYS_mincore,
    // Files that are open.
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_lseek,
    libc::SYS_close,
    libc::SYS_close_range,
    libc::SYS_dup,
    libc::SYS_dup2,
    libc::SYS_dup3,
    libc::SYS_fstat,
    libc::SYS_fstatfs,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_ftruncate,
    libc::SYS_fallocate,
    libc::SYS_getdents64,
    // Names: Landlock says where they may change.
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_statfs,
    libc::SYS_access,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_readlink,
    libc::SYS_readlinkat,
    libc::SYS_getcwd,
    libc::SYS_chdir,
    libc::SYS_umask,
    libc::SYS_rmdir,
    libc::SYS_unlink,
    libc::SYS_unlinkat,
    libc::SYS_link,
    libc::SYS_linkat,
    libc::SYS_symlink,
    libc::SYS_symlinkat,
    libc::SYS_rename,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    // Waiting.
    libc::SYS_pipe,
    libc::SYS_pipe2,
    libc::SYS_eventfd2,
    libc::SYS_epoll_create,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_wait,
    libc::SYS_epoll_pwait,
    libc::SYS_poll,
    libc::SYS_ppoll,
    libc::SYS_select,
    libc::SYS_pselect6,
    libc::SYS_futex,
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_sched_yield,
    libc::SYS_restart_syscall,
    // Sockets that are connected. The supervisor says to whom.
    libc::SYS_connect,
    libc::SYS_sendmsg,
    libc::SYS_recvmsg,
    libc::SYS_shutdown,
    libc::SYS_getsockopt,
    // Time.
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_gettimeofday,
    libc::SYS_time,
    libc::SYS_timer_create,
    libc::SYS_timer_settime,
    libc::SYS_timer_gettime,
    libc::SYS_timer_getoverrun,
    libc::SYS_timer_delete,
    libc::SYS_setitimer,
    libc::SYS_getitimer,
    // Signals. Landlock or the supervisor says to whom.
    libc::SYS_kill,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigpending,
    libc::SYS_rt_sigsuspend,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_sigaltstack,
    // Of its own process alone.
    libc::SYS_signalfd4,
    // Processes: its own, and those that it traces.
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_fork,
    libc::SYS_vfork,
    libc::SYS_wait4,
    libc::SYS_waitid,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_ptrace,
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_gettid,
    libc::SYS_getpgrp,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_getrlimit,
    libc::SYS_setrlimit,
    libc::SYS_sched_getaffinity,
    libc::SYS_getcpu,
    libc::SYS_personality,
    libc::SYS_uname,
    libc::SYS_getrandom,
    libc::SYS_seccomp,
    // Its registers and its C library's.
    libc::SYS_arch_prctl,
    libc::SYS_modify_ldt,
    libc::SYS_get_thread_area,
    libc::SYS_set_thread_area,
    libc::SYS_set_tid_address,
    libc::SYS_set_robust_list,
    libc::SYS_rseq,
    libc::SYS_membarrier,
];
