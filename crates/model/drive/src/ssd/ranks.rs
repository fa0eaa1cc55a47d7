//! Lines by how much of them is in use.

/// No line.
const NONE: u32 = u32::MAX;

/// Lines ranked by a key from 0 to a most; all that is done takes constant time, but
/// for the search for the lowest, which continues where the last one ended.
#[derive(Debug, Clone)]
pub(crate) struct Ranks {
    /// The first line of each key.
    heads: Vec<u32>,
    next: Vec<u32>,
    previous: Vec<u32>,
    keys: Vec<u32>,
    /// No key below has lines.
    lowest: usize,
}

impl Ranks {
    /// Ranks for so many lines with keys up to `most`.
    pub(crate) fn new(lines: u32, most: u32) -> Self {
        let links = vec![NONE; lines as usize];
        Self {
            heads: vec![NONE; most as usize + 1],
            next: links.clone(),
            previous: links.clone(),
            keys: links,
            lowest: 0,
        }
    }

    /// Enters a line.
    pub(crate) fn insert(&mut self, line: u32, key: u32) {
        let head = &mut self.heads[key as usize];
        self.next[line as usize] = *head;
        self.previous[line as usize] = NONE;
        if let Some(previous) = self.previous.get_mut(*head as usize) {
            *previous = line;
        }
        *head = line;
        self.keys[line as usize] = key;
        self.lowest = self.lowest.min(key as usize);
    }

    /// Takes a line out.
    pub(crate) fn remove(&mut self, line: u32) {
        let (next, previous) = (self.next[line as usize], self.previous[line as usize]);
        if let Some(back) = self.previous.get_mut(next as usize) {
            *back = previous;
        }
        match self.next.get_mut(previous as usize) {
            Some(forth) => *forth = next,
            None => self.heads[self.keys[line as usize] as usize] = next,
        }
    }

    /// Gives a line another key.
    pub(crate) fn change(&mut self, line: u32, key: u32) {
        self.remove(line);
        self.insert(line, key);
    }

    /// A line with the lowest key, and this.
    pub(crate) fn lowest(&mut self) -> Option<(u32, u32)> {
        while let Some(head) = self.heads.get(self.lowest) {
            if *head != NONE {
                return Some((*head, self.lowest as u32));
            }
            self.lowest += 1;
        }
        None
    }

    /// Bytes of memory that it takes.
    pub(crate) fn memory(&self) -> u64 {
        4 * (self.heads.len() + 3 * self.next.len()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Four bytes for each key, and three times as many for each line.
    #[test]
    fn memory_is_counted() {
        assert_eq!(Ranks::new(20, 8).memory(), 4 * 9 + 12 * 20);
    }

    proptest! {
        #[test]
        fn the_lowest_is_found(steps in prop::collection::vec((0_u32..20, 0_u32..9, 0_u8..3), 1..200)) {
            let mut ranks = Ranks::new(20, 8);
            let mut keys: BTreeMap<u32, u32> = BTreeMap::new();
            for (line, key, kind) in steps {
                match (keys.contains_key(&line), kind) {
                    (false, _) => {
                        ranks.insert(line, key);
                        keys.insert(line, key);
                    }
                    (true, 0) => {
                        ranks.remove(line);
                        keys.remove(&line);
                    }
                    (true, _) => {
                        ranks.change(line, key);
                        keys.insert(line, key);
                    }
                }
                let lowest = ranks.lowest();
                prop_assert_eq!(lowest.map(|(_, key)| key), keys.values().min().copied());
                prop_assert_eq!(lowest.and_then(|(line, _)| keys.get(&line)).copied(), lowest.map(|l| l.1));
            }
        }
    }
}
