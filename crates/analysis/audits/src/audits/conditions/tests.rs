use disklab_cell::PlannedLayer;
use disklab_sample::{
    ArrayState, Clock, Conditions, DriveConditions, DrivePass, Environment, MemoryActivity, Pool,
    Power, Sample, Step,
};
use disklab_study::PlannedStack;

use super::*;
use crate::testing::{RunFixture, step, trace};

/// What is found in a run of one cell.
fn texts(audit: &Audit, bench: &str, conditions: Conditions) -> Vec<String> {
    let mut fixture = RunFixture::new("");
    fixture.info.bench = bench.parse().expect("a bench");
    fixture.under("single/ext4", "dd-4k", 0, conditions);
    fixture.texts(audit.name)
}

/// Holds that each of these is found with these words, or not at all.
fn check<const N: usize>(audit: &Audit, cases: [(Conditions, Option<&str>); N]) {
    for (conditions, expected) in cases {
        let found = texts(audit, "dir:/x", conditions.clone());
        match (expected, found.as_slice()) {
            (None, []) => {}
            (Some(words), [text]) if text.contains(words) => {}
            _ => panic!("{}: {conditions:?}: {found:?}", audit.name),
        }
    }
}

fn on(beneath: &str, aes: Option<bool>) -> Conditions {
    Conditions { beneath: vec![beneath.to_owned()], aes, ..Conditions::default() }
}

#[test]
fn power_is_reported() {
    let power = |throttled, on_battery| Conditions {
        power: Power { throttled, on_battery },
        ..Conditions::default()
    };
    let on = "ran on its battery in the only cell";
    check(
        &ON_BATTERY,
        [
            (power(None, Some(true)), Some(on)),
            (power(None, Some(false)), None),
            (power(None, None), None),
        ],
    );
    check(
        &THROTTLED,
        [
            (power(Some(12), None), Some("12 times in the worst")),
            (power(Some(0), None), None),
            (power(None, None), None),
        ],
    );
}

#[test]
fn memory_that_runs_out_is_reported() {
    let memory = |swapped_out, killed| Conditions {
        memory: Some(MemoryActivity { swapped_in: 4096, swapped_out, killed }),
        ..Conditions::default()
    };
    check(
        &SWAPPING,
        [
            (memory(200_000_000, 0), Some("at most 200 MB in one.")),
            (memory(0, 2), Some("killed 2 processes")),
            (memory(0, 1), Some("killed a process because")),
            (memory(1 << 20, 0), None),
            (memory((16 << 20) - 4096, 0), None),
            (memory((16 << 20) - 4095, 0), Some("at most 16.8 MB in one.")),
        ],
    );
    let mut fixture = RunFixture::new("");
    for block in 0..2 {
        fixture.under("single/ext4", "dd-4k", block, memory(0, 2));
    }
    assert!(fixture.texts(SWAPPING.name)[0].contains("killed 4 processes"), "of all cells");
}

#[test]
fn what_lies_beneath_is_reported() {
    check(
        &SNAPSHOT_PRESENT,
        [(on("snapshot", None), Some("LVM snapshot")), (on("encryption", None), None)],
    );
    check(
        &SLOW_ENCRYPTION,
        [
            (on("encryption", Some(false)), Some("no instructions for AES")),
            (on("encryption", Some(true)), None),
            (on("snapshot", Some(false)), None),
            (on("encryption", None), None),
        ],
    );
    assert!(texts(&SLOW_ENCRYPTION, "lab", on("encryption", Some(false))).is_empty());
    let room = |free| {
        let room = Some((free, 1_000_000_000));
        let drives = vec![DriveConditions { room, ..DriveConditions::default() }];
        Conditions { drives, ..Conditions::default() }
    };
    let full = "95 % full in the only cell, with 50 MB left";
    check(&HOST_NEARLY_FULL, [(room(50_000_000), Some(full)), (room(200_000_000), None)]);
    let mut two = room(50_000_000);
    two.drives.extend(room(30_000_000).drives);
    two.drives.push(DriveConditions { room: Some((0, 0)), ..DriveConditions::default() });
    check(&HOST_NEARLY_FULL, [(two, Some("97 % full in the only cell, with 30 MB left"))]);
    let mut fixture = RunFixture::new("[stacks]\nsecret = \"crypt/ext4\"");
    fixture.info.bench = "dir:/x".parse().expect("a bench");
    fixture.under("single/ext4", "dd-4k", 0, on("nothing", Some(false)));
    assert_eq!(fixture.findings(SLOW_ENCRYPTION.name), []);
    fixture.under("secret", "dd-4k", 0, on("nothing", Some(false)));
    let found = fixture.texts(SLOW_ENCRYPTION.name);
    assert!(found[0].contains("of 1 of 2 cells (dd-4k with secret) are"), "{found:?}");
}

