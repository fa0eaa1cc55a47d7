//! Whatever a job asks for, its I/Os lie in its files, and end.

use std::collections::BTreeMap;

use disklab_jobfile::{Job, Policy, parse};
use disklab_source::Source;
use proptest::prelude::*;

use super::{IoRequest, IoSequence, NextIo, RequestKind};

/// The job of these options, if it is one.
fn job(options: &str) -> Option<Job> {
    let text = format!("[job]\n{options}\n");
    let source = std::sync::Arc::new(Source { name: "t".to_owned(), text });
    parse(&source, Policy::default()).ok()?.pop()
}

/// The I/Os of one loop, at most 100 000.
fn one_loop(job: &Job, seed: u64) -> Vec<IoRequest> {
    let files: Vec<_> =
        job.files.of(0, 1).iter().map(|file| (file.extent, file.extent.end())).collect();
    let mut sequence = IoSequence::new(job, &files, seed);
    let mut requests = Vec::new();
    for _ in 0..100_000 {
        match sequence.next(|direction| direction) {
            NextIo::Io(request) => requests.push(request),
            NextIo::PassDone => {}
            NextIo::Done => return requests,
        }
    }
    panic!("it does not end");
}

fn options() -> impl Strategy<Value = String> {
    let rw = prop::sample::select(vec![
        "read",
        "write",
        "rw",
        "randread",
        "randwrite",
        "randrw",
        "read:4k",
        "write:-8k",
        "randread:3",
        "randrw:8",
        "read:1",
        "rw:12k",
    ]);
    let size = prop::sample::select(vec![
        "bs=4k",
        "bs=512",
        "bs=12k",
        "bsrange=1k-16k",
        "bsrange=4k-12k\nbs_unaligned",
        "bssplit=4k/30:8k/70",
        "bs=4k,16k",
        "bs=4k,8k\nbs_is_seq_rand",
    ]);
    let more = prop::sample::select(vec![
        "",
        "nrfiles=3",
        "nrfiles=5\nopenfiles=2",
        "offset=20k",
        "io_size=1m",
        "io_size=40k",
        "norandommap",
        "percentage_random=40",
        "random_distribution=zipf:1.2",
        "random_distribution=pareto:0.3",
        "random_distribution=normal:10",
        "random_distribution=zoned:60/10:40/90",
        "rw_sequencer=identical",
        "fsync=3",
        "nrfiles=4\nfile_service_type=random",
        "nrfiles=4\nfile_service_type=zipf:1.3",
        "nrfiles=4\nfile_service_type=sequential",
        "blockalign=8k",
        "filesize=16k-200k\nnrfiles=4",
        "random_distribution=zipf:0.8:0.5\nio_size=2m",
    ]);
    (rw, size, more, 1_u64..400).prop_map(|(rw, size, more, kib)| {
        let total =
            if more.contains("filesize") { String::new() } else { format!("size={kib}k\n") };
        format!("rw={rw}\n{size}\n{total}{more}")
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn ios_lie_in_their_files(options in options(), seed: u64) {
        // Not every combination is a job.
        let Some(job) = job(&options) else { return Ok(()) };
        let files = job.files.of(0, 1);
        let requests = one_loop(&job, seed);
        let mut bytes = 0;
        for request in &requests {
            let extent = files[request.file as usize].extent;
            if !request.kind.moves_data() {
                prop_assert!(request.length == 0 && job.flushing.fsync > 0);
                continue;
            }
            let length = u64::from(request.length);
            prop_assert!(request.offset >= extent.offset, "{options}");
            prop_assert!(request.offset + length <= extent.end(), "{options}");
            prop_assert!(length >= job.blocks.min() && length <= job.blocks.max(), "{options}");
            let access = job.pattern.access;
            let reads = request.kind == RequestKind::Read;
            let allowed = (reads && access.reads) || (!reads && access.writes);
            prop_assert!(allowed, "{options}");
            bytes += length;
        }
        prop_assert!(bytes < job.length.io_size + job.blocks.max());
        prop_assert_eq!(one_loop(&job, seed), requests, "the seed decides all");
    }

    #[test]
    fn each_block_comes_once(
        rw in prop::sample::select(vec!["randread", "randwrite", "randrw"]),
        size in prop::sample::select(vec!["bs=4k", "bsrange=4k-32k", "bssplit=4k/50:20k/50"]),
        blocks in 1_u64..300, files in 1_u64..4, seed: u64,
    ) {
        let total = blocks * files * 4;
        let options = format!("rw={rw}\n{size}\nsize={total}k\nnrfiles={files}");
        let Some(job) = job(&options) else { return Ok(()) };
        let mut times: BTreeMap<(u32, u64), u32> = BTreeMap::new();
        for request in one_loop(&job, seed) {
            prop_assert_eq!(request.offset % 4096, 0);
            for block in 0..u64::from(request.length) / 4096 {
                *times.entry((request.file, request.offset / 4096 + block)).or_default() += 1;
            }
        }
        prop_assert_eq!(times.len() as u64, blocks * files, "{}", options);
        prop_assert!(times.values().all(|n| *n == 1), "{}", options);
    }
}

#[test]
fn percentages_of_random_are_kept() {
    let job =
        job("rw=randread\nbs=4k\nsize=40m\nnorandommap\npercentage_random=30").expect("valid");
    let requests = one_loop(&job, 3);
    let sequential =
        requests.windows(2).filter(|w| w[1].offset == w[0].offset + 4096).count() as f64;
    let share = sequential / requests.len() as f64;
    assert!((0.68..0.72).contains(&share), "{share}");
}

#[test]
fn io_size_begins_again_in_another_order() {
    let job = job("rw=randread\nbs=4k\nsize=256k\nio_size=512k").expect("valid");
    let requests = one_loop(&job, 3);
    assert_eq!(requests.len(), 128);
    let (first, second) = requests.split_at(64);
    assert_ne!(first, second);
    let sorted = |list: &[IoRequest]| {
        let mut offsets: Vec<u64> = list.iter().map(|r| r.offset).collect();
        offsets.sort_unstable();
        offsets
    };
    assert_eq!(sorted(first), sorted(second));
}

#[test]
fn each_direction_has_places_of_its_own_length() {
    let job = job("rw=randrw\nbs=4k,16k\nsize=4m").expect("valid");
    let mut shares = 0.0;
    for seed in 0..40 {
        let requests = one_loop(&job, seed);
        let mut seen = std::collections::BTreeSet::new();
        let mut bytes = 0;
        for request in &requests {
            let length = if request.kind == RequestKind::Read { 4096 } else { 16384 };
            assert_eq!((u64::from(request.length), request.offset % length), (length, 0));
            assert!(request.offset + length <= 4 << 20);
            assert!(
                seen.insert((request.kind == RequestKind::Read, request.offset)),
                "{request:?} again"
            );
            bytes += length;
        }
        shares += bytes as f64 / f64::from(4 << 20) / 40.0;
    }
    // As by fio, whose map takes the blocks of both for the same: mostly it ends early.
    assert!((0.45..0.9).contains(&shares), "{shares}");
}

/// fio takes the next free block where it meets a visited one, so that more lie next to
/// others than by chance; a drive's cache makes something of it.
#[test]
fn a_visited_block_gives_way_to_the_next_free_one() {
    let job = job("rw=randwrite\nbs=4k\nsize=64m\nio_size=8m").expect("valid");
    let mut visited = std::collections::BTreeSet::new();
    let (mut neighbours, mut all) = (0, 0);
    for request in one_loop(&job, 3) {
        let block = request.offset / 4096;
        neighbours += u32::from(block > 0 && visited.contains(&(block - 1)));
        all += 1;
        assert!(visited.insert(block));
    }
    // An eighth of the blocks: by chance a sixteenth, and as many that gave way.
    let share = f64::from(neighbours) / f64::from(all);
    assert!((0.10..0.15).contains(&share), "{share}");
}
