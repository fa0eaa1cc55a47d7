use std::collections::BTreeSet;
use std::io::Write as _;

use super::examples::{EXAMPLES, Example};
use super::unsupported::{REFUSED, UNSUPPORTED};
use super::*;
use crate::error::OptionError;
use crate::testing::{fio, job, lacks_fio, read};

#[test]
fn every_option_has_an_example() {
    let options: Vec<&str> = native_options().map(|o| o.name).collect();
    let examples: Vec<&str> = EXAMPLES.iter().map(|e| e.name).collect();
    assert_eq!(
        options.iter().copied().collect::<BTreeSet<_>>(),
        examples.iter().copied().collect::<BTreeSet<_>>()
    );
    assert_eq!(options.len(), examples.len());
}

#[test]
fn valid_values_are_read() {
    for Example { name, valid, .. } in EXAMPLES {
        for value in *valid {
            let text = format!("{name}={value}");
            if let Err(error) = job(&text) {
                panic!("{text}: {error}");
            }
        }
    }
}

#[test]
fn invalid_values_are_reported_with_their_place() {
    for Example { name, invalid, .. } in EXAMPLES {
        assert!(!invalid.is_empty() || *name == "x", "{name}");
        for (value, part) in *invalid {
            let text = format!("  {name} = {value}");
            let error = job(&text).expect_err(&text);
            assert!(error.message.contains(part), "{text}: {error}");
            // Some names are not allowed at all, and where nothing stands the whole line is
            // shown.
            let at_name = LOGS.contains(name) || value.is_empty();
            let column = if at_name { 3 } else { 6 + name.len() };
            assert_eq!((error.line, error.column), (3, column), "{text}: {error}");
        }
    }
}

#[test]
fn switches_may_stand_alone_and_others_may_not() {
    let alone =
        |o: &&OptionSpec| !(matches!(o.name, "time_based" | "name") || LOGS.contains(&o.name));
    for spec in native_options().filter(alone) {
        let result = job(spec.name);
        if spec.bare {
            assert!(result.is_ok(), "{}", spec.name);
        } else {
            let error = result.expect_err(spec.name);
            assert_eq!((error.line, error.column), (3, 1));
            assert!(error.message.contains("needs a value"), "{error}");
        }
    }
}

#[test]
fn no_option_is_listed_twice() {
    let unsupported = || UNSUPPORTED.iter().chain(REFUSED);
    let mut all: Vec<&str> = native_options()
        .flat_map(|o| o.aliases.iter().copied().chain([o.name]))
        .chain(unsupported().flat_map(|f| f.aliases.iter().copied().chain([f.name])))
        .collect();
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count);
    let words = native_options().map(|o| o.meaning).chain(unsupported().map(|f| f.what));
    for text in words {
        assert!(!text.ends_with('.') && !text.contains("  ") && !text.contains('|'), "{text}");
    }
}

#[test]
fn names_are_looked_up_by_policy() {
    let native = Policy::default();
    let study = Policy { runner: Runner::Fio, ..native };
    let plain = Policy { directory: true, folders: true, ..native };
    let error = |name: &str, policy: Policy| look_up(name, policy).expect_err(name);
    for (name, part) in [
        ("exec_prerun", "runs a program"),
        ("write_lat_log", "log files"),
        ("client", "no option 'client'"),
        ("io-depth", "did you mean 'iodepth'"),
        ("IODepth", "did you mean 'iodepth'"),
        ("szie", "did you mean 'size'"),
        ("iodepht", "did you mean 'iodepth'"),
        ("lockfile", "only one clone uses"),
        ("cpuload", "(cpuio)"),
        ("hipri", "engine = \"fio\""),
    ] {
        let message = error(name, native).to_string();
        assert!(message.contains(part), "{message}");
    }
    assert!(look_up("lockfile", study).is_ok() && look_up("write_lat_log", study).is_err());
    assert!(look_up("write_lat_log", plain).is_ok());
    assert!(look_up("directory", plain).is_ok());
    let refused = error("exec_prerun", study);
    assert!(matches!(refused, OptionError::NotAllowed { .. }), "{refused:?}");
    assert!(matches!(error("hipri", native), OptionError::OnlyFio { .. }));
    assert!(matches!(error("cpuload", native), OptionError::OtherEngine { .. }));
    assert!(matches!(error("client", native), OptionError::Unknown { .. }));
    assert_eq!(look_up("io_limit", native).map(KnownOption::name), Ok("io_size"));
    assert_eq!(look_up("ba", native).map(KnownOption::name), Ok("blockalign"));
    // The engines that only fio has.
    assert!(read("[a]\nsize=1m\nioengine=mmap", study).is_ok());
    assert!(read("[a]\nsize=1m\nlockfile=none", study).is_ok());
    assert!(read("[a]\nsize=1m\nioengine=null", native).is_err());
    assert!(read("[a]\nsize=1m\nioengine=null", plain).is_ok());
    let error = read("[a]\nsize=1m\nioengine=rados", plain).expect_err("no such engine");
    assert!(error.message.contains("distributed store"), "{error}");
    // The length of files that are there already.
    assert!(read("[a]\nfilename=f", plain).expect("allowed")[0].takes_existing_lengths());
    assert!(read("[a]\nfilename=f", native).is_err());
    for checksum in ["md5", "sha3-512", "xxhash", "crc32c"] {
        let text = format!("[a]\nsize=1m\nverify={checksum}");
        assert!(read(&text, study).is_ok(), "{checksum}");
    }
    // The plain command.
    let jobs = read("[a]\nsize=1m\ndirectory=/mnt\nfilename=sub/f:/abs", plain).expect("allowed");
    assert_eq!(jobs[0].files.directory.as_deref(), Some("/mnt"));
    assert_eq!(jobs[0].files.of(0, 0)[1].name, "/abs");
    assert!(read("[a]\nsize=1m\ndirectory=/a:/b", plain).is_err());
}

