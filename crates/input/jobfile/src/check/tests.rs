use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::job::{
    BlockShare, BlockSizes, Checksum, CpuPolicy, DedupeMode, Extent, FileOrder, Filling,
    IoDirection, JobFile, PerDirection, Sequence,
};
use crate::policy::Policy;
use crate::testing::{fio, job, lacks_fio, read};

fn valid(options: &str) -> Job {
    match job(options) {
        Ok(job) => job,
        Err(error) => panic!("{options}: {error}"),
    }
}

#[test]
fn unset_options_have_fios_defaults() {
    let job = valid("");
    assert!(job.pattern.access.reads && !job.pattern.access.writes && !job.pattern.access.random);
    assert_eq!((job.pattern.read_percent, job.pattern.sequence), (100, Sequence::None));
    assert_eq!(job.blocks.sizes, PerDirection::both(BlockSizes::Fixed(4096)));
    assert_eq!(job.length.size, 1 << 20);
    assert_eq!((job.length.io_size, job.length.loops), (1 << 20, 1));
    let depth = Depth {
        depth: 1,
        batch: 1,
        complete_min: 1,
        complete_max: 1,
        low: 1,
        offload: false,
        target: None,
    };
    assert_eq!(job.depth, depth);
    assert!(job.opening.invalidate && job.opening.create_fsync && !job.opening.direct);
    assert!(job.buffers.scramble && !job.buffers.refill);
    assert_eq!(job.pattern.map, RandomMap::Each);
    assert_eq!(job.timing.start_delay, (Duration::ZERO, Duration::ZERO));
    assert_eq!(job.process.clones, 1);
    assert_eq!(job.options, [("size".to_owned(), "1m".to_owned())]);
    assert!(job.verify.is_none() && job.pace.think.is_none() && job.warnings.is_empty());
}

#[test]
fn files_are_those_that_fio_makes() {
    let files = |options: &str| -> Vec<(String, u64, u64)> {
        let job = valid(options);
        (0..job.process.clones)
            .flat_map(|clone| job.files.of(clone, 1))
            .map(|f| (f.name, f.extent.offset, f.extent.length))
            .collect()
    };
    let file = |name: &str, offset: u64, length: u64| (name.to_owned(), offset, length);
    // Each seen with fio 3.33.
    assert_eq!(files(""), [file("a.0.0", 0, 1 << 20)]);
    assert_eq!(files("numjobs=2"), [file("a.0.0", 0, 1 << 20), file("a.1.0", 0, 1 << 20)]);
    assert_eq!(
        files("nrfiles=2\nfilename_format=f$filenum.$jobname$jobname"),
        [file("f0.aa", 0, 1 << 19), file("f1.aa", 0, 1 << 19)]
    );
    assert_eq!(files("filesize=2m\nsize=64k"), [file("a.0.0", 0, 2 << 20)]);
    assert_eq!(files("filesize=1m\noffset=256k"), [file("a.0.0", 256 << 10, 768 << 10)]);
    assert_eq!(files("offset=256k"), [file("a.0.0", 256 << 10, 1 << 20)]);
    assert_eq!(
        files("size=10k\nnrfiles=3\nbs=1k"),
        [file("a.0.0", 0, 3413), file("a.0.1", 0, 3413), file("a.0.2", 0, 3413)]
    );
    assert_eq!(files("filename=x:y"), [file("x", 0, 1 << 19), file("y", 0, 1 << 19)]);
    assert_eq!(
        files("filename=f\nnumjobs=2\noffset=1m\noffset_increment=2m"),
        [file("f", 1 << 20, 1 << 20), file("f", 3 << 20, 1 << 20)]
    );
    // Drawn sizes: whole blocks, inside of the range, the same each time.
    let job = valid("filesize=64k-128k\nnrfiles=100\nsize=100m");
    let drawn = job.files.of(3, 7);
    assert_eq!(drawn, job.files.of(3, 7));
    assert_ne!(drawn, job.files.of(4, 7));
    assert_ne!(drawn, job.files.of(3, 8));
    let length = |f: &JobFile| f.extent.length;
    assert!(drawn.iter().all(|f| (65536..=131_072).contains(&length(f)) && length(f) % 4096 == 0));
    assert!(drawn.iter().map(length).max() > drawn.iter().map(length).min());
    assert_eq!(Extent { offset: 5, length: 7 }.end(), 12);
}

