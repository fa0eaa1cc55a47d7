//! A photo library: import from a card, then browsing.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use disklab_cell::WorkloadPlan;
use disklab_config::Fields;
use disklab_exec::Interrupt;
use disklab_sample::{
    ContentProfile, Direction, Durability, FileSet, OperationKind, StepProfile, SyncCall, Task,
    TimeIn,
};
use disklab_source::SourceError;
use disklab_units::Bytes;

use crate::data::{ByteStream, FileContent};
use crate::tally::Tally;
use crate::tree::sync_tree;
use crate::{Context, Cost, StepOutcome, WorkContext, Workload, WorkloadError, WorkloadKind};

/// The library, in the directory of the cell.
const LIBRARY: &str = "library";

/// How much of a JPEG a browser reads for its list: header, Exif data and the
/// thumbnail in them, which lie in segments of at most 64 KiB (Exif 2.32, section
/// 4.5.2), and some readahead.
const HEADER: Bytes = Bytes(128 << 10);

/// The calendar of the library: months of 28 days, from this year on.
const FIRST_YEAR: u64 = 2024;

/// What is made durable, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sync {
    /// Each file, before the next one is written.
    File,
    /// All of them, at the end.
    End,
    /// Nothing.
    None,
}

pub(super) const PHOTOS: WorkloadKind = WorkloadKind {
    name: "photos",
    summary: "a photo library: import from a card, then browsing",
    fields: &[
        ("photos", "number of photos (default 100); scaled"),
        ("raw", "size of a RAW file (default '25 MB'; 0: there is none)"),
        ("jpeg", "size of a JPEG file (default '6 MB')"),
        ("preview", "size of a preview, written next to it [default: 150 kB]"),
        ("per-day", "photos in each directory YYYY/MM-DD [default: 50]"),
        ("sync", "'file' (default: fsync each photo's files), 'end' or 'none'"),
    ],
    read,
};

#[derive(Debug)]
struct Photos {
    photos: u64,
    scaled_from: Option<u64>,
    raw: Bytes,
    jpeg: Bytes,
    preview: Bytes,
    per_day: u64,
    sync: Sync,
}

fn read(spec: &WorkloadPlan, context: &Context) -> Result<Box<dyn Workload>, SourceError> {
    let mut fields = Fields::new(&spec.body, "the photos workload")?;
    let asked = fields.integer("photos", 1..=10_000_000)?.unwrap_or(100);
    let mut size = |name: &str, default: Bytes, least: Bytes| {
        let Some(node) = fields.take(name) else { return Ok(default) };
        let size: Bytes =
            node.as_text()?.parse().map_err(|e| node.error(format!("`{name}`: {e}")))?;
        if (least..=Bytes::gib(1)).contains(&size) {
            Ok(size)
        } else {
            Err(node.error(format!("`{name}`: expected {least} to 1 GiB, found {size}")))
        }
    };
    let raw = size("raw", Bytes(25_000_000), Bytes::ZERO)?;
    let jpeg = size("jpeg", Bytes(6_000_000), Bytes(1))?;
    let preview = size("preview", Bytes(150_000), Bytes(1))?;
    let per_day = fields.integer("per-day", 1..=1_000_000)?.unwrap_or(50);
    let sync = [("file", Sync::File), ("end", Sync::End), ("none", Sync::None)];
    let sync = fields.choice("sync", &sync)?.unwrap_or(Sync::File);
    fields.finish()?;
    let photos = Bytes(asked).scaled(context.scale, Bytes(1)).0;
    let scaled_from = (photos != asked).then_some(asked);
    Ok(Box::new(Photos { photos, scaled_from, raw, jpeg, preview, per_day, sync }))
}

impl Photos {
    fn each(&self) -> Bytes {
        self.raw + self.jpeg + self.preview
    }

    /// What browsing reads of each photo.
    fn looked_at(&self) -> Bytes {
        self.jpeg.min(HEADER) + self.preview
    }

    /// The directory of a photo, `2024/03-28`, without the library's; they count from 0.
    fn day(&self, number: u64) -> String {
        let day = number / self.per_day;
        let (year, day) = (day / (12 * 28), day % (12 * 28));
        format!("{:04}/{:02}-{:02}", FIRST_YEAR + year, day / 28 + 1, day % 28 + 1)
    }

    /// A photo's file.
    fn file(&self, library: &Path, number: u64, ending: &str) -> PathBuf {
        library.join(self.day(number)).join(format!("IMG_{:07}.{ending}", number + 1))
    }

