//! What a stack holds, and a guest that is gone did not tear down, is there again in the next guest
//! that assembles it: all layers, on drives whose names have changed.
//!
//! The guest runs this very program: [`in_the_guest`] is the test that does something only there.

// A test that fails here says so, as tests do.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use disklab_drive::{Nanos, shipped};
use disklab_exec::{Executor, Interrupt};
use disklab_lab::{DiskOptions, Steady};
use disklab_lab_guest::DiskTransport;
use disklab_stack::{LAYERS, LayerContext, Ledger, Machine, Made, Stack, StackError, needs_words};

use crate::support::Outcome;
use crate::support::stacks::{boot_with_self, kernel_for, parse};

/// A stack, and the sizes of its drives in MiB.
type Case = (&'static str, &'static [u64]);

const MD: &[Case] = &[
    ("md-linear/ext4", &[64, 64]),
    ("md-raid0/ext4", &[64, 64]),
    ("md-raid1[bitmap=internal]/ext4", &[64, 64]),
    ("md-raid4/ext4", &[64; 3]),
    ("md-raid5[width=3]/md-raid0/ext4", &[64; 6]),
    ("md-raid6[stripe-cache=512]/ext4", &[64; 4]),
    ("md-raid10[layout=far2]/ext4", &[64; 3]),
    ("md-raid5{journal=4}/ext4", &[64; 4]),
    ("md-raid6[resync=skip]{journal=5-6/md-raid1,spare=7}/ext4", &[64, 64, 64, 64, 96, 96, 80]),
    ("partition/md-raid4{journal=4}/ext4", &[64; 4]),
    ("shr/ext4", &[64, 160, 160]),
    // The first drive is too small for a slice.
    ("shr2/ext4", &[16, 160, 160, 192, 192]),
];

const DEVICE_MAPPER: &[Case] = &[
    ("lvm[stripes=2]/ext4", &[64, 64]),
    ("lvm-thin/ext4", &[64, 64]),
    ("lvm-raid1/ext4", &[64, 64]),
    ("lvm-raid5/ext4", &[64; 3]),
    ("lvm-raid6/ext4", &[64; 5]),
    ("lvm-raid10/ext4", &[64; 4]),
    ("queue[read-ahead=4M]/partition/crypt/md-raid1/lvm/ext4", &[128, 128]),
    ("integrity[mode=bitmap]/md-raid1/ext4", &[64, 64]),
    ("integrity/ext4", &[64]),
];

const FILE_SYSTEMS: &[Case] = &[
    ("ext4/loop-file[size=32M]/ext4", &[128]),
    ("xfs", &[320]),
    ("f2fs", &[128]),
    ("nilfs2[cleaner]", &[160]),
    ("btrfs", &[256]),
    ("btrfs-dup", &[256]),
    ("btrfs-single", &[256, 256]),
    ("btrfs-raid0", &[256, 256]),
    ("btrfs-raid1", &[256, 256]),
    ("btrfs-raid1c3", &[256; 3]),
    ("btrfs-raid1c4", &[256; 4]),
    ("btrfs-raid10", &[256; 4]),
    ("btrfs-raid5", &[256; 3]),
    ("btrfs-raid6", &[256; 4]),
];

const POOLS: &[Case] = &[
    ("zfs", &[128]),
    ("zfs-mirror[dataset,encryption=on]", &[128, 128]),
    ("zfs-raidz1[encryption=on]/zvol[count=2,size=32M]/md-raid0/ext4", &[128; 3]),
    ("zfs-raidz2", &[128; 4]),
    ("zfs-draid1[data=2,spares=1]", &[256; 4]),
    ("zfs-draid2", &[256; 4]),
    ("zfs-draid3", &[256; 5]),
    ("zfs-raidz1{log=4,cache=5}", &[128; 5]),
    ("zfs-mirror{log=3-4,special=5-6/md-raid1,spare=7}", &[128; 7]),
    ("partition/zfs-mirror[encryption=on]{cache=3}", &[128; 3]),
    ("zfs-raidz3/loop-file[size=32M]/ext4", &[128; 5]),
];

/// What [`in_the_guest`] does: `make`, `write` or `assemble`.
const STEP: &str = "DISKLAB_TEST_STEP";
/// With which stacks: `STACK DRIVES FILES` each, parted by semicolons.
const STACKS: &str = "DISKLAB_TEST_STACKS";

/// A stack in the guest, with drives of its own.
struct GuestStack {
    stack: Stack,
    text: String,
    number: usize,
    drives: Vec<PathBuf>,
    /// How many files it holds.
    files: u64,
    executor: Executor,
    ledger: Ledger,
}