#[test]
fn lengths_are_fios() {
    let length = |options: &str| valid(options).length;
    assert_eq!(length("filesize=64k\nsize=10m\nnrfiles=4").size, 256 << 10);
    assert_eq!(length("filesize=512k\nsize=64k").size, 64 << 10);
    assert_eq!(length("io_size=4m").io_size, 4 << 20);
    assert_eq!(length("io_size=4m").size, 1 << 20);
    assert_eq!(length("number_ios=3\nloops=2").number_ios, Some(3));
}

#[test]
fn block_sizes_come_from_the_most_special_option() {
    let sizes = |options: &str| valid(options).blocks.sizes;
    let range = BlockSizes::Range { min: 4096, max: 8192 };
    // Seen with fio 3.33, whichever comes last.
    assert_eq!(sizes("bsrange=4k-8k\nbs=16k"), PerDirection::both(range.clone()));
    assert_eq!(sizes("bs=16k\nbsrange=8k:4k"), PerDirection::both(range));
    assert_eq!(
        sizes("bs=,8k"),
        PerDirection { read: BlockSizes::Fixed(4096), write: BlockSizes::Fixed(8192) }
    );
    let split = sizes("bssplit=4k/60:8k/\nbs=1m").read;
    let shares =
        vec![BlockShare { bytes: 4096, percent: 60 }, BlockShare { bytes: 8192, percent: 40 }];
    assert_eq!((split.min(), split.max()), (4096, 8192));
    assert_eq!(split, BlockSizes::Split(shares));
    let blocks = valid("bs=64k,4k\nbs_is_seq_rand=1\nrw=randrw\npercentage_random=50").blocks;
    assert_eq!(blocks.of(IoDirection::Write, false).max(), 65536);
    assert_eq!(blocks.of(IoDirection::Read, true).max(), 4096);
    assert_eq!((blocks.min(), blocks.max()), (4096, 65536));
}

#[test]
fn the_map_of_visited_blocks_is_off_where_fios_is() {
    let map = |options: &str| valid(&format!("rw=randread\n{options}")).pattern.map;
    assert_eq!(map(""), RandomMap::Each);
    assert_eq!(map("norandommap"), RandomMap::None);
    assert_eq!(map("random_distribution=zipf:1.2"), RandomMap::None);
    assert_eq!(map("blockalign=512"), RandomMap::None);
    assert_eq!(map("softrandommap=1"), RandomMap::Soft);
}

#[test]
fn buffer_options_are_combined() {
    let buffers = |options: &str| valid(options).buffers;
    assert!(buffers("refill_buffers").refill && !buffers("refill_buffers").scramble);
    let zeros = buffers("zero_buffers");
    assert!(zeros.filling == Filling::Zeros && !zeros.scramble);
    assert!(buffers("zero_buffers\nscramble_buffers=1").scramble);
    let half = buffers("buffer_compress_percentage=50\nbuffer_compress_chunk=4k");
    assert!(half.refill && half.compress.is_some_and(|c| c.percent == 50 && c.chunk == 4096));
    assert!(!buffers("buffer_compress_percentage=100").refill);
    let twice = buffers("dedupe_percentage=30\ndedupe_mode=working_set\nrefill_buffers=0");
    assert!(twice.refill);
    assert!(twice.dedupe.is_some_and(|d| d.mode == DedupeMode::WorkingSet { percent: 5 }));
    let pattern = buffers("zero_buffers\nbuffer_pattern=0xab");
    assert!(matches!(pattern.filling, Filling::Pattern(_)) && !pattern.scramble);
    assert!(buffers("verify=crc32c").refill);
    assert_eq!(buffers("buffer_pattern=0xab\nzero_buffers").filling, Filling::Zeros);
}

#[test]
fn depths_are_fixed_as_fio_does() {
    let depth = |options: &str| valid(&format!("ioengine=libaio\n{options}")).depth;
    let all = Depth {
        depth: 8,
        batch: 8,
        complete_min: 8,
        complete_max: 8,
        low: 8,
        offload: false,
        target: None,
    };
    assert_eq!(depth("iodepth=8\niodepth_batch=0\niodepth_batch_complete=99\niodepth_low=99"), all);
    let some = Depth {
        depth: 8,
        batch: 1,
        complete_min: 0,
        complete_max: 1,
        low: 4,
        offload: false,
        target: None,
    };
    assert_eq!(depth("iodepth=8\niodepth_batch_complete=0\niodepth_low=4"), some);
    assert_eq!(depth("iodepth=8\niodepth_batch_complete_max=4").complete_max, 4);
}

