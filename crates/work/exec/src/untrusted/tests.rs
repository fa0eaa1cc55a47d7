use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use super::*;

fn fifo(path: &Path) {
    rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
}

/// A directory with all that a guest could leave, and one that is the user's.
fn fixture() -> (tempfile::TempDir, UntrustedDirectory, PathBuf) {
    let place = tempfile::tempdir().unwrap();
    let (guest, user) = (place.path().join("guest"), place.path().join("user"));
    fs::create_dir(&guest).unwrap();
    fs::create_dir(&user).unwrap();
    fs::write(user.join("secret"), "secret").unwrap();
    fs::write(guest.join("plain"), "plain").unwrap();
    symlink(user.join("secret"), guest.join("link")).unwrap();
    symlink(&user, guest.join("directory-link")).unwrap();
    fifo(&guest.join("fifo"));
    fs::create_dir(guest.join("inner")).unwrap();
    fs::write(guest.join("inner/file"), "inner").unwrap();
    symlink("../plain", guest.join("inner/link")).unwrap();
    fs::File::create(guest.join("huge")).unwrap().set_len(1 << 40).unwrap();
    let untrusted = UntrustedDirectory::open(&guest).unwrap();
    (place, untrusted, user)
}

#[test]
fn reading_follows_no_link_and_waits_for_no_pipe() {
    let (_place, guest, _) = fixture();
    let began = Instant::now();
    assert_eq!(guest.read("plain", 5).unwrap(), b"plain");
    for name in ["link", "directory-link", "fifo", "inner", "inner/link", "..", "."] {
        guest.read(name, 100).expect_err(name);
    }
    assert!(guest.directory("directory-link").is_err());
    assert_eq!(guest.read("none", 5).unwrap_err().kind(), io::ErrorKind::NotFound);
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[test]
fn reading_is_bounded() {
    let (_place, guest, _) = fixture();
    assert!(guest.read("plain", 4).is_err());
    assert!(guest.read("huge", 1 << 20).is_err());
}

#[test]
fn writing_replaces_a_link_instead_of_its_target() {
    let (_place, guest, user) = fixture();
    // The name that is used meanwhile may be a link, too.
    symlink(user.join("secret"), guest.path().join("link.unfinished")).unwrap();
    guest.write("link", b"new").unwrap();
    guest.write("fifo", b"new").unwrap();
    assert_eq!(fs::read(user.join("secret")).unwrap(), b"secret");
    for name in ["link", "fifo"] {
        assert!(fs::symlink_metadata(guest.path().join(name)).unwrap().is_file());
        assert_eq!(fs::read(guest.path().join(name)).unwrap(), b"new");
    }
    assert!(guest.write("../out", b"x").is_err());
    assert!(guest.write("inner", b"x").is_err());
    assert!(!guest.path().join("inner.unfinished").exists());
}

#[test]
fn copying_takes_files_and_directories_only() {
    let (place, guest, user) = fixture();
    let to = place.path().join("to");
    fs::create_dir(&to).unwrap();
    let copy = UntrustedDirectory::open(&to).unwrap();
    let mut left = Vec::new();
    let mut note = |path: &Path, why| {
        left.push((path.strip_prefix(guest.path()).unwrap().display().to_string(), why));
    };
    copy.copy_all(&guest, 1 << 20, &mut note).unwrap();
    left.sort_by(|a, b| a.0.cmp(&b.0));
    let expected = [
        ("directory-link", LeftBehind::Link),
        ("fifo", LeftBehind::Special),
        ("huge", LeftBehind::TooLarge),
        ("inner/link", LeftBehind::Link),
        ("link", LeftBehind::Link),
    ];
    assert_eq!(left, expected.map(|(name, why)| (name.to_owned(), why)));
    assert_eq!(fs::read_to_string(to.join("inner/file")).unwrap(), "inner");
    assert_eq!(fs::read_dir(&to).unwrap().count(), 2);
    assert_eq!(fs::read_dir(user).unwrap().count(), 1);
}

#[test]
fn the_end_of_a_long_file_is_copied() {
    let (place, guest, _) = fixture();
    let copies = place.path().join("copies");
    fs::create_dir(&copies).unwrap();
    let to = UntrustedDirectory::open(&copies).unwrap();
    to.copy_end(&guest, "huge", 1000).unwrap();
    assert_eq!(fs::metadata(copies.join("huge")).unwrap().len(), 1000);
    to.copy_end(&guest, "plain", 2).unwrap();
    assert_eq!(fs::read_to_string(copies.join("plain")).unwrap(), "in");
    to.copy_end(&guest, "link", 1000).expect_err("a link");
}

#[test]
fn a_directory_that_is_a_link_is_not_opened() {
    let (_place, guest, _) = fixture();
    assert!(UntrustedDirectory::open(&guest.path().join("directory-link")).is_err());
    assert!(UntrustedDirectory::open(&guest.path().join("fifo")).is_err());
}
