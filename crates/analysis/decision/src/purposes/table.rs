//! What each purpose asks of a stack. A new purpose is one entry here.
//!
//! Weights are judgements, not measurements: 3 decides, 2 matters, 1 is pleasant. They are
//! few and coarse on purpose, and a report says what changes without each of them.

use disklab_sample::{Task, Task::*};
use disklab_study::{Measure, Percentile};

/// The weight of what decides. If a purpose has no such aspect, all that counts decides together.
pub const DECIDES: u32 = 3;

/// What people build storage for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Purpose {
    /// For programs: `media`.
    pub word: &'static str,
    /// In a table: 'Media'.
    pub short: &'static str,
    /// For people: 'media: films, music, photos'.
    pub title: &'static str,
    /// What it asks for.
    pub aspects: &'static [Aspect],
}

/// One thing that a purpose asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Aspect {
    /// In a sentence: 'reading large files'.
    pub name: &'static str,
    /// 3 decides, 2 matters, 1 is pleasant.
    pub weight: u32,
    /// Why it counts here.
    pub why: &'static str,
    /// The tasks that show it: the first of these sets that was measured, which is nearest to what
    /// people do; the others stand for it.
    pub work: &'static [&'static [Task]],
    /// What is looked at; of the first that was measured.
    pub measures: &'static [Measure],
    /// What could be done about it besides another stack; empty where nothing simple can.
    pub remedy: &'static str,
    /// Whether a run without it says as much: it counts if it was measured.
    pub is_optional: bool,
}

const RATE: &[Measure] = &[Measure::Throughput, Measure::Iops, Measure::Elapsed];
const NUMBER: &[Measure] = &[Measure::Iops, Measure::Throughput, Measure::Elapsed];
const TIME: &[Measure] = &[Measure::Elapsed, Measure::Iops, Measure::Throughput];
const WAIT: &[Measure] = &[Measure::Latency(Percentile::P99), Measure::Iops, Measure::Throughput];

/// What makes small synchronous writes fast on any stack.
const SAFE_REMEDY: &str = "a write cache that survives a power loss (a controller with a battery, \
                           an SSD with power-loss protection for the log) speeds up synchronous \
                           writes on every stack";

const fn aspect(
    name: &'static str,
    weight: u32,
    why: &'static str,
    work: &'static [&'static [Task]],
    measures: &'static [Measure],
    remedy: &'static str,
) -> Aspect {
    Aspect { name, weight, why, work, measures, remedy, is_optional: false }
}

/// All purposes.
pub const PURPOSES: [Purpose; 5] = [
    Purpose {
        word: "media",
        short: "Films and photos",
        title: "media: films, music, photos",
        aspects: &[
            aspect(
                "reading large files",
                DECIDES,
                "films and photos are read far more often than written",
                &[&[LargeRead], &[Browse]],
                RATE,
                "",
            ),
            aspect(
                "writing large files",
                2,
                "a card or a download comes in one go",
                &[&[LargeWrite], &[PhotoImport]],
                RATE,
                "",
            ),
            aspect(
                "opening large directories",
                1,
                "people browse libraries",
                &[&[List]],
                TIME,
                "more memory keeps directories in it",
            ),
        ],
    },
    Purpose {
        word: "backup",
        short: "Backup",
        title: "backup: copies of other machines",
        aspects: &[
            aspect(
                "writing large files",
                DECIDES,
                "a backup is a stream into large archives or bands",
                &[&[Backup], &[LargeWrite]],
                RATE,
                "",
            ),
            aspect(
                "copying many small files",
                2,
                "homes are small files, and tools that copy trees wait for each",
                &[&[SmallFiles], &[Create]],
                TIME,
                "a backup program that packs files into archives",
            ),
            aspect(
                "reading large files",
                2,
                "on the day of the restore, and for each check",
                &[&[Restore], &[LargeRead]],
                RATE,
                "",
            ),
            aspect(
                "deleting many files",
                1,
                "old generations are thrown away",
                &[&[Delete]],
                TIME,
                "",
            ),
        ],
    },
    Purpose {
        word: "vm",
        short: "Virtual machines",
        title: "images of virtual machines",
        aspects: &[
            aspect(
                "random reads",
                DECIDES,
                "guests start and load programs all over their images",
                &[&[RandomRead]],
                NUMBER,
                "more memory for the page cache, or an SSD as read cache",
            ),
            aspect(
                "random writes",
                DECIDES,
                "guests write all over their images",
                &[&[RandomWrite]],
                NUMBER,
                SAFE_REMEDY,
            ),
            Aspect {
                is_optional: true,
                ..aspect(
                    "reading a used image",
                    DECIDES,
                    "backups and starting guests read images that were written at random before",
                    &[&[AgedRead]],
                    RATE,
                    "a new copy of the image, or a file system that overwrites in place",
                )
            },
            aspect(
                "small synchronous writes",
                2,
                "guests flush, and wait",
                &[&[DurableWrite], &[DurableAppend]],
                WAIT,
                SAFE_REMEDY,
            ),
        ],
    },
    Purpose {
        word: "database",
        short: "Databases",
        title: "databases",
        aspects: &[
            aspect(
                "small synchronous writes",
                DECIDES,
                "every commit waits until the log is on the disk",
                &[&[Commit], &[DurableWrite], &[DurableAppend]],
                NUMBER,
                SAFE_REMEDY,
            ),
            aspect(
                "random reads",
                2,
                "rows and indexes lie all over the files",
                &[&[LookUp], &[RandomRead]],
                NUMBER,
                "enough memory for what is in use",
            ),
            aspect(
                "reading whole tables",
                1,
                "reports and dumps read tables whose rows were changed at random before",
                &[&[TableScan], &[AgedRead], &[LargeRead]],
                RATE,
                "",
            ),
        ],
    },
    Purpose {
        word: "mixed",
        short: "Mixed use",
        title: "a NAS for everything at home or in an office",
        aspects: &[
            aspect(
                "reading large files",
                2,
                "films, images, archives",
                &[&[LargeRead], &[Browse]],
                RATE,
                "",
            ),
            aspect(
                "writing large files",
                2,
                "copies to the NAS",
                &[&[LargeWrite], &[PhotoImport]],
                RATE,
                "",
            ),
            aspect(
                "copying many small files",
                2,
                "documents and projects",
                &[&[SmallFiles], &[Create]],
                TIME,
                "",
            ),
            aspect(
                "small synchronous writes",
                2,
                "saving a file waits for it",
                &[&[DurableAppend], &[DurableWrite], &[Commit]],
                WAIT,
                SAFE_REMEDY,
            ),
            aspect(
                "random reads",
                1,
                "several people at once",
                &[&[RandomRead]],
                NUMBER,
                "more memory for the page cache",
            ),
            aspect(
                "opening large directories",
                1,
                "directories are opened more often than files",
                &[&[List]],
                TIME,
                "more memory keeps directories in it",
            ),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_aspect_says_why_and_has_work() {
        for purpose in &PURPOSES {
            assert!(purpose.aspects.iter().any(|a| a.weight >= 2), "{}", purpose.word);
            for aspect in purpose.aspects {
                assert!(!aspect.why.is_empty() && !aspect.work.is_empty(), "{}", aspect.name);
                assert!(aspect.work.iter().all(|tasks| !tasks.is_empty()), "{}", aspect.name);
                assert!((1..=3).contains(&aspect.weight) && !aspect.measures.is_empty());
            }
            let mut names: Vec<&str> = purpose.aspects.iter().map(|a| a.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), purpose.aspects.len(), "{}", purpose.word);
        }
    }
}
