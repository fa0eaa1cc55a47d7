//! The made-up run: what it is, its cells, and what they measured besides figures.

use disklab_cell::{Levels, PlannedLayer};
use disklab_options::RunSettings;
use disklab_sample::{DriveState, Environment, Note, Overhead, Sample, Tool, TraceEntry};
use disklab_store::{CellRecord, CellState, RunInfo};
use disklab_study::{LeftOut, PlannedStack, Study};
use disklab_units::Bytes;

use super::Noise;

pub(super) fn info(bench: &str, text: &str, study: &Study, repeats: u32) -> RunInfo {
    let about = match bench {
        "lab" => "four modelled HGST Ultrastar He10 of 10 TB in virtual time",
        _ => "files of this machine as disks, on /srv/scratch (ext4 on an NVMe drive)",
    };
    RunInfo {
        disklab: "0.1.0".to_owned(),
        study: study.id.to_string(),
        title: study.title.clone(),
        study_file: "studies/synology-2018.toml".to_owned(),
        study_text: text.to_owned(),
        bench: bench.parse().expect(bench),
        bench_about: about.to_owned(),
        options: RunSettings { drive_size: Some(Bytes::gib(2)), ..RunSettings::default() },
        scale: 1.0 / 16.0,
        repeats,
        seed: 20_181_005,
        created: "2026-05-04T09:12:31Z".parse().expect("a time"),
        stacks: study
            .stacks
            .iter()
            .map(|s| PlannedStack {
                id: s.id.clone(),
                layers: PlannedLayer::parse_notation(&format!("md-{}/{}", s.layout, s.file_system))
                    .expect("layers"),
                drives: (1..=4).map(|n| format!("hgst-{n}")).collect(),
                capacity: 30_000_000_000_000,
                tolerates: 1,
                loss: None,
                copies: false,
            })
            .collect(),
        left_out: vec![
            LeftOut::stack("zfs-raidz1", "needs the module zfs in the kernel"),
            LeftOut::workload("hdparm", "a file system has no device to time"),
        ],
        reference: None,
        machines: Default::default(),
        environment: environment(),
    }
}

fn environment() -> Environment {
    Environment {
        kernel: "Linux 6.12.117 #1 SMP PREEMPT_DYNAMIC x86_64".to_owned(),
        distribution: Some("Debian GNU/Linux 13 (trixie)".to_owned()),
        processor: Some("Intel(R) Atom(TM) C3538 @ 2.10GHz".to_owned()),
        processors: 4,
        memory_bytes: 4 << 30,
        tools: [
            ("fio", "fio-3.39"),
            ("mkfs.btrfs", "mkfs.btrfs, part of btrfs-progs v6.14"),
            ("mdadm", "mdadm - v4.4 - 2024-11-07"),
        ]
        .map(|(name, version)| Tool { name: name.to_owned(), version: version.to_owned() })
        .to_vec(),
        drives: (1..=4)
            .map(|n| DriveState {
                drive: format!("hgst-{n}"),
                device: format!("/dev/loop{n}"),
                model: Some("HGST HDN721010ALE604".to_owned()),
                serial: Some(format!("7JG0{n}XYZ")),
                firmware: Some("LHGNT384".to_owned()),
                size_bytes: 10_000_831_348_736,
                sectors: Some((512, 4096)),
                rotational: Some(true),
                scheduler: Some("mq-deadline".to_owned()),
                write_cache: Some("write back".to_owned()),
                link_speed: Some("6.0 Gb/s".to_owned()),
                smart: Some(serde_json::json!({
                    "smart_status": { "passed": true }, "temperature": { "current": 34 },
                })),
                ..DriveState::default()
            })
            .collect(),
        ..Environment::default()
    }
}

pub(super) fn cells(study: &Study, repeats: u32) -> Vec<CellRecord> {
    let levels: Vec<Levels> = study
        .stacks
        .iter()
        .flat_map(|s| study.workloads.iter().map(|w| Levels::new(&s.id, &w.id)))
        .collect();
    study.order(&levels, repeats, 20_181_005)
        .into_iter()
        .map(|cell| {
            let fails = cell.levels.stack == "raid6/btrfs" && cell.levels.workload == "dd-write-1G";
            CellRecord {
                state: if fails { CellState::Failed } else { CellState::Done },
                error: fails.then(|| {
                    "dd if=/dev/zero of=/mnt/x bs=1G: exit code 1\ndd: error writing: No space left on device".to_owned()
                }),
                ended: None,
                seconds: Some(11.5),
                cell,
            }
        })
        .collect()
}

pub(super) fn sample(noise: &mut Noise, record: &CellRecord) -> Sample {
    let entry = |line: &str, status: &str| TraceEntry {
        at_seconds: 0.0,
        argv: line.split(' ').map(str::to_owned).collect(),
        cwd: None,
        status: status.to_owned(),
        elapsed_seconds: 0.2,
    };
    let mut environment = environment();
    environment.mounts = vec![
        format!("/dev/md0 /mnt {} rw,relatime", record.cell.levels.stack).parse().expect("a mount"),
    ];
    environment.load = Some((noise.next(), 1.0));
    environment.background_bytes = Some((noise.next() * 3e6) as u64);
    Sample {
        overhead: Overhead {
            make_seconds: 0.8 * noise.about_one(0.3),
            caches_seconds: 0.05 * noise.about_one(0.5),
            tear_down_seconds: 0.3 * noise.about_one(0.2),
            ..Overhead::default()
        },
        environment,
        notes: vec![Note {
            about: record.cell.levels.stack.split('/').nth(1).unwrap_or_default().to_owned(),
            text: "lazy initialisation was switched off, so that it cannot disturb the workload"
                .to_owned(),
        }],
        trace: vec![
            entry(
                "mdadm --create /dev/md0 --run --assume-clean --level=5 --raid-devices=4 /dev/loop1 /dev/loop2 /dev/loop3 /dev/loop4",
                "0",
            ),
            entry("mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 /dev/md0", "0"),
            entry("mount /dev/md0 /mnt", "0"),
            entry("fio --name=x --rw=randread --bs=4k --output-format=json+", "0"),
            entry("umount /mnt", "exit code 32"),
        ],
        ..Sample::default()
    }
}
