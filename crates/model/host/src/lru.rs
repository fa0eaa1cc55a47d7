//! Things in the order in which they were last used.

/// No place.
const NONE: u32 = u32::MAX;

/// One of them, between its neighbours.
#[derive(Debug, Clone)]
struct Link<T> {
    item: T,
    newer: u32,
    older: u32,
}

/// A list of things from the newest to the oldest, each at a place of its own, which it
/// keeps while it is in the list.
#[derive(Debug, Clone)]
pub(crate) struct Lru<T> {
    links: Vec<Link<T>>,
    free: Vec<u32>,
    newest: u32,
    oldest: u32,
}

impl<T: Copy> Lru<T> {
    /// Nothing.
    pub fn new() -> Self {
        Self { links: Vec::new(), free: Vec::new(), newest: NONE, oldest: NONE }
    }

    /// Adds the newest, and says at which place.
    pub fn push(&mut self, item: T) -> u32 {
        let link = Link { item, newer: NONE, older: NONE };
        let place = match self.free.pop() {
            Some(place) => {
                self.links[place as usize] = link;
                place
            }
            None => {
                self.links.push(link);
                // A group is some 40 bytes: 2^32 of them are in no machine.
                (self.links.len() - 1) as u32
            }
        };
        self.put_first(place);
        place
    }

    /// Makes the thing at this place the newest.
    pub fn touch(&mut self, place: u32) {
        if place != self.newest {
            self.take_out(place);
            self.put_first(place);
        }
    }

    /// Takes the thing at this place out of the list.
    pub fn remove(&mut self, place: u32) {
        self.take_out(place);
        self.free.push(place);
    }

    /// The place of the oldest.
    pub fn oldest(&self) -> Option<u32> {
        (self.oldest != NONE).then_some(self.oldest)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.links.len() - self.free.len()
    }

    /// The thing at a place.
    pub fn get(&self, place: u32) -> &T {
        &self.links[place as usize].item
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, place: u32) -> &mut T {
        &mut self.links[place as usize].item
    }

    fn put_first(&mut self, place: u32) {
        self.links[place as usize].older = self.newest;
        self.links[place as usize].newer = NONE;
        match self.newest {
            NONE => self.oldest = place,
            second => self.links[second as usize].newer = place,
        }
        self.newest = place;
    }

    fn take_out(&mut self, place: u32) {
        let Link { newer, older, .. } = self.links[place as usize];
        match newer {
            NONE => self.newest = older,
            newer => self.links[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.links[older as usize].newer = newer,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_oldest_goes_first(steps in prop::collection::vec((0..3_u8, 0..20_usize), 1..120)) {
            let mut lru = Lru::new();
            // From the oldest to the newest.
            let mut model: Vec<(u32, usize)> = Vec::new();
            for (number, (step, which)) in steps.into_iter().enumerate() {
                match step {
                    0 => model.push((lru.push(number), number)),
                    1 if !model.is_empty() => {
                        let moved = model.remove(which % model.len());
                        lru.touch(moved.0);
                        model.push(moved);
                    }
                    _ if !model.is_empty() => {
                        let (place, _) = model.remove(which % model.len());
                        lru.remove(place);
                    }
                    _ => {}
                }
                prop_assert_eq!(lru.len(), model.len());
                prop_assert_eq!(lru.oldest(), model.first().map(|(place, _)| *place));
                for (place, number) in &model {
                    prop_assert_eq!(lru.get(*place), number);
                }
            }
        }
    }
}