    fn import(
        &self,
        library: &Path,
        stream: &mut ByteStream,
        interrupt: &Interrupt,
    ) -> Result<StepOutcome, WorkloadError> {
        let safe = self.sync == Sync::File;
        let mut tally = Tally::begin();
        for number in 0..self.photos {
            interrupt.check()?;
            tally.time(self.each().0, || {
                if number % self.per_day == 0 {
                    let directory = library.join(self.day(number));
                    fs::create_dir_all(&directory)
                        .map_err(WorkloadError::io("cannot make", &directory))?;
                }
                let mut write = |ending: &str, size, durable| {
                    let path = self.file(library, number, ending);
                    stream.write_file(&path, size, durable, interrupt)
                };
                if self.raw > Bytes::ZERO {
                    write("CR3", self.raw, safe)?;
                }
                write("JPG", self.jpeg, safe)?;
                // Lost, it is made again: nobody makes a preview safe.
                write("preview.jpg", self.preview, false)
            })?;
        }
        if self.sync == Sync::End {
            sync_tree(library)?;
        }
        Ok(tally.end(Direction::Write, OperationKind::File))
    }

    fn browse(&self, library: &Path, interrupt: &Interrupt) -> Result<StepOutcome, WorkloadError> {
        let header = self.jpeg.min(HEADER);
        let mut memory = vec![0; header.max(self.preview).0 as usize];
        let mut tally = Tally::begin();
        for number in 0..self.photos {
            interrupt.check()?;
            tally.time(self.looked_at().0, || {
                for (ending, size) in [("JPG", header), ("preview.jpg", self.preview)] {
                    let path = self.file(library, number, ending);
                    let mut file =
                        File::open(&path).map_err(WorkloadError::io("cannot open", &path))?;
                    file.read_exact(&mut memory[..size.0 as usize])
                        .map_err(WorkloadError::io("cannot read", &path))?;
                }
                Ok::<_, WorkloadError>(())
            })?;
        }
        Ok(tally.end(Direction::Read, OperationKind::File))
    }
}

impl Workload for Photos {
    fn programs(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }

    fn cost(&self) -> Cost {
        let all = self.each().saturating_mul(self.photos);
        // The last block of each file, and its inode.
        let on_disk = all + Bytes::kib(24).saturating_mul(self.photos);
        let files = if self.raw > Bytes::ZERO { 2 } else { 1 };
        let syncs = if self.sync == Sync::File { files } else { 0 };
        Cost {
            space: on_disk,
            content: on_disk,
            sequential_write: all,
            sequential_read: self.looked_at().saturating_mul(self.photos),
            // Each sync writes data, journal and its end; each look finds two files
            // and their inodes.
            seeks: self.photos.saturating_mul(3 * syncs + 3),
            small_writes: self.photos.saturating_mul(3 * syncs),
            ..Cost::default()
        }
    }

    fn names(&self) -> Vec<String> {
        vec![LIBRARY.to_owned()]
    }

    fn profile(&self, step: &str) -> Option<StepProfile> {
        let imports = step == "import";
        let each = if self.raw > Bytes::ZERO { 3 } else { 2 };
        let durability = match self.sync {
            Sync::File => Durability::EachWrite(SyncCall::Fsync),
            Sync::End => Durability::AtEnd(SyncCall::Syncfs),
            Sync::None => Durability::Nothing,
        };
        let all = self.each().saturating_mul(self.photos);
        Some(StepProfile {
            read_share: Some(if imports { 0.0 } else { 1.0 }),
            direct: Some(false),
            durability: imports.then_some(durability),
            content: imports.then_some(ContentProfile::Random),
            files: Some(FileSet { files: self.photos.saturating_mul(each), bytes: all.0 }),
            operations: Some(self.photos),
            time_in: Some(if imports { TimeIn::Writes } else { TimeIn::Files }),
            jobs: Some(1),
            task: Some(if imports { Task::PhotoImport } else { Task::Browse }),
            ..StepProfile::default()
        })
    }

    fn prepare(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        let library = context.directory.join(LIBRARY);
        fs::create_dir(&library).map_err(WorkloadError::io("cannot make", &library))?;
        if let Some(asked) = self.scaled_from {
            context.note("photos", format!("scaled from {asked} to {} photos", self.photos));
        }
        context.note(
            "photos",
            "the card is memory: what is written is made while it is written, and no card's \
             reader sets the pace",
        );
        context.note(
            "photos",
            match self.sync {
                Sync::File => {
                    "RAW and JPEG each get an fsync before the next file; previews do not"
                }
                Sync::End => "the time of the import includes a sync at its end",
                Sync::None => {
                    "nothing is synced: what the page cache holds back is not in the time"
                }
            },
        );
        Ok(())
    }

