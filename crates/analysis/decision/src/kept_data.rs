//! What became of data that were read back: right, refused, or wrong without a word.

use disklab_sample::{KeptData, Sample};
use disklab_units::significant;

/// Blocks that a stack gave back, at the first reading and after a scrub, of all repeats together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StackKept {
    /// At the first reading.
    pub first: KeptData,
    /// After the scrub, if the stack has one.
    pub scrubbed: Option<KeptData>,
}

/// What the samples of a run say of data that were read back.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct KeptSummary {
    /// By stack, in the order of their first samples.
    pub stacks: Vec<(String, StackKept)>,
}

impl KeptSummary {
    /// Counts a sample of this stack, if data were read back in it.
    pub fn add(&mut self, stack: &str, sample: &Sample) {
        let mut kept = sample.steps.iter().filter_map(|step| step.kept);
        let Some(first) = kept.next() else { return };
        let at = self.stacks.iter().position(|(known, _)| known == stack).unwrap_or_else(|| {
            self.stacks.push((stack.to_owned(), StackKept::default()));
            self.stacks.len() - 1
        });
        let own = &mut self.stacks[at].1;
        own.first = sum(own.first, first);
        if let Some(scrubbed) = kept.next() {
            own.scrubbed = Some(sum(own.scrubbed.unwrap_or_default(), scrubbed));
        }
    }

    /// A sentence for each stack.
    pub fn sentences(&self) -> Vec<String> {
        let one = |(stack, kept): &(String, StackKept)| {
            let after = match kept.scrubbed {
                Some(scrubbed) => format!("; after a scrub {}", words(&scrubbed)),
                None if kept.first.right == 0 && kept.first.wrong == 0 => String::new(),
                None => "; it has no scrub".to_owned(),
            };
            format!("{stack}: read back {}{after}.", words(&kept.first))
        };
        self.stacks.iter().map(one).collect()
    }
}

fn sum(a: KeptData, b: KeptData) -> KeptData {
    let add = |of: fn(&KeptData) -> u64| of(&a).saturating_add(of(&b));
    KeptData {
        right: add(|kept| kept.right),
        wrong: add(|kept| kept.wrong),
        unreadable: add(|kept| kept.unreadable),
        files: add(|kept| kept.files),
        damaged: add(|kept| kept.damaged),
    }
}

/// `all right`, or how much is wrong and how much is refused.
pub fn words(kept: &KeptData) -> String {
    let all = kept.right.saturating_add(kept.wrong).saturating_add(kept.unreadable);
    let of_all = |count: u64| {
        let share = significant(100.0 * count as f64 / all.max(1) as f64, 2);
        format!("{count} of {all} blocks ({share} %)")
    };
    let text = match (kept.wrong, kept.unreadable) {
        (0, 0) => "all right".to_owned(),
        (0, refused) if kept.right == 0 => format!("none of {refused} blocks, all refused"),
        (0, refused) => format!("{} refused with an error, none wrong", of_all(refused)),
        (wrong, 0) => format!("{} wrong without an error", of_all(wrong)),
        (wrong, refused) => {
            format!("{} wrong without an error, and {refused} refused", of_all(wrong))
        }
    };
    match (kept.damaged, kept.files) {
        (0, _) | (_, 0..2) => text,
        (damaged, files) => format!("{text}, in {damaged} of {files} files"),
    }
}

#[cfg(test)]
mod tests {
    use disklab_sample::Step;

    use super::*;

    fn sample(kept: &[(u64, u64, u64)]) -> Sample {
        let step = |(right, wrong, unreadable): &(u64, u64, u64)| {
            let damaged = (wrong + unreadable).min(8);
            let (right, wrong, unreadable) = (*right, *wrong, *unreadable);
            let kept = KeptData { right, wrong, unreadable, files: 10, damaged };
            Step { kept: Some(kept), ..Step::default() }
        };
        let steps = std::iter::once(Step::default()).chain(kept.iter().map(step)).collect();
        Sample { steps, ..Sample::default() }
    }

    #[test]
    fn repeats_are_summed() {
        let mut summary = KeptSummary::default();
        summary.add("raid5/ext4", &sample(&[(98, 2, 0), (97, 3, 0)]));
        summary.add("zfs-raidz1", &sample(&[(100, 0, 0), (100, 0, 0)]));
        summary.add("raid5/ext4", &sample(&[(99, 0, 1), (100, 0, 0)]));
        summary.add("single/btrfs", &sample(&[(90, 0, 10)]));
        summary.add("single/xfs", &sample(&[]));
        summary.add("single/ext4", &sample(&[(0, 0, 100)]));
        assert_eq!(
            summary.sentences(),
            [
                "raid5/ext4: read back 2 of 200 blocks (1.0 %) wrong without an error, and 1 refused, \
                 in 3 of 20 files; after a scrub 3 of 200 blocks (1.5 %) wrong without an error, in 3 \
                 of 20 files.",
                "zfs-raidz1: read back all right; after a scrub all right.",
                "single/btrfs: read back 10 of 100 blocks (10 %) refused with an error, none wrong, in 8 \
                 of 10 files; it has no scrub.",
                "single/ext4: read back none of 100 blocks, all refused, in 8 of 10 files.",
            ]
        );
    }
}
