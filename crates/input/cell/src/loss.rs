//! Which drives may die before data are lost.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// More sets of drives than this are not tried; see [`LossTree::tolerates`].
const MOST_SETS: u64 = 200_000;

/// What has to die before data are lost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossTree {
    /// A drive, by its place among those of the stack, from 0.
    Drive(u32),
    /// More than so many of some parts.
    Parts {
        /// How many of them may be lost, whichever they are.
        survives: u32,
        /// Bytes that lie on each of them: what a rebuild of one writes.
        each: u64,
        /// Whether a rebuild copies only what is used, as a file system knows it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        only_used: bool,
        /// The parts.
        of: Vec<LossTree>,
    },
}

impl LossTree {
    /// Of parts, of which so many may be lost.
    pub fn parts(survives: u32, each: u64, mut of: Vec<Self>) -> Self {
        if of.len() == 1 && survives == 0 {
            return of.remove(0);
        }
        Self::Parts { survives, each, only_used: false, of }
    }

    /// The same, of which a rebuild copies only what is used.
    #[must_use]
    pub fn rebuilt_by_use(mut self) -> Self {
        if let Self::Parts { only_used, .. } = &mut self {
            *only_used = true;
        }
        self
    }

    /// Of copies of each chunk on `copies` neighbours among the parts, of which the first begins
    /// at each multiple of `step`: the last part's neighbour is the first.
    pub fn neighbours(copies: usize, step: usize, each: u64, of: &[Self]) -> Self {
        let (copies, step) = (copies.clamp(1, of.len().max(1)), step.max(1));
        let sets = (0..of.len()).step_by(step);
        let set = |from: usize| {
            let own = (from..from + copies).map(|part| of[part % of.len()].clone()).collect();
            Self::parts(copies as u32 - 1, each, own)
        };
        Self::parts(0, each, sets.map(set).collect())
    }

    /// Whether data are lost with these drives.
    pub fn is_lost(&self, is_dead: &dyn Fn(u32) -> bool) -> bool {
        match self {
            Self::Drive(drive) => is_dead(*drive),
            Self::Parts { survives, of, .. } => {
                of.iter().filter(|part| part.is_lost(is_dead)).count() > *survives as usize
            }
        }
    }

    /// All drives that hold data.
    pub fn drives(&self) -> BTreeSet<u32> {
        match self {
            Self::Drive(drive) => BTreeSet::from([*drive]),
            Self::Parts { of, .. } => of.iter().flat_map(Self::drives).collect(),
        }
    }

    /// Drives and parts of any depth, each as often as it stands there.
    pub fn parts_in_all(&self) -> usize {
        match self {
            Self::Drive(_) => 1,
            Self::Parts { of, .. } => 1 + of.iter().map(Self::parts_in_all).sum::<usize>(),
        }
    }

    /// Whether a rebuild copies only what is used, in all parts that have redundancy.
    pub fn copies_only_used(&self) -> bool {
        match self {
            Self::Drive(_) => true,
            Self::Parts { survives, only_used, of, .. } => {
                (*survives == 0 || *only_used) && of.iter().all(Self::copies_only_used)
            }
        }
    }

    /// How many drives may die, whichever they are. Where trying all sets of drives would take too
    /// long, it is what was proven until then: the truth is never less.
    pub fn tolerates(&self) -> u32 {
        let (least, most) = self.fatal();
        let drives: Vec<u32> = self.drives().into_iter().collect();
        let mut tried = 0;
        for dying in least..most {
            if self.some_set_is_fatal(&drives, dying as usize, &mut Vec::new(), &mut tried)
                != Some(false)
            {
                return dying - 1;
            }
        }
        most.saturating_sub(1)
    }

    /// Between what the fewest drives lie whose death is fatal: equal if no two parts share one.
    fn fatal(&self) -> (u32, u32) {
        let Self::Parts { survives, of, .. } = self else { return (1, 1) };
        let mut parts: Vec<(u32, u32)> = of.iter().map(Self::fatal).collect();
        let needed = (*survives as usize + 1).min(parts.len());
        parts.sort_unstable_by_key(|(_, most)| *most);
        let most = parts[..needed].iter().map(|(_, most)| *most).sum();
        let held: usize = of.iter().map(|part| part.drives().len()).sum();
        let apart = held == self.drives().len();
        parts.sort_unstable();
        let leasts = parts[..needed].iter().map(|(least, _)| *least);
        let least = if apart { leasts.sum() } else { leasts.max().unwrap_or(1) };
        (least, most)
    }

