//! A disklab that is killed with SIGKILL at any moment while it makes arrays,
//! volume groups and mappings leaves nothing that the next start does not find.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::support::{LOOPS, LoopFixture, can, leftovers, stack};
use disklab_exec::Executor;
use disklab_stack::{Recovery, recover};
use disklab_units::Bytes;

/// Set in the process that is to be killed.
const ROLE: &str = "DISKLAB_TEST_IS_VICTIM";

/// Makes and tears down a stack again and again until killed.
fn victim(text: &str, drives: usize) -> ! {
    let mut fixture = LoopFixture::new(drives, Bytes::mib(64));
    println!("\nvictim {}", fixture.path().display());
    std::io::stdout().flush().expect("flush");
    let stack = stack(text, drives);
    loop {
        let mark = fixture.ledger.mark();
        fixture.make(&stack).expect("made");
        fixture.tear_down_to(mark);
    }
}

/// Leaves nothing behind, also where the test fails.
struct Victim {
    child: Child,
    directory: PathBuf,
}

impl Victim {
    /// Starts this program again, for this test only, in the other role, and
    /// waits until its drives are attached.
    fn start(test: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", &format!("killed_arrays::{test}"), "--nocapture"])
            .env(ROLE, "1")
            .stdout(Stdio::piped())
            .spawn()
            .expect("victim");
        let lines = BufReader::new(child.stdout.take().expect("stdout")).lines();
        let directory = lines
            .map_while(Result::ok)
            .find_map(|l| l.strip_prefix("victim ").map(PathBuf::from))
            .expect("it is ready");
        Self { child, directory }
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
        recover(&self.directory.join("state"), &Executor::default());
        let _ = std::fs::remove_dir(self.directory.join("state"));
        let _ = std::fs::remove_dir(&self.directory);
    }
}

fn killed_at_any_moment(test: &str, text: &str, drives: usize) {
    if std::env::var_os(ROLE).is_some() {
        victim(text, drives);
    }
    if !can(&[stack(text, drives).needs(), LOOPS.to_vec()].concat()) {
        return;
    }
    for round in 0..16_u64 {
        let mut victim = Victim::start(test);
        std::thread::sleep(Duration::from_millis(83 * round));
        victim.kill();
        let directory = &victim.directory;
        let Recovery { left, errors, .. } = recover(&directory.join("state"), &Executor::default());
        assert!(left.is_empty(), "{text}, round {round}: {left:?}");
        assert!(errors.is_empty(), "{text}, round {round}: {errors:?}");
        // A loop device is detached only when nothing is built on it any more.
        assert!(
            leftovers(directory).is_empty(),
            "{text}, round {round}: {:?}",
            leftovers(directory)
        );
        assert_eq!(links(victim.child.id()), Vec::<String>::new(), "{text}, round {round}");
        let left =
            |directory: &Path| std::fs::read_dir(directory).expect("directory").flatten().count();
        assert_eq!(
            (left(directory), left(&directory.join("state"))),
            (1, 0),
            "{text}, round {round}"
        );
    }
}

/// What is left below `/dev/md` of a victim.
fn links(pid: u32) -> Vec<String> {
    let entries = std::fs::read_dir("/dev/md").into_iter().flatten().flatten();
    entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with(&format!("disklab-t{pid}x")))
        .collect()
}

#[test]
fn shr() {
    killed_at_any_moment("shr", "shr/ext4", 2);
}

#[test]
fn luks_on_a_mirror() {
    killed_at_any_moment("luks_on_a_mirror", "md-raid1/crypt/ext4", 2);
}

#[test]
fn a_mirror_with_checksums() {
    killed_at_any_moment("a_mirror_with_checksums", "integrity/md-raid1/ext4", 2);
}

#[test]
fn lvm() {
    killed_at_any_moment("lvm", "lvm[stripes=2]/ext4", 2);
}

#[test]
fn a_journal() {
    killed_at_any_moment("a_journal", "md-raid5{journal=4}/ext4", 4);
}