#[test]
fn clocks_are_reported() {
    let source = |name: &str| {
        let clock = Clock { source: Some(name.to_owned()), ..Clock::default() };
        Conditions { clock: Some(clock), ..Conditions::default() }
    };
    check(
        &COARSE_CLOCK,
        [
            (source("hpet"), Some("clock was hpet in the only cell")),
            (source("refined-jiffies"), Some("refined-jiffies")),
            (source("tsc"), None),
            (source("kvm-clock"), None),
            (source("timer"), None),
        ],
    );
    let stepped = |stepped_ms, slept_ms| {
        let clock = Clock { source: None, stepped_ms, slept_ms, elapsed_ms: 60_000 };
        Conditions { clock: Some(clock), ..Conditions::default() }
    };
    check(
        &CLOCK_STEPPED,
        [
            (stepped(-2500, 0), Some("The wall clock was set by 2.5 s")),
            (stepped(0, 90_000), Some("The machine slept for 90.0 s")),
            // As NTP slews it in a minute, and a tenth of a second.
            (stepped(30, 0), None),
            (stepped(-160, 0), None),
            (stepped(161, 0), Some("The wall clock was set by 0.2 s")),
            (stepped(0, 161), Some("The machine slept for 0.2 s")),
        ],
    );
}

#[test]
fn degraded_arrays_are_reported() {
    let arrays = |missing, state: &str| Conditions {
        arrays: vec![ArrayState { name: "md0".into(), level: Some("raid5".into()), missing }],
        pools: vec![Pool { name: "p".into(), state: Some(state.into()), ..Pool::default() }],
        ..Conditions::default()
    };
    check(
        &DEGRADED_ARRAY,
        [
            (arrays(1, "ONLINE"), Some("In the only cell: md0 (raid5) lacks 1 of its")),
            (arrays(0, "DEGRADED"), Some("the pool p is DEGRADED")),
            (arrays(0, "ONLINE"), None),
        ],
    );
}

#[test]
fn limits_of_a_control_group_are_reported() {
    let mut fixture = RunFixture::new("");
    fixture.under("single/ext4", "dd-4k", 0, Conditions::default());
    assert_eq!(fixture.findings(CONTROL_GROUP_LIMITS.name), []);
    let limits = vec!["io.max 8:0 rbps=1048576".to_owned()];
    fixture.under("raid1/ext4", "dd-4k", 0, Conditions { limits, ..Conditions::default() });
    let texts = fixture.texts(CONTROL_GROUP_LIMITS.name);
    assert!(texts[0].contains("1 of 2 cells (dd-4k with raid1/ext4): io.max 8:0"), "{texts:?}");
}

#[test]
fn failed_programs_are_reported() {
    let texts = |argv: &[&str], status: &str| {
        let mut fixture = RunFixture::new("");
        let sample = Sample { trace: vec![trace(argv, status)], ..Sample::default() };
        fixture.full_sample("single/ext4", "dd-4k", 0, sample);
        fixture.texts(TOOL_FAILED.name)
    };
    let found = texts(&["/usr/bin/fio", "job"], "exit code 1");
    assert!(found[0].contains("in the only cell (fio: exit code 1)"), "{found:?}");
    assert!(texts(&["fio", "job"], "0").is_empty());
    assert!(texts(&["hdparm", "-I", "/dev/sda"], "exit code 5").is_empty());
    assert!(texts(&["blkid", "-p", "/dev/sda"], "exit code 2").is_empty());
}

#[test]
fn an_array_that_is_rebuilt_on_purpose_lacks_a_member() {
    let array = ArrayState { name: "md0".into(), level: None, missing: 2 };
    let conditions = Some(Conditions { arrays: vec![array], ..Conditions::default() });
    let environment = Environment { conditions, ..Environment::default() };
    for (rebuild, expected) in [(None, 1), (Some(DrivePass::default()), 0)] {
        let mut fixture = RunFixture::new("");
        let steps = vec![Step { rebuild, ..step("s", Vec::new()) }];
        let environment = environment.clone();
        let sample = Sample { steps, environment, ..Sample::default() };
        fixture.full_sample("single/ext4", "dd-4k", 0, sample);
        let found = fixture.texts(DEGRADED_ARRAY.name);
        assert_eq!(found.len(), expected, "{found:?}");
        assert!(found.iter().all(|text| text.contains(": md0 lacks 2 of its")), "{found:?}");
    }
}

