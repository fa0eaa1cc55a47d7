//! A disklab that is killed with SIGKILL leaves a stack, and a program that
//! still uses it; the next start tears both down.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use std::time::Duration;

use crate::support::{LOOPS, LoopFixture, can, leftovers, stack};
use disklab_exec::{Executor, OWNER_VARIABLE, owner};
use disklab_stack::{Recovery, recover};
use disklab_units::Bytes;

/// Set in the process that is to be killed.
const ROLE: &str = "DISKLAB_TEST_IS_VICTIM";
const STACK: &str = "partition/xfs/loop-file[size=64M]/ext4";

/// Makes a stack, starts a worker in it, tells where, and waits to be killed.
fn victim() -> ! {
    let mut fixture = LoopFixture::new(1, Bytes::mib(600));
    let made = fixture.make(&stack(STACK, 1)).expect("made");
    // As fio's workers do, it outlives its parent.
    let mut worker = Command::new("sleep")
        .arg("1000")
        .env(OWNER_VARIABLE, owner())
        .current_dir(&made.directory)
        .process_group(0)
        .stdout(Stdio::null())
        .spawn()
        .expect("worker");
    println!(
        "\nvictim {} {} {}",
        worker.id(),
        fixture.drives[0].display(),
        fixture.path().display()
    );
    std::io::stdout().flush().expect("flush");
    let _ = worker.wait();
    panic!("nobody has killed it");
}

/// Leaves nothing behind, also where the test fails.
struct Victim {
    child: Child,
    directory: Option<PathBuf>,
}

impl Victim {
    /// Starts this program again, for this test only, in the other role.
    fn start(test: &str) -> Self {
        let child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", &format!("killed::{test}"), "--nocapture"])
            .env(ROLE, "1")
            .stdout(Stdio::piped())
            .spawn()
            .expect("victim");
        Self { child, directory: None }
    }

    /// Waits until it is ready, and returns what it says then.
    fn ready(&mut self) -> String {
        let lines = BufReader::new(self.child.stdout.take().expect("stdout")).lines();
        lines
            .map_while(Result::ok)
            .find_map(|l| l.strip_prefix("victim ").map(str::to_owned))
            .expect("it is ready")
    }

    fn kill(&mut self) {
        self.child.kill().expect("kill -9");
        self.child.wait().expect("dead");
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(directory) = &self.directory {
            recover(&directory.join("state"), &Executor::default());
            let _ = std::fs::remove_dir(directory.join("state"));
            let _ = std::fs::remove_dir(directory);
        }
    }
}

#[test]
fn leftovers_of_a_killed_owner_are_torn_down() {
    if std::env::var_os(ROLE).is_some() {
        victim();
    }
    if !can(&[stack(STACK, 1).needs(), LOOPS.to_vec()].concat()) {
        return;
    }
    let mut victim = Victim::start("leftovers_of_a_killed_owner_are_torn_down");
    let line = victim.ready();
    let mut words = line.splitn(3, ' ').map(str::to_owned);
    let mut word = || words.next().expect("a word");
    let (worker, drive, directory) = (word(), PathBuf::from(word()), PathBuf::from(word()));
    victim.directory = Some(directory.clone());
    let state = directory.join("state");
    let executor = Executor::default();

    let Recovery { done, errors, .. } = recover(&state, &executor);
    assert!(done.is_empty() && errors.is_empty(), "its owner lives: {done:?} {errors:?}");
    let left_before = leftovers(&directory);
    assert_eq!(left_before.len(), 4, "two mounts, two loop devices: {left_before:?}");

    victim.kill();
    assert_eq!(leftovers(&directory), left_before, "nobody has taken it down yet");
    assert!(is_alive(&worker));

    let Recovery { done, errors, .. } = recover(&state, &executor);
    assert!(errors.is_empty(), "{errors:?}");
    assert!(leftovers(&directory).is_empty(), "{:?}", leftovers(&directory));
    assert!(!is_alive(&worker), "the worker was killed");
    assert!(!Path::new(&format!("{}p1", drive.display())).exists());
    for thing in ["the mount at", "the loop device on", "the partitions of", "the directory"] {
        assert!(done.iter().any(|d| d.contains(thing)), "{thing}: {done:?}");
    }
    let left: Vec<_> = std::fs::read_dir(&state).expect("state").flatten().collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(recover(&state, &executor).done, Vec::<String>::new(), "twice is once");
    // Empty directories only: this would fail otherwise.
    std::fs::remove_dir(&state).expect("state directory");
    std::fs::remove_dir(&directory).expect("fixture's directory");
}

/// Makes the stack again and again until killed.
fn busy_victim() -> ! {
    let mut fixture = LoopFixture::new(1, Bytes::mib(600));
    println!("\nvictim {}", fixture.path().display());
    std::io::stdout().flush().expect("flush");
    let stack = stack(STACK, 1);
    loop {
        let mark = fixture.ledger.mark();
        fixture.make(&stack).expect("made");
        fixture.tear_down_to(mark);
    }
}

#[test]
fn an_owner_may_be_killed_at_any_moment() {
    if std::env::var_os(ROLE).is_some() {
        busy_victim();
    }
    if !can(&[stack(STACK, 1).needs(), LOOPS.to_vec()].concat()) {
        return;
    }
    for round in 0..12_u64 {
        let mut victim = Victim::start("an_owner_may_be_killed_at_any_moment");
        let directory = PathBuf::from(victim.ready());
        victim.directory = Some(directory.clone());
        // Steps of creation and teardown take about this long.
        std::thread::sleep(Duration::from_millis(37 * round));
        victim.kill();
        let Recovery { left, errors, .. } = recover(&directory.join("state"), &Executor::default());
        assert!(left.is_empty(), "round {round}: {left:?}");
        assert!(errors.is_empty(), "round {round}: {errors:?}");
        assert!(leftovers(&directory).is_empty(), "round {round}: {:?}", leftovers(&directory));
        let left =
            |directory: &Path| std::fs::read_dir(directory).expect("directory").flatten().count();
        assert_eq!((left(&directory), left(&directory.join("state"))), (1, 0), "round {round}");
    }
}

fn is_alive(pid: &str) -> bool {
    // Its parent is dead, so it may stay a zombie where nobody reaps.
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| stat.contains("(sleep)") && !stat.contains(") Z "))
}