    /// Whether some set of `left` more drives after those in `set` is fatal; nothing where there
    /// are too many sets to try.
    fn some_set_is_fatal(
        &self,
        drives: &[u32],
        left: usize,
        set: &mut Vec<u32>,
        tried: &mut u64,
    ) -> Option<bool> {
        if left == 0 {
            *tried += 1;
            return (*tried <= MOST_SETS).then(|| self.is_lost(&|drive| set.contains(&drive)));
        }
        for (at, drive) in drives.iter().enumerate() {
            set.push(*drive);
            let found = self.some_set_is_fatal(&drives[at + 1..], left - 1, set, tried);
            set.pop();
            if found != Some(false) {
                return found;
            }
        }
        Some(false)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn drives(numbers: std::ops::Range<u32>) -> Vec<LossTree> {
        numbers.map(LossTree::Drive).collect()
    }

    #[test]
    fn nested_arrays_on_drives_of_their_own() {
        let mirrors: Vec<_> = [0, 2, 4].map(|d| LossTree::parts(1, 1, drives(d..d + 2))).into();
        for (tree, tolerates) in [
            (LossTree::Drive(0), 0),
            (LossTree::parts(0, 1, drives(0..3)), 0),
            (LossTree::parts(2, 1, drives(0..6)), 2),
            (LossTree::parts(0, 1, mirrors.clone()), 1),
            (LossTree::parts(1, 1, mirrors.clone()), 3),
            (LossTree::parts(1, 1, [drives(0..1), mirrors[1..].to_vec()].concat()), 2),
        ] {
            assert_eq!(tree.tolerates(), tolerates, "{tree:?}");
        }
    }

    #[test]
    fn parts_on_the_same_drive_fall_together() {
        let halves = LossTree::parts(1, 1, [drives(0..1), drives(0..1), drives(1..2)].concat());
        assert_eq!(halves.tolerates(), 0, "two thirds of a RAID 5 on one drive");
        let mirror = LossTree::parts(1, 1, drives(0..2));
        assert_eq!(LossTree::parts(0, 1, vec![mirror.clone(), mirror]).tolerates(), 1);
    }

    #[test]
    fn neighbours_hold_copies() {
        let lost = |tree: &LossTree, dead: [u32; 2]| tree.is_lost(&|drive| dead.contains(&drive));
        let pairs = LossTree::neighbours(2, 2, 1, &drives(0..4));
        let all_round = LossTree::neighbours(2, 1, 1, &drives(0..4));
        for (dead, of_pairs, round) in [
            ([0, 1], true, true),
            ([1, 2], false, true),
            ([3, 0], false, true),
            ([0, 2], false, false),
        ] {
            assert_eq!((lost(&pairs, dead), lost(&all_round, dead)), (of_pairs, round), "{dead:?}");
        }
        assert_eq!((pairs.tolerates(), all_round.tolerates()), (1, 1));
    }

    fn tree() -> impl Strategy<Value = LossTree> {
        (0_u32..7).prop_map(LossTree::Drive).prop_recursive(3, 12, 4, |inner| {
            (0_u32..3, prop::collection::vec(inner, 1..4)).prop_map(|(survives, of)| {
                LossTree::parts(survives.min(of.len() as u32 - 1), 1, of)
            })
        })
    }

    proptest! {
        #[test]
        fn tolerated_is_what_all_sets_say(tree in tree()) {
            let fatal = (0..1_u32 << 7).filter(|dead| tree.is_lost(&|drive| dead >> drive & 1 == 1));
            let fewest = fatal.map(u32::count_ones).min().expect("all drives are fatal");
            prop_assert_eq!(tree.tolerates() + 1, fewest);
        }

        #[test]
        fn read_as_written(tree in tree()) {
            let text = serde_json::to_string(&tree).expect("written");
            prop_assert_eq!(serde_json::from_str::<LossTree>(&text).expect("read"), tree);
        }
    }
}