#[test]
fn drives_of_another_size_or_firmware_are_others() {
    let drive = |firmware: &str, size_bytes| DriveState {
        firmware: Some(firmware.into()),
        size_bytes,
        ..DriveState::default()
    };
    for (other, expected) in [
        (drive("1", 4_000_000_000), None),
        (drive("1", 8_000_000_000), Some("1 4 GB (single/ext4); 1 8 GB (raid1/ext4).")),
        (drive("2", 0), Some("1 4 GB (single/ext4); 2 (raid1/ext4).")),
    ] {
        let sides = [("single/ext4", vec![drive("1", 4_000_000_000)]), ("raid1/ext4", vec![other])];
        let found = differing(&DRIVES_DIFFER, "", sides);
        assert_eq!(found.len(), usize::from(expected.is_some()), "{found:?}");
        assert!(expected.is_none_or(|words| found[0].contains(words)), "{found:?}");
    }
}

/// What is found if two stacks' cells ran in these environments.
fn differing(audit: &Audit, more: &str, sides: [(&str, Vec<DriveState>); 2]) -> Vec<String> {
    let mut fixture = RunFixture::new(more);
    for (stack, drives) in sides {
        fixture.around(stack, "dd-4k", 0, Environment { drives, ..Environment::default() });
    }
    fixture.texts(audit.name)
}

#[test]
fn drives_of_other_models_are_reported_and_more_of_one_are_not() {
    let drive = |model: &str, serial: &str| DriveState {
        model: Some(model.into()),
        serial: Some(serial.into()),
        ..DriveState::default()
    };
    for (others, expected) in [
        (vec![drive("Red", "2")], 1),
        (vec![drive("Blue", "2"), drive("Red", "3")], 1),
        (vec![drive("Blue", "2"), drive("Blue", "3")], 0),
    ] {
        let sides = [("single/ext4", vec![drive("Blue", "1")]), ("raid1/ext4", others)];
        assert_eq!(differing(&DRIVES_DIFFER, "", sides).len(), expected);
    }
}

fn drive(name: &str, model: &str, scheduler: &str, cache: &str) -> DriveState {
    DriveState {
        drive: name.to_owned(),
        model: Some(model.to_owned()),
        scheduler: Some(scheduler.to_owned()),
        write_cache: Some(cache.to_owned()),
        ..DriveState::default()
    }
}

/// A log on a drive of another kind is no other drive below the data.
#[test]
fn drives_for_something_else_than_data_may_differ() {
    for (layers, expected) in [("zfs{log=2}", 0), ("zfs", 1)] {
        for audit in [&DRIVES_DIFFER, &SCHEDULERS_DIFFER, &WRITE_CACHES_DIFFER] {
            let mut fixture = RunFixture::new("");
            fixture.info.stacks = vec![PlannedStack {
                id: "raid1/ext4".to_owned(),
                layers: PlannedLayer::parse_notation(layers).expect("layers"),
                drives: vec!["hdd".to_owned(), "nvme".to_owned()],
                capacity: 1,
                tolerates: 0,
                loss: None,
                copies: false,
            }];
            let hdd = drive("hdd", "Blue", "mq-deadline", "write back");
            let nvme = drive("nvme", "Pro", "none", "write through");
            for (stack, drives) in
                [("single/ext4", vec![hdd.clone()]), ("raid1/ext4", vec![hdd, nvme])]
            {
                fixture.around(stack, "dd-4k", 0, Environment { drives, ..Environment::default() });
            }
            assert_eq!(fixture.texts(audit.name).len(), expected, "{} {layers}", audit.name);
        }
    }
}