impl GuestStack {
    fn all(text: &str) -> Vec<Self> {
        let (mut stacks, mut first) = (Vec::new(), 0);
        for (number, words) in text.split(';').enumerate() {
            let [text, drives, files] = words.split(' ').collect::<Vec<_>>().try_into().unwrap();
            let count: usize = drives.parse().unwrap();
            let drive =
                |index| Path::new("/dev").join(DiskTransport::Block.disk_name(first + index));
            let stack = parse(text, count);
            let missing = Machine::here().missing(&stack.needs());
            assert!(missing.is_empty(), "{}", needs_words(&missing));
            stacks.push(Self {
                stack,
                text: text.to_owned(),
                number,
                drives: (0..count).map(drive).collect(),
                files: files.parse().unwrap(),
                executor: Executor::new(Interrupt::new()),
                ledger: Ledger::open(Path::new("/run/state")).unwrap(),
            });
            first += count;
        }
        stacks
    }

    fn build(
        &mut self,
        how: fn(&Stack, &[PathBuf], &mut LayerContext<'_>) -> Result<Made, StackError>,
    ) -> Result<Made, StackError> {
        let (tag, directory) =
            (format!("s{}", self.number), format!("/run/stacks/{}", self.number));
        fs::create_dir_all(&directory).unwrap();
        let directory = Path::new(&directory);
        let mut context = LayerContext::new(&self.executor, &mut self.ledger, directory, &tag, 7);
        context.below.simulated = true;
        how(&self.stack, &self.drives, &mut context)
    }

    fn tear_down(&mut self) {
        let errors = self.ledger.tear_down_to(0, &self.executor);
        assert!(errors.is_empty(), "{}: {errors:?}", self.text);
    }

    /// Makes it, and writes its files.
    fn make(mut self) {
        let made = self.build(Stack::make).unwrap_or_else(|e| panic!("{}: {e}", self.text));
        (1..=self.files).for_each(|number| self.write(&made, number));
        println!("{}=made", self.text);
        std::mem::forget(self);
    }

    /// Writes files until the power fails, and says when one is synced.
    fn write_on(self, made: &Made) {
        for number in 1.. {
            self.write(made, number);
            println!("synced.{}={number}", self.text);
        }
    }

    fn write(&self, made: &Made, number: u64) {
        let mut file = File::create(made.directory.join(number.to_string())).unwrap();
        file.write_all(&content(self.number, number)).unwrap();
        file.sync_all().unwrap();
    }

    /// Assembles it from its drives in another order, reads its files, and tears it down, after which
    /// nothing is there to be assembled.
    fn assemble(mut self) {
        self.drives.reverse();
        let made = self.build(Stack::assemble).unwrap_or_else(|e| panic!("{}: {e}", self.text));
        let resyncs = fs::read_dir("/sys/block").unwrap().flatten().any(|device| {
            let action = fs::read_to_string(device.path().join("md/sync_action"));
            action.is_ok_and(|action| action.trim() == "resync")
        });
        for number in 1..=self.files {
            let found = fs::read(made.directory.join(number.to_string()))
                .unwrap_or_else(|e| panic!("{}: file {number}: {e}", self.text));
            assert!(found == content(self.number, number), "{}: file {number}", self.text);
        }
        self.write(&made, 0);
        println!("{}={}", self.text, if resyncs { "resyncs" } else { "assembled" });
        self.tear_down();
        let error = self.build(Stack::assemble).expect_err("nothing is there");
        println!("bare {}: {error}", self.text);
        self.tear_down();
    }
}

/// 40 kB that only this file of this stack has.
fn content(stack: usize, file: u64) -> Vec<u8> {
    let start = stack as u64 * 1_000_003 + file;
    (0..5_000_u64)
        .flat_map(|n| (start << 20 | n).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes())
        .collect()
}

#[test]
fn in_the_guest() {
    let (Ok(step), Ok(stacks)) = (std::env::var(STEP), std::env::var(STACKS)) else {
        eprintln!("skipped: it is part of the tests that boot a guest");
        return;
    };
    let mut stacks = GuestStack::all(&stacks);
    match step.as_str() {
        "make" => stacks.into_iter().for_each(GuestStack::make),
        "assemble" => stacks.into_iter().for_each(GuestStack::assemble),
        _ => {
            let made: Vec<Made> =
                stacks.iter_mut().map(|stack| stack.build(Stack::make).unwrap()).collect();
            let writers: Vec<_> = stacks
                .into_iter()
                .zip(made)
                .map(|(stack, made)| std::thread::spawn(move || stack.write_on(&made)))
                .collect();
            writers.into_iter().for_each(|writer| writer.join().unwrap());
        }
    }
}

/// The words for [`STACKS`].
fn words(stacks: &[(&str, usize, u64)]) -> String {
    let words: Vec<String> =
        stacks.iter().map(|(text, drives, files)| format!("{text} {drives} {files}")).collect();
    words.join(";")
}

fn script(step: &str, stacks: &[(&str, usize, u64)]) -> String {
    format!("export {STEP}={step} {STACKS}='{}'; self assemble::in_the_guest", words(stacks))
}

/// Makes the stacks in one guest and assembles them in the next.
fn make_and_assemble(cases: &[Case]) -> Option<Outcome> {
    let kernel = kernel_for(cases.iter().map(|(text, _)| *text))?;
    let stacks: Vec<_> = cases.iter().map(|(text, sizes)| (*text, sizes.len(), 3)).collect();
    let sizes = || cases.iter().flat_map(|(_, sizes)| sizes.iter());
    let disk = |(n, mib): (usize, &u64)| {
        DiskOptions::new(Box::new(Steady::new(mib << 11, 100_000)), format!("LAB{n:05}"))
    };
    let disks = || sizes().enumerate().map(disk).collect();
    let first = boot_with_self(kernel.clone(), &script("make", &stacks), disks(), |_| {});
    first.report();
    for (text, _) in cases {
        assert_eq!(first.word(text), "made", "{}", first.console);
    }
    let assemble = script("assemble", &stacks);
    let second = boot_with_self(kernel, &assemble, disks(), |options| first.leave(options));
    second.report();
    for (text, _) in cases {
        assert!(["assembled", "resyncs"].contains(&second.word(text)), "{}", second.console);
    }
    Some(second)
}

#[test]
fn arrays_and_shr() {
    make_and_assemble(MD);
}

#[test]
fn device_mapper() {
    make_and_assemble(DEVICE_MAPPER);
}

#[test]
fn file_systems() {
    make_and_assemble(FILE_SYSTEMS);
}

#[test]
fn pools() {
    make_and_assemble(POOLS);
}

#[test]
fn each_layer_is_tried() {
    let all = [MD, DEVICE_MAPPER, FILE_SYSTEMS, POOLS].into_iter().flatten();
    let tried: BTreeSet<&str> = all
        .flat_map(|(text, _)| text.split('/'))
        .map(|layer| layer.split('[').next().unwrap_or_default())
        .collect();
    let missing: Vec<_> =
        LAYERS.iter().map(|kind| kind.name).filter(|name| !tried.contains(name)).collect();
    assert_eq!(missing, [""; 0]);
}

/// When the power fails.
const CUT: Nanos = Nanos(60_000_000_000);

/// What was synced before the power failed is there.
fn synced_before_a_power_cut<const N: usize>(texts: [(&'static str, usize); N]) -> Option<Outcome> {
    let kernel = kernel_for(texts.iter().map(|(text, _)| *text))?;
    let disks = || {
        let model = shipped("hdn721010ale604").unwrap();
        let disk = |n| DiskOptions::of(&model, 1, format!("LAB{n:05}"));
        (0..texts.iter().map(|(_, drives)| drives).sum()).map(disk).collect()
    };
    let stacks = texts.map(|(text, drives)| (text, drives, 0));
    let first = boot_with_self(kernel.clone(), &script("write", &stacks), disks(), |options| {
        options.power_cut = Some(CUT);
    });
    assert_eq!(first.report().virtual_time, CUT, "{}", first.console);
    let synced = |text: &str| {
        let key = format!("synced.{text}=");
        let numbers = first.console.split_whitespace().filter_map(|w| w.strip_prefix(&key));
        numbers.filter_map(|number| number.parse().ok()).max().unwrap_or(0)
    };
    let stacks = texts.map(|(text, drives)| (text, drives, synced(text)));
    for (text, _, files) in stacks {
        assert!(files > 20, "{text}: {files} files before the cut\n{}", first.console);
    }
    let assemble = script("assemble", &stacks);
    let second = boot_with_self(kernel, &assemble, disks(), |options| first.leave(options));
    second.report();
    for (text, _) in texts {
        assert!(["assembled", "resyncs"].contains(&second.word(text)), "{}", second.console);
    }
    Some(second)
}

/// The array that was written to resyncs.
#[test]
fn what_was_synced_before_a_power_cut() {
    const ARRAY: &str = "md-raid5[bitmap=none,resync=skip]/ext4";
    let texts = [(ARRAY, 3), ("ext4", 1), ("xfs", 1), ("btrfs", 1)];
    let Some(second) = synced_before_a_power_cut(texts) else { return };
    assert_eq!(second.word(ARRAY), "resyncs", "{}", second.console);
}

#[test]
fn what_a_pool_synced_before_a_power_cut() {
    synced_before_a_power_cut([("zfs-raidz1", 3)]);
}