/// Values that fio 3.33 takes and that are refused here, each because of what
/// its error says: fio would do something else than what stands there.
const STRICTER: &[(&str, &str)] = &[
    ("bs", "4x"),
    ("bs", "4KiB"),
    ("bssplit", "4k/60:8k/60"),
    ("bssplit", "4k/10"),
    ("filesize", "64k-4k"),
    ("loops", "0"),
    ("runtime", "1.5"),
    ("runtime", "3sec"),
    ("thinktime_blocks", "0"),
    ("random_distribution", "zipf:0"),
    ("percentile_list", "50,99"),
    ("bwavgtime", "5s"),
    ("size", "50%"),
];

/// Taken here and described in fio's HOWTO, but not taken by fio 3.33.
const LOOSER: &[(&str, &str)] = &[("random_distribution", "zoned:50/50:50/50,90/10:10/90")];

#[test]
fn fio_takes_what_is_taken_here() {
    if fio(&["--version"]).is_none() {
        return lacks_fio();
    }
    // All at once: each value in a section of its own.
    let mut text = String::new();
    for Example { name, valid, .. } in EXAMPLES {
        for value in valid.iter().filter(|value| !LOOSER.contains(&(name, value))) {
            text.push_str(&format!("[a]\nsize=1m\nruntime=1\n{name}={value}\n"));
        }
    }
    for spec in native_options().filter(|o| o.bare) {
        text.push_str(&format!("[a]\nsize=1m\nruntime=1\n{}\n", spec.name));
    }
    // Which processors there are depends on the machine.
    let text = text.replace("cpus_allowed=0-1", "cpus_allowed=0").replace("cpumask=3", "cpumask=1");
    let (fine, said) = parse_only(&text);
    assert!(fine, "{said}");
    // And that this finds something at all.
    for (name, value) in [("bs", "0"), ("rw", "up"), ("iodepth", "0"), ("sync", "2")] {
        let (fine, said) = parse_only(&format!("[a]\nsize=1m\n{name}={value}\n"));
        assert!(!fine, "{name}={value}: {said}");
    }
    for (name, value) in STRICTER {
        let job_text = format!("{name}={value}");
        assert!(job(&job_text).is_err(), "{job_text}");
        let (fine, said) = parse_only(&format!("[a]\nsize=1m\n{job_text}\n"));
        assert!(fine, "{job_text}: {said}");
    }
}

fn parse_only(text: &str) -> (bool, String) {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(text.as_bytes()).expect("written");
    let path = file.path().to_str().expect("a name").to_owned();
    fio(&["--parse-only", &path]).expect("fio is here")
}

#[test]
fn fio_has_these_options() {
    let Some((_, all)) = fio(&["--cmdhelp=all"]) else { return lacks_fio() };
    let fios: BTreeSet<&str> =
        all.lines().filter_map(|line| line.split(':').next()).map(str::trim).collect();
    // Options that fio does not list, though it has them.
    let unlisted =
        ["blockalign", "softrandommap", "bs_is_seq_rand", "verify_state_load", "threads"];
    for spec in native_options() {
        let named = std::iter::once(spec.name).chain(spec.aliases.iter().copied());
        assert!(
            named.into_iter().any(|n| fios.contains(n) || unlisted.contains(&n)),
            "{}",
            spec.name
        );
    }
    // And none of fio's is forgotten.
    let lenient = Policy { runner: Runner::Fio, directory: true, folders: true };
    for name in fios.into_iter().filter(|n| !n.is_empty()) {
        let result = look_up(name, lenient);
        let known = result.is_ok() || REFUSED.iter().any(|f| f.name == name);
        assert!(known, "{name}");
    }
}