/// A study of an SSD against a disk says nothing by their differences.
#[test]
fn stacks_to_which_the_study_gives_other_drives_may_differ() {
    let study = |ssd: &str| {
        format!(
            "[[drives]]\nname = 'disk'\nmodel = 'hgst-10tb'\nsize = '1 TB'\n\
             [[drives]]\nname = 'ssd'\nmodel = '{ssd}'\nsize = '1 TB'\n"
        )
    };
    let planned = |id: &str, drives: &[&str]| PlannedStack {
        id: id.to_owned(),
        layers: PlannedLayer::parse_notation("ext4").expect("layers"),
        drives: drives.iter().map(|drive| (*drive).to_owned()).collect(),
        capacity: 1,
        tolerates: 0,
        loss: None,
        copies: false,
    };
    let found = |ssd: &str, second: &[&str]| {
        let mut fixture = RunFixture::new(&study(ssd));
        fixture.info.stacks =
            vec![planned("single/ext4", &["disk"]), planned("raid1/ext4", second)];
        let disk = drive("disk", "Blue", "mq-deadline", "write back");
        let ssd = drive("ssd", "Pro", "none", "write through");
        for (stack, drives) in [("single/ext4", vec![disk]), ("raid1/ext4", vec![ssd])] {
            fixture.around(stack, "dd-4k", 0, Environment { drives, ..Environment::default() });
        }
        [&DRIVES_DIFFER, &SCHEDULERS_DIFFER, &WRITE_CACHES_DIFFER]
            .map(|audit| fixture.texts(audit.name).len())
    };
    assert_eq!(found("pm983", &["ssd"]), [0; 3], "the study compares drives");
    assert_eq!(found("hgst-10tb", &["ssd"]), [1; 3], "drives of one model turn out to be others");
    assert_eq!(
        found("pm983", &["disk", "ssd"]),
        [1; 3],
        "one has a drive of the other's model too"
    );
    // A third, on drives like the first's.
    let mut fixture = RunFixture::new(&study("pm983"));
    for (stack, planned_on, model) in [
        ("single/ext4", "disk", "Blue"),
        ("single/btrfs", "disk", "Blue"),
        ("raid1/ext4", "ssd", "Pro"),
    ] {
        fixture.info.stacks.push(planned(stack, &[planned_on]));
        let drives = vec![drive(planned_on, model, "none", "write back")];
        fixture.around(stack, "dd-4k", 0, Environment { drives, ..Environment::default() });
    }
    assert_eq!(fixture.texts(DRIVES_DIFFER.name), [""; 0]);
}

#[test]
fn other_kernels_are_reported() {
    for (other, expected) in [("6.12.2", 1), ("6.12.1", 0)] {
        let mut fixture = RunFixture::new("");
        for (block, release) in ["6.12.1", other].into_iter().enumerate() {
            let kernel = Some(release.to_owned());
            let conditions = Conditions { kernel, ..Conditions::default() };
            fixture.under("single/ext4", "dd-4k", block as u32, conditions);
        }
        assert_eq!(fixture.findings(KERNELS_DIFFER.name).len(), expected, "{other}");
    }
}

#[test]
fn schedulers_that_differ_are_reported_unless_the_study_sets_them() {
    let drives = |scheduler: Option<&str>| {
        vec![DriveState { scheduler: scheduler.map(str::to_owned), ..DriveState::default() }]
    };
    for (other, expected) in [(Some("bfq"), 1), (Some("none"), 0), (None, 0)] {
        let sides = [("single/ext4", drives(Some("none"))), ("raid1/ext4", drives(other))];
        assert_eq!(differing(&SCHEDULERS_DIFFER, "", sides).len(), expected, "{other:?}");
    }
    let set = "[stacks]\nset = \"queue[scheduler=bfq]/ext4\"\n";
    let sides = [("single/ext4", drives(Some("none"))), ("set", drives(Some("bfq")))];
    assert!(differing(&SCHEDULERS_DIFFER, set, sides).is_empty());
}

#[test]
fn write_caches_that_differ_are_reported_unless_the_study_sets_them() {
    let drives =
        |cache: &str| vec![DriveState { write_cache: Some(cache.into()), ..DriveState::default() }];
    let sides = |other| [("single/ext4", drives("write back")), ("raid1/ext4", drives(other))];
    let found = differing(&WRITE_CACHES_DIFFER, "", sides("write through"));
    assert!(found[0].contains("write back (single/ext4); write through (raid1/ext4)"), "{found:?}");
    assert!(differing(&WRITE_CACHES_DIFFER, "", sides("write back")).is_empty());
    let set = "[stacks]\non = { layers = \"ext4\", drives = 1, write-cache = \"on\" }\n\
               off = { layers = \"ext4\", drives = 1, write-cache = \"off\" }";
    let sides = [("on", drives("write back")), ("off", drives("write through"))];
    assert!(differing(&WRITE_CACHES_DIFFER, set, sides).is_empty());
}
