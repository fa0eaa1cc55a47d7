//! Reads through the host's page cache.

use disklab_drive::Operation;

use crate::HostedDrive;
use crate::events::HostEvent;
use crate::hosted::Use;
use crate::read_ahead::ReadAheadWindow;
use crate::requests::PAGE_SECTORS;

impl HostedDrive {
    /// Reads on, page by page (`filemap_read`, mm/filemap.c), until one is on its way.
    pub(crate) fn read_pages(&mut self, now: u64, slot: usize) {
        loop {
            let Some(pending) = self.requests.get(slot).copied() else { return };
            let (_, end) = pending.pages();
            let page = pending.page;
            if page >= end {
                self.ahead.read(end - 1);
                self.count_read(pending.waited);
                let copied = now + self.settings.copying(pending.bytes());
                self.events.push(copied, HostEvent::Copied(slot));
                return;
            }
            self.look_ahead(now, page, end - page);
            if let Some(pending) = self.requests.get_mut(slot) {
                pending.page += 1;
            }
            if self.wait_for(page, slot) {
                return;
            }
        }
    }

    /// Has what is read ahead at this page read.
    fn look_ahead(&mut self, now: u64, page: u64, wanted: u64) {
        let Some(cache) = &mut self.cache else { return };
        cache.touch(page);
        if !cache.holds(page) {
            let window = self.ahead.on_miss(page, wanted, |page| cache.holds(page));
            self.fill(now, window);
        }
        let Some(cache) = &mut self.cache else { return };
        if !cache.holds(page) {
            // Its window continued from elsewhere.
            self.fill(now, ReadAheadWindow { start: page, pages: 1, marker: None });
        }
        let Some(cache) = &mut self.cache else { return };
        if cache.take_mark(page)
            && let Some(window) = self.ahead.on_marker(page, wanted, |page| cache.holds(page))
        {
            self.fill(now, window);
        }
    }

    /// Reads what is missing of a window.
    pub(crate) fn fill(&mut self, now: u64, window: ReadAheadWindow) {
        let end = window.start.saturating_add(window.pages);
        let end = end.min(self.backend.sectors().div_ceil(PAGE_SECTORS));
        let mut page = window.start;
        while page < end {
            let Some(cache) = &mut self.cache else { return };
            if cache.holds(page) {
                page += 1;
                continue;
            }
            let missing = (page..end).take_while(|page| !cache.holds(*page)).count() as u64;
            let behind = page + missing;
            (page..behind).for_each(|page| cache.enter(page));
            if let Some(marker) = window.marker.filter(|marker| (page..behind).contains(marker)) {
                cache.mark(marker);
            }
            let place = self.sectors_of(page, behind);
            let number = self.submit(now, Use::Fill(page, Vec::new()), Operation::Read, place);
            self.filling.insert(page, (behind, number));
            page = behind;
        }
    }

    /// Has a request wait for a page, if that is on its way.
    pub(crate) fn wait_for(&mut self, page: u64, slot: usize) -> bool {
        let before = self.filling.range(..=page).next_back();
        let Some((_, (end, number))) = before else { return false };
        if page >= *end {
            return false;
        }
        let Some(Use::Fill(_, waiters)) = self.uses.get_mut(number) else { return false };
        waiters.push(slot);
        if let Some(pending) = self.requests.get_mut(slot) {
            pending.waited = true;
            pending.waits += 1;
        }
        true
    }

    /// Pages have come.
    pub(crate) fn filled(&mut self, now: u64, first: u64, number: u64, waiters: Vec<usize>) {
        // They may have been let go and asked for again meanwhile.
        if self.filling.get(&first).is_some_and(|(_, filling)| *filling == number) {
            self.filling.remove(&first);
        }
        for slot in waiters {
            let Some(pending) = self.requests.get_mut(slot) else { continue };
            pending.waits -= 1;
            match pending.request.operation {
                Operation::Read => self.read_pages(now, slot),
                _ if pending.waits == 0 => self.admit(now, slot),
                _ => {}
            }
        }
    }

    /// The sectors of pages, as far as the disk has them.
    pub(crate) fn sectors_of(&self, start: u64, end: u64) -> (u64, u64) {
        let first = start * PAGE_SECTORS;
        (first, (end * PAGE_SECTORS).min(self.backend.sectors()).saturating_sub(first))
    }
}