#[test]
fn other_options_reach_their_field() {
    let job = valid(
        "rw=randrw:4\nrwmixwrite=30\nrate=1m,\nthinktime=5ms\nthinktime_spin=9ms\nprio=3\n\
         cpus_allowed=1,0\ncpus_allowed_policy=split\nnumjobs=2\nstartdelay=10-5\nverify=crc32c\n\
         verify_interval=1m\nfile_service_type=sequential:4\ngtod_reduce=1\npre_read=1\n\
         description=what it is for",
    );
    assert_eq!((job.pattern.read_percent, job.pattern.sequence), (70, Sequence::Run(4)));
    assert_eq!(job.pace.rate, PerDirection { read: Some(1 << 20), write: None });
    let think = job.pace.think.expect("thinks");
    assert_eq!((think.time, think.spin), (Duration::from_millis(5), Duration::from_millis(5)));
    let priority = job.process.io_priority.expect("given");
    assert_eq!((priority.class, priority.level), (IoClass::BestEffort, 3));
    assert_eq!(job.process.cpus, Some(vec![0, 1]));
    assert_eq!(job.process.cpu_policy, CpuPolicy::Split);
    assert_eq!(job.timing.start_delay, (Duration::from_secs(5), Duration::from_secs(10)));
    let verify = job.verify.expect("given");
    assert_eq!((verify.checksum, verify.interval), (Checksum::Crc32c, Some(4096)));
    assert_eq!(job.files.order, FileOrder::RoundRobin { every: 4 });
    assert!(!job.reporting.lat && !job.reporting.clat && !job.reporting.bw);
    assert!(job.opening.pre_read && !job.opening.invalidate);
    assert_eq!(job.description.as_deref(), Some("what it is for"));
    let job = valid("kb_base=1000\nbs=4k\nsize=8KiB");
    assert_eq!((job.blocks.max(), job.length.size), (4000, 8192));
}

#[test]
fn incompatible_options_are_errors() {
    for (options, line, part) in [
        ("bs=2m", 3, "does not fit into the 1048576 bytes"),
        ("nrfiles=512", 3, "of each file"),
        ("rate=1m\nrate_iops=5", 4, "exclude each other"),
        ("rate=1m\nrate_min=2m", 4, "`rate_min` is over `rate`"),
        ("rate_iops=,5\nrate_iops_min=6", 4, "`rate_iops_min` is over `rate_iops`"),
        ("verify=crc32c\nbs=32", 4, "needs 44 bytes of each 32"),
        ("verify=crc32c\nverify_interval=512\nverify_offset=480", 5, "needs 524 bytes"),
        ("verify=pattern", 3, "needs the pattern"),
        ("filesize=1m\noffset=2m", 4, "behind the end"),
        ("filesize=1m\nnumjobs=3\noffset_increment=512k", 5, "behind the end"),
        ("offset=9000000t", 3, "larger than any file"),
        ("offset_increment=9000t\nnumjobs=4000", 3, "larger than any file"),
        ("size=8000000t\noffset=8000000t", 3, "larger than any file"),
        ("bs=3g\nsize=8g", 3, "at most 2147479552 in one call"),
        ("bs=1g\nsize=8g\niodepth=128\nioengine=libaio", 5, "would need 128 GiB"),
        ("numjobs=4096\nnrfiles=256", 4, "more than 1000000 files"),
        ("dedupe_percentage=5\ndedupe_mode=working_set\nnrfiles=2", 4, "one file only"),
        (
            "dedupe_percentage=5\ndedupe_mode=working_set\ndedupe_working_set_percentage=0",
            4,
            "over 0",
        ),
    ] {
        let error = job(options).expect_err(options);
        assert!(error.message.contains(part), "{options}: {error}");
        assert_eq!(error.line, line, "{error}");
    }
    let error = read("[a]\nbs=4k", Policy::default()).expect_err("no size");
    assert!(error.message.contains("no `size`") && error.line == 1, "{error}");
    for name in [".", "..", "../precious", "a\u{1b}[2J"] {
        let text = format!("[{name}]\nsize=4k\nfilename_format=$jobname");
        let error = read(&text, Policy::default()).expect_err(name);
        assert!(error.message.contains("file names are made from a job's name"), "{error}");
    }
    let error = read("[a/b]\nsize=4k", Policy::default()).expect_err("a directory");
    assert!(error.message.contains("file names") && error.line == 1, "{error}");
}