    fn run(&self, context: &mut WorkContext<'_>) -> Result<(), WorkloadError> {
        let library = context.directory.join(LIBRARY);
        let mut stream = ByteStream::new(FileContent::Random, context.seed);
        context
            .step("import", |executor| self.import(&library, &mut stream, &executor.interrupt))?;
        context.step("browse", |executor| self.browse(&library, &executor.interrupt))
    }
}

#[cfg(test)]
mod tests {
    use disklab_exec::Executor;
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{context, read, run_in};

    #[test]
    fn photos_are_imported_and_looked_at() {
        for (sync, raw) in [("file", "300 kB"), ("end", "0"), ("none", "1 kB")] {
            let directory = tempfile::tempdir().expect("temp");
            let body = format!(
                "photos = 14\nraw = '{raw}'\njpeg = '200 kB'\npreview = '5 kB'\nper-day = 3\n\
                 sync = '{sync}'"
            );
            let workload = read("photos", &body, 0.5).expect("valid");
            let ran = run_in(&*workload, directory.path(), None).expect(sync);
            let raw: Bytes = raw.parse().expect("size");
            let figures: Vec<_> = ran.steps.iter().map(|s| &s.figures[0]).collect();
            assert_eq!(figures[0].bytes, 7 * (raw.0 + 205_000));
            assert_eq!(figures[1].bytes, 7 * (131_072 + 5000));
            for figure in figures {
                assert_eq!(figure.operations, Some(7));
                let latency = figure.latency.as_ref().expect("latencies");
                assert_eq!(latency.histogram.count(), 7);
            }
            let day = |n: u32| directory.path().join(LIBRARY).join(format!("2024/01-0{n}"));
            let count = |n: u32| fs::read_dir(day(n)).expect("day").count();
            let files = if raw == Bytes::ZERO { 2 } else { 3 };
            assert_eq!([1, 2, 3].map(count), [3 * files, 3 * files, files]);
            assert!(ran.notes.iter().any(|n| n.text == "scaled from 14 to 7 photos"));
        }
    }

    #[test]
    fn a_year_has_twelve_months() {
        let photos = Photos {
            photos: 1,
            scaled_from: None,
            raw: Bytes(1),
            jpeg: Bytes(1),
            preview: Bytes(1),
            per_day: 2,
            sync: Sync::None,
        };
        for (number, day) in [
            (0, "2024/01-01"),
            (55, "2024/01-28"),
            (56, "2024/02-01"),
            (671, "2024/12-28"),
            (672, "2025/01-01"),
        ] {
            assert_eq!(photos.day(number), day);
        }
    }

    #[test]
    fn a_photo_that_is_gone_is_named() {
        let directory = tempfile::tempdir().expect("temp");
        let executor = Executor::new(Interrupt::new());
        let context = context(&executor, directory.path(), None);
        let library = context.directory.join(LIBRARY);
        let photos = Photos {
            photos: 2,
            scaled_from: None,
            raw: Bytes::ZERO,
            jpeg: Bytes(9000),
            preview: Bytes(100),
            per_day: 9,
            sync: Sync::None,
        };
        let mut stream = ByteStream::new(FileContent::Random, 1);
        photos.import(&library, &mut stream, &executor.interrupt).expect("imported");
        fs::write(photos.file(&library, 1, "JPG"), "short").expect("cut");
        let error = photos.browse(&library, &executor.interrupt).expect_err("cut").to_string();
        assert!(error.contains("IMG_0000002.JPG"), "{error}");
    }

    #[test]
    fn an_interrupt_stops_it() {
        let directory = tempfile::tempdir().expect("temp");
        let executor = Executor::new(Interrupt::new());
        let mut context = context(&executor, directory.path(), None);
        let workload = read("photos", "", 1.0).expect("valid");
        workload.prepare(&mut context).expect("prepared");
        executor.interrupt.raise();
        assert!(workload.run(&mut context).expect_err("stopped").is_interrupt());
    }

    #[test]
    fn wrong_fields_are_errors() {
        for (body, part) in [
            ("photos = 0", "from 1"),
            ("jpeg = 0", "`jpeg`: expected 1"),
            ("raw = '2 GiB'", "1 GiB"),
            ("sync = 'always'", "'file', 'end' or 'none'"),
            ("photo = 1", "did you mean 'photos'"),
        ] {
            let error = read("photos", body, 1.0).expect_err(body).to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    proptest! {
        #[test]
        fn space_holds_all(scale in 1e-9_f64..4.0, photos in 1_u64..1 << 20, raw in 0_u64..1 << 30) {
            let body = format!("photos = {photos}\nraw = {raw}");
            let cost = read("photos", &body, scale).expect("valid").cost();
            prop_assert!(cost.space > cost.sequential_write && cost.content <= cost.space);
            prop_assert!(cost.sequential_write.0 > 0 && cost.sequential_read.0 > 0);
        }
    }
}
