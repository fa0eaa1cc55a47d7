//! Which pages of the virtual disk the host holds.
//!
//! Their content is nobody's affair here: the lab's store has it. Pages are let go in
//! the order in which they were used last, in groups of 16 neighbours. (Linux has two
//! lists, so that what was read once goes before what was read twice.)

use std::collections::{BTreeSet, HashMap};

use crate::lru::Lru;

/// Pages of a group.
const GROUP: u64 = 16;

/// Neighbouring pages, one bit each.
#[derive(Debug, Clone, Copy)]
struct Group {
    number: u64,
    held: u16,
    dirty: u16,
    marked: u16,
}

/// The pages that are held.
#[derive(Debug, Clone)]
pub(crate) struct PageCache {
    groups: Lru<Group>,
    places: HashMap<u64, u32>,
    with_dirty: BTreeSet<u64>,
    limit: u64,
    held: u64,
    dirty: u64,
}

impl PageCache {
    /// An empty cache of so many pages.
    pub fn new(limit: u64) -> Self {
        Self {
            groups: Lru::new(),
            places: HashMap::new(),
            with_dirty: BTreeSet::new(),
            limit,
            held: 0,
            dirty: 0,
        }
    }

    /// Whether a page is held.
    pub fn holds(&self, page: u64) -> bool {
        self.group(page).is_some_and(|group| group.held & bit(page) != 0)
    }

    /// Pages that are dirty.
    pub fn dirty(&self) -> u64 {
        self.dirty
    }

    /// Pages that are held.
    #[cfg(test)]
    pub fn held(&self) -> u64 {
        self.held
    }

    /// A held page was used.
    pub fn touch(&mut self, page: u64) {
        if let Some(place) = self.places.get(&(page / GROUP)) {
            self.groups.touch(*place);
        }
    }

    /// Holds a page from now on, in the place of the oldest clean ones.
    pub fn enter(&mut self, page: u64) {
        let place = self.place(page);
        let group = self.groups.get_mut(place);
        if group.held & bit(page) == 0 {
            group.held |= bit(page);
            self.held += 1;
        }
        self.groups.touch(place);
        self.shrink(page / GROUP);
    }

    /// A page, held or not, is held and dirty from now on.
    pub fn write(&mut self, page: u64) {
        self.enter(page);
        let place = self.place(page);
        let group = self.groups.get_mut(place);
        if group.dirty & bit(page) == 0 {
            group.dirty |= bit(page);
            self.dirty += 1;
            self.with_dirty.insert(page / GROUP);
        }
    }

    /// Marks a held page: the next window is read when it is.
    pub fn mark(&mut self, page: u64) {
        if let Some(group) = self.group_mut(page) {
            group.marked |= bit(page) & group.held;
        }
    }

    /// Whether a page was marked; it no longer is.
    pub fn take_mark(&mut self, page: u64) -> bool {
        let Some(group) = self.group_mut(page) else { return false };
        let marked = group.marked & bit(page) != 0;
        group.marked &= !bit(page);
        marked
    }

    /// The first dirty pages in a row from `from` on and before `until`, at most `most`.
    pub fn dirty_run(&self, from: u64, until: u64, most: u64) -> Option<(u64, u64)> {
        if from >= until {
            return None;
        }
        let groups = self.with_dirty.range(from / GROUP..=(until - 1) / GROUP);
        let pages = |group: &u64| group * GROUP..(group + 1) * GROUP;
        let mut dirty = groups.flat_map(pages).filter(|page| *page >= from && *page < until);
        let start = dirty.find(|page| self.is_dirty(*page))?;
        let end = (start + 1..until.min(start + most)).find(|page| !self.is_dirty(*page));
        Some((start, end.unwrap_or(until.min(start + most))))
    }

    /// Pages that are clean from now on.
    pub fn clean(&mut self, start: u64, end: u64) {
        for page in start..end {
            let Some(group) = self.group_mut(page) else { continue };
            if group.dirty & bit(page) != 0 {
                group.dirty &= !bit(page);
                let all = group.dirty == 0;
                self.dirty -= 1;
                if all {
                    self.with_dirty.remove(&(page / GROUP));
                }
            }
        }
    }

    /// Lets go of pages that could not be read, but for what was written since.
    pub fn forget(&mut self, start: u64, end: u64) {
        for page in start..end {
            let Some(group) = self.group_mut(page) else { continue };
            if group.held & !group.dirty & bit(page) != 0 {
                group.held &= !bit(page);
                group.marked &= !bit(page);
                self.held -= 1;
            }
        }
    }