#[test]
fn waiting_is_for_a_job_before() {
    let text = "[one]\nsize=1m\n[two]\nsize=1m\n[three]\nsize=1m\nwait_for=two";
    let jobs = read(text, Policy::default()).expect("valid");
    assert_eq!(jobs[2].groups.wait_for, Some(1));
    for (text, part) in [
        ("[one]\nsize=1m\nwait_for=one", "no job before"),
        ("[one]\nsize=1m\n[two]\nsize=1m\nwait_for=on", "did you mean 'one'"),
        ("[one]\nsize=1m\n[one]\nsize=1m\n[two]\nsize=1m\nwait_for=one", "more than one job"),
    ] {
        let error = read(text, Policy::default()).expect_err(text);
        assert!(error.message.contains(part), "{error}");
    }
}

#[test]
fn options_without_effect_are_reported() {
    for (options, line, part) in [
        ("iodepth=8", 3, "no effect with the synchronous engine psync"),
        ("iodepth=8\nioengine=pvsync2", 3, "engine pvsync2"),
        ("filename=a:b\nnrfiles=5", 4, "`filename` gives 2"),
        ("pre_read=1\ninvalidate=1", 4, "no effect with `pre_read`"),
        ("direct=1\nbs=3000", 4, "multiple of 512"),
        ("thinktime_blocks=5", 3, "no effect without `thinktime`"),
        ("rate_process=poisson", 3, "without `rate` or `rate_iops`"),
        ("rwmixread=70", 3, "without a `rw` that reads and writes"),
        ("norandommap", 3, "without a random `rw`"),
        ("buffer_compress_chunk=4k", 3, "without `buffer_compress_percentage`"),
        ("dedupe_mode=repeat", 3, "without `dedupe_percentage`"),
        ("verify_fatal=1", 3, "without `verify`"),
        ("end_fsync=1", 3, "without a `rw` that writes"),
        ("time_based", 3, "without `runtime`"),
        ("time_based\nruntime=0", 3, "without `runtime`"),
        ("offset_increment=4k", 3, "without `numjobs` above 1"),
        ("create_on_open=1", 3, "nothing is written beforehand"),
        ("rw=write\nverify=crc32c\nnumjobs=2\nfilename=f", 5, "another one wrote"),
        ("rw=write\nverify=crc32c\ntime_based\nruntime=5", 5, "will not begin"),
    ] {
        let job = valid(options);
        assert_eq!(job.warnings.len(), 1, "{options}: {:?}", job.warnings);
        let warning = &job.warnings[0];
        assert!(warning.message.contains(part) && warning.line == line, "{warning}");
    }
    assert!(valid("iodepth=8\nioengine=io_uring").warnings.is_empty());
    // Global options are for others, and zero is what is anyway.
    let text = "[global]\nsize=1m\nend_fsync=1\nrwmixread=70\n[a]\nrw=read\nfsync=0";
    assert!(read(text, Policy::default()).expect("valid")[0].warnings.is_empty());
}

/// The block sizes and the depth that fio shows for the same options.
#[test]
fn fio_understands_the_same() {
    if fio(&["--version"]).is_none() {
        return lacks_fio();
    }
    for options in [
        "bs=16k,8k,1k\nrw=rw",
        "bs=,8k\nrw=rw",
        "bsrange=4k-8k,16k-32k\nrw=rw",
        "bsrange=4k-8k\nbs=16k",
        "bssplit=4k/50:8k/50",
        "kb_base=1000\nbs=4k",
        "bs=0x2000",
        "blocksize=4KB",
    ] {
        let job = valid(options);
        let mut arguments = vec!["--name=a", "--ioengine=null", "--size=1m"];
        let given: Vec<String> = options.lines().map(|line| format!("--{line}")).collect();
        arguments.extend(given.iter().map(String::as_str));
        let (fine, said) = fio(&arguments).expect("fio is here");
        assert!(fine, "{said}");
        let sizes = |sizes: &BlockSizes| format!("{}-{}", shows(sizes.min()), shows(sizes.max()));
        let expected = format!(
            "bs=(R) {}, (W) {},",
            sizes(&job.blocks.sizes.read),
            sizes(&job.blocks.sizes.write)
        );
        assert!(said.contains(&expected), "{options}: expected {expected}\n{said}");
    }
}

