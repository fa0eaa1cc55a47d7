//! Whether the programs at a terminal wait for their user.
//!
//! In virtual time a waiting program lets years go by between two keystrokes, unless
//! somebody sees that it waits. The kernel does not say what a program waits for,
//! but where in it the program sleeps (`/proc/PID/wchan`).

use std::fs;
use std::path::Path;

use rustix::process::Pid;

/// Where programs sleep that read a terminal, or look for something to read there
/// and elsewhere (`n_tty_read` in `drivers/tty/n_tty.c`, `fs/select.c`,
/// `fs/eventpoll.c`).
const FOR_INPUT: &[&str] = &[
    "wait_woken",
    "n_tty_read",
    "do_select",
    "core_sys_select",
    "do_poll",
    "do_sys_poll",
    "poll_schedule_timeout",
    "ep_poll",
    "do_epoll_wait",
];
/// Where programs sleep that wait for another program, which counts instead
/// (`kernel/exit.c`, `fs/pipe.c`, `kernel/futex`, `kernel/signal.c`).
const FOR_OTHERS: &[&str] = &[
    "do_wait",
    "anon_pipe_read",
    "pipe_read",
    "futex_wait",
    "sigsuspend",
    "do_signal_stop",
    "do_sigtimedwait",
];

/// A thread of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Task {
    /// As in the third field of `/proc/PID/stat`.
    state: char,
    /// Where in the kernel it sleeps.
    place: String,
    /// It has a terminal open.
    has_terminal: bool,
}

/// Whether the programs of the process group `group`, which is in the foreground,
/// wait for nothing but their user.
pub fn group_waits(group: Pid) -> bool {
    // Most often the first of a group shows already that it works.
    let leader = group.as_raw_nonzero().get().to_string();
    let first = tasks(&leader);
    if first.iter().any(is_busy) {
        return false;
    }
    let mut all = first;
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(|c: char| c.is_ascii_digit())
            && *name != *leader
            && group_of(&name).as_deref() == Some(leader.as_str())
        {
            all.extend(tasks(&name));
        }
    }
    wait(&all)
}

/// Whether somebody waits for input, and nobody for anything else.
fn wait(tasks: &[Task]) -> bool {
    tasks.iter().any(reads) && !tasks.iter().any(is_busy)
}

fn reads(task: &Task) -> bool {
    task.state == 'S' && task.has_terminal && is_at(task, FOR_INPUT)
}

fn is_busy(task: &Task) -> bool {
    match task.state {
        // Stopped, or ended.
        'T' | 't' | 'Z' | 'X' => false,
        'S' => !is_at(task, FOR_OTHERS) && !reads(task),
        _ => true,
    }
}

/// Compilers append words to a function's name, such as `.isra.0`.
fn is_at(task: &Task, places: &[&str]) -> bool {
    let place = task.place.split('.').next().unwrap_or_default();
    places.contains(&place)
}

fn tasks(process: &str) -> Vec<Task> {
    let folder = Path::new("/proc").join(process);
    let has_terminal = fs::read_dir(folder.join("fd"))
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|fd| fs::read_link(fd.path()).ok())
        .any(|target| target.starts_with("/dev/pts") || target == Path::new("/dev/tty"));
    fs::read_dir(folder.join("task"))
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|task| {
            let stat = fs::read_to_string(task.path().join("stat")).ok()?;
            let place = fs::read_to_string(task.path().join("wchan")).unwrap_or_default();
            let state = field(&stat, 0)?.chars().next()?;
            Some(Task { state, place, has_terminal })
        })
        .collect()
}

/// The process group of a process, the fifth field of `/proc/PID/stat`.
fn group_of(process: &str) -> Option<String> {
    let stat = fs::read_to_string(Path::new("/proc").join(process).join("stat")).ok()?;
    field(&stat, 2).map(str::to_owned)
}

/// A field of `/proc/PID/stat` after the program's name, which may hold anything.
fn field(stat: &str, number: usize) -> Option<&str> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(state: char, place: &str, has_terminal: bool) -> Task {
        Task { state, place: place.to_owned(), has_terminal }
    }

    #[test]
    fn who_reads_a_terminal_waits_for_its_user() {
        let shell = task('S', "do_select", true);
        let parent = task('S', "do_wait", true);
        let sleeper = task('S', "hrtimer_nanosleep", true);
        assert!(wait(std::slice::from_ref(&shell)));
        assert!(wait(&[task('S', "do_select.constprop.0", true)]));
        assert!(wait(&[parent.clone(), shell.clone()]), "a menu that was started by a script");
        assert!(!wait(&[parent.clone(), sleeper.clone()]));
        assert!(!wait(&[shell.clone(), sleeper]), "a program that waits for one that sleeps");
        assert!(!wait(&[parent]), "for a program in the background");
        assert!(!wait(&[task('S', "do_poll", false)]));
        assert!(!wait(&[shell.clone(), task('D', "io_schedule", false)]));
        assert!(!wait(&[shell.clone(), task('R', "0", false)]));
        assert!(wait(&[shell, task('Z', "0", false), task('T', "do_signal_stop", true)]));
        assert!(!wait(&[]));
    }

    #[test]
    fn names_of_programs_may_hold_anything() {
        let stat = "12 (a) S (b) 7) R 1 12 12 0";
        assert_eq!((field(stat, 0), field(stat, 2)), (Some("R"), Some("12")));
        assert_eq!(field("", 0), None);
        assert_eq!(field("1 (x", 0), None);
    }
}