    fn is_dirty(&self, page: u64) -> bool {
        self.group(page).is_some_and(|group| group.dirty & bit(page) != 0)
    }

    fn group(&self, page: u64) -> Option<&Group> {
        self.places.get(&(page / GROUP)).map(|place| self.groups.get(*place))
    }

    fn group_mut(&mut self, page: u64) -> Option<&mut Group> {
        let place = *self.places.get(&(page / GROUP))?;
        Some(self.groups.get_mut(place))
    }

    /// The place of a page's group, which is made where there is none.
    fn place(&mut self, page: u64) -> u32 {
        let number = page / GROUP;
        let groups = &mut self.groups;
        *self
            .places
            .entry(number)
            .or_insert_with(|| groups.push(Group { number, held: 0, dirty: 0, marked: 0 }))
    }

    /// Lets the oldest clean pages go until there are no more than may be; those of
    /// group `kept`, which is at work, stay.
    fn shrink(&mut self, kept: u64) {
        let mut looks = self.groups.len();
        while self.held > self.limit && looks > 0 {
            looks -= 1;
            let Some(place) = self.groups.oldest() else { return };
            let group = self.groups.get_mut(place);
            if group.number == kept || group.held == group.dirty {
                self.groups.touch(place);
                continue;
            }
            self.held -= u64::from((group.held & !group.dirty).count_ones());
            group.held = group.dirty;
            group.marked &= group.held;
            if group.held == 0 {
                self.places.remove(&group.number);
                self.groups.remove(place);
            } else {
                // Looked at, as those above: each group has one look, and none is left out.
                self.groups.touch(place);
            }
        }
    }
}

fn bit(page: u64) -> u16 {
    1 << (page % GROUP)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The same as sets of pages, of which only clean ones go.
        #[test]
        fn dirty_pages_stay_and_all_are_counted(
            steps in prop::collection::vec((0..4_u8, 0..400_u64, 1..30_u64), 1..80),
            limit in 20..200_u64,
        ) {
            let mut cache = PageCache::new(limit);
            let mut dirty = BTreeSet::new();
            for (step, start, pages) in steps {
                match step {
                    0 => (start..start + pages).for_each(|page| cache.enter(page)),
                    1 => {
                        (start..start + pages).for_each(|page| cache.write(page));
                        dirty.extend(start..start + pages);
                    }
                    2 => {
                        cache.clean(start, start + pages);
                        dirty.retain(|page| !(start..start + pages).contains(page));
                    }
                    _ => {
                        let run = cache.dirty_run(start, 500, pages);
                        let first = dirty.range(start..500).next().copied();
                        prop_assert_eq!(run.map(|(start, _)| start), first);
                        if let Some((start, end)) = run {
                            prop_assert!(end > start && end - start <= pages);
                            prop_assert!((start..end).all(|page| dirty.contains(&page)));
                            prop_assert!(end - start == pages || !dirty.contains(&end) || end == 500);
                        }
                    }
                }
                prop_assert_eq!(cache.dirty(), dirty.len() as u64);
                prop_assert!(dirty.iter().all(|page| cache.holds(*page)));
                let held = (0..500).filter(|page| cache.holds(*page)).count() as u64;
                prop_assert_eq!(cache.held(), held);
                // What became clean goes when the next page comes.
                prop_assert!(step > 1 || held <= limit.max(cache.dirty() + GROUP));
            }
        }
    }

    #[test]
    fn groups_that_keep_dirty_pages_do_not_shield_the_rest() {
        let mut cache = PageCache::new(20);
        (340..360).chain(198..216).for_each(|page| cache.write(page));
        (11..24).for_each(|page| cache.enter(page));
        cache.clean(332, 341);
        cache.clean(193, 209);
        cache.enter(192);
        // 26 are dirty, and of the group at work 11 are clean.
        assert_eq!((cache.dirty(), cache.held()), (26, 37));
    }

    #[test]
    fn recently_used_pages_stay() {
        let mut cache = PageCache::new(64);
        (0..64).for_each(|page| cache.enter(page));
        cache.touch(3);
        cache.enter(100);
        assert!(cache.holds(3) && cache.holds(100) && !cache.holds(16) && cache.holds(32));
    }

    #[test]
    fn a_mark_is_taken_once_and_only_of_a_cached_page() {
        let mut cache = PageCache::new(64);
        cache.mark(5);
        cache.enter(5);
        assert!(!cache.take_mark(5));
        cache.mark(5);
        assert!(cache.take_mark(5) && !cache.take_mark(5));
    }
}