/// The files that fio makes, and how much it writes.
#[test]
fn fio_makes_the_same_files() {
    if fio(&["--version"]).is_none() {
        return lacks_fio();
    }
    for options in [
        "numjobs=2",
        "filesize=128k\noffset=32k",
        "filesize=128k\noffset=32k\nsize=64k",
        "offset=256k\nfilename=f",
        "filesize=64k\nsize=128k\nnrfiles=4",
        "size=10k\nnrfiles=3\nbs=1k",
        "filename=x:y",
        "filename=f\nnumjobs=2\noffset=64k\noffset_increment=64k\nsize=64k",
        "filesize=128k\noffset_increment=32k\nnumjobs=2",
        "filename_format=$jobname-$filenum\nnrfiles=2\nio_size=64k",
    ] {
        let job = valid(&format!("rw=write\nfallocate=none\noverwrite=1\n{options}"));
        let directory = tempfile::tempdir().expect("a directory");
        let place = format!("--directory={}", directory.path().display());
        let given: Vec<String> = job.options.iter().map(|(n, v)| format!("--{n}={v}")).collect();
        let mut arguments = vec!["--name=a", place.as_str(), "--output-format=json"];
        arguments.extend(given.iter().map(String::as_str));
        let (fine, said) = fio(&arguments).expect("fio is here");
        assert!(fine, "{options}: {said}");

        let mut own = std::collections::BTreeMap::new();
        let mut bytes = 0;
        for clone in 0..job.process.clones {
            let files = job.files.of(clone, 0);
            let all: u64 = files.iter().map(|f| f.extent.length).sum();
            let whole = |f: &JobFile| f.extent.length / job.blocks.max() * job.blocks.max();
            let most: u64 = files.iter().map(whole).sum();
            assert!(job.length.size <= all.max(job.length.size));
            bytes += job.length.io_size.min(most);
            for file in files {
                let end = own.entry(file.name).or_insert(0);
                *end = file.extent.end().max(*end);
            }
        }
        let fios = std::fs::read_dir(directory.path()).expect("the directory").map(|entry| {
            let entry = entry.expect("an entry");
            let name = entry.file_name().into_string().expect("text");
            (name, entry.metadata().expect("a file").len())
        });
        assert_eq!(own, fios.collect(), "{options}");
        let written: u64 = said
            .split("\"write\" : {")
            .skip(1)
            .filter_map(|part| part.split("\"io_bytes\" : ").nth(1))
            .filter_map(|text| text.split(',').next()?.trim().parse::<u64>().ok())
            .sum();
        assert_eq!(bytes, written, "{options}");
    }
}

/// A size as fio shows it there (num2str): binary, exact below 10 KiB.
fn shows(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes}B"),
        _ => format!("{:.1}KiB", bytes as f64 / 1024.0),
    }
}

proptest! {
    #[test]
    fn accepted_jobs_are_consistent(
        options in prop::collection::vec(any_option(), 0..12),
        clone in 0_u32..10,
        seed in any::<u64>(),
    ) {
        let text = options.join("\n");
        match job(&text) {
            Err(error) => prop_assert!(error.line <= options.len() + 2, "{}", error),
            Ok(job) => {
                prop_assert!(job.blocks.min() >= 1 && job.blocks.min() <= job.blocks.max());
                prop_assert!(job.length.size >= 1 && job.length.loops >= 1);
                let depth = job.depth;
                prop_assert!(depth.batch >= 1 && depth.batch <= depth.depth);
                prop_assert!(depth.complete_max >= depth.complete_min.max(1));
                prop_assert!(depth.complete_max <= depth.depth && depth.low <= depth.depth);
                prop_assert!(job.files.open >= 1 && job.files.open <= job.files.count());
                let files = job.files.of(clone.min(job.process.clones - 1), seed);
                prop_assert_eq!(files.len() as u64, job.files.count());
                for file in files {
                    prop_assert!(!file.name.is_empty() && !file.name.starts_with('/'));
                    prop_assert!(file.name.split('/').all(|part| part != ".."));
                    prop_assert!(i64::try_from(file.extent.end()).is_ok());
                }
                for warning in &job.warnings {
                    prop_assert!(warning.line >= 1 && warning.line <= options.len() + 2);
                }
            }
        }
    }
}

fn any_option() -> impl Strategy<Value = String> {
    let names: Vec<&str> =
        crate::native_options().flat_map(|o| o.aliases.iter().copied().chain([o.name])).collect();
    (
        prop::sample::select(names),
        "([0-9]{1,3}[kmgts]?([,:/-][0-9]{1,3}[kmg]?){0,2}|0|1|rw|randrw:4|zipf:1.2|f|4k|8k)",
    )
        .prop_map(|(name, value)| format!("{name}={value}"))
}
