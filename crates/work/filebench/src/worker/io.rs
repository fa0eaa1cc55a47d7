//! Flowops that read and write.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use disklab_wml::random::{random_offset, upstream_offset};
use disklab_wml::{Flowop, FlowopFiles, Io};

use super::{End, FlowopResult, Worker};
use crate::FlowopObstacle;
use crate::fileset::Set;
use crate::filler::FillPart;
use crate::sink::{LONGEST_READ, ReadSink};

const PAGE: u64 = 4096;

/// What an operation works on, for a moment.
struct Target<'env> {
    slot: usize,
    set: &'env Set,
    entry: usize,
    fd: Arc<OwnedFd>,
    position: u64,
    direct: bool,
}

impl<'env> Worker<'_, 'env> {
    /// The open file of a slot; an empty slot is filled with the next file, which
    /// stays open. In Filebench that counts as an operation of its own.
    fn target(&mut self, flowop: &Flowop, files: &FlowopFiles) -> Result<Target<'env>, End> {
        let slot = self.slot(flowop, files)?;
        if self.slots[slot].open.is_none() {
            self.open_into(flowop, files, slot)?;
            if self.shared.options.strict {
                self.count(flowop, 0);
            } else {
                self.look();
            }
        }
        let Some(open) = &self.slots[slot].open else {
            return Err(Self::impossible(flowop, FlowopObstacle::NoOpenFile));
        };
        let sets: &'env [Set] = self.shared.sets;
        Ok(Target {
            slot,
            set: &sets[open.set],
            entry: open.entry,
            fd: Arc::clone(&open.fd),
            position: open.position,
            direct: open.direct,
        })
    }

    /// Whether that is the file which the target is.
    fn is(&self, target: &Target<'_>, set: usize, entry: usize) -> bool {
        target.entry == entry && std::ptr::eq(target.set, &raw const self.shared.sets[set])
    }

    fn go_to(&mut self, slot: usize, position: u64) {
        if let Some(open) = &mut self.slots[slot].open {
            open.position = position;
        }
    }

    /// How many bytes of a file an operation may touch: its working set, or else the
    /// file. To Filebench a file is as long as it was drawn, whatever was appended.
    fn extent(&mut self, flowop: &Flowop, io: &Io, target: &Target<'_>, writes: bool) -> u64 {
        let memory = &mut self.memories[flowop.id];
        let drawn = match memory.working_set {
            Some(drawn) => drawn,
            None => *memory.working_set.insert(io.working_set.draw(&mut self.place.rng)),
        };
        let size = target.set.size(target.entry);
        let length = target.set.length(target.entry).load(Ordering::Acquire);
        match (drawn, self.shared.options.strict, writes) {
            (0, true, _) => size,
            (0, false, true) => size.max(length),
            (0, false, false) => length,
            (drawn, ..) => drawn,
        }
    }

    /// A random offset for `size` bytes.
    fn random_place(
        &mut self,
        flowop: &Flowop,
        io: &Io,
        target: &Target<'_>,
        size: u64,
        writes: bool,
    ) -> Result<u64, End> {
        let extent = self.extent(flowop, io, target, writes);
        let rng = &mut self.place.rng;
        if self.shared.options.strict {
            if extent < size {
                return Err(Self::impossible(flowop, FlowopObstacle::RequestTooLarge));
            }
            return Ok(upstream_offset(rng, extent, size));
        }
        Ok(random_offset(rng, extent, size))
    }

    /// Filebench draws a place in the thread's memory for each of these; disklab's has no
    /// such memory, but the numbers that follow must be the same.
    fn draw_memory_place(&mut self, size: u64) {
        if self.shared.options.compat_rng {
            let memory = self.place.thread.memory.fixed().unwrap_or_default();
            if memory > 0 {
                upstream_offset(&mut self.place.rng, memory, size);
            }
        }
    }

    pub(super) fn read(&mut self, flowop: &Flowop, io: &Io) -> FlowopResult {
        let size = io.size.draw(&mut self.place.rng);
        let target = self.target(flowop, &io.files)?;
        self.draw_memory_place(size);
        let strict = self.shared.options.strict;
        let place = if io.random {
            self.random_place(flowop, io, &target, size, false)?
        } else {
            let length = target.set.length(target.entry).load(Ordering::Acquire);
            // Filebench reads 0 bytes at the end, and counts that.
            if !strict && target.position >= length { 0 } else { target.position }
        };
        let got = read_at(&target, &mut self.sink, size, place, true)
            .map_err(|error| Self::refused(flowop, "read", error))?;
        if !io.random {
            self.go_to(target.slot, if got == 0 { 0 } else { place + got });
        }
        self.count(flowop, if strict && io.random { size } else { got });
        Ok(())
    }

    pub(super) fn read_whole(&mut self, flowop: &Flowop, io: &Io) -> FlowopResult {
        let target = self.target(flowop, &io.files)?;
        let size = match io.size.draw(&mut self.place.rng) {
            0 => self.extent(flowop, io, &target, false).max(1),
            size => size,
        };
        let mut place = 0;
        loop {
            let got = read_at(&target, &mut self.sink, size, place, false)
                .map_err(|error| Self::refused(flowop, "read", error))?;
            place += got;
            // A short read is the end; Filebench reads once more.
            if got == 0 || (got < size.min(LONGEST_READ) && !self.shared.options.strict) {
                break;
            }
        }
        self.go_to(target.slot, place);
        self.count(flowop, place);
        Ok(())
    }

    /// Writes to a file, which may grow.
    fn put_bytes(
        &mut self,
        flowop: &Flowop,
        target: &Target<'_>,
        offset: u64,
        length: u64,
    ) -> FlowopResult {
        let whole_pages = offset.is_multiple_of(PAGE) && length.is_multiple_of(PAGE);
        let stream = if whole_pages { self.version(target.entry) } else { target.entry as u64 };
        let part = FillPart { stream, offset, length };
        self.shared
            .filler
            .write(&target.fd, part, &mut self.scratch)
            .map_err(|error| Self::refused(flowop, "write", error))?;
        let end = offset.saturating_add(length);
        target.set.length(target.entry).fetch_max(end, Ordering::AcqRel);
        Ok(())
    }

    /// Whole pages that are written again shall not be what was there before.
    fn version(&mut self, entry: usize) -> u64 {
        self.writes = self.writes.wrapping_add(1);
        (entry as u64) ^ (self.writes << 24)
    }

    pub(super) fn write(&mut self, flowop: &Flowop, io: &Io) -> FlowopResult {
        let size = io.size.draw(&mut self.place.rng);
        let target = self.target(flowop, &io.files)?;
        self.draw_memory_place(size);
        let place = if io.random {
            self.random_place(flowop, io, &target, size, true)?
        } else {
            target.position
        };
        self.put_bytes(flowop, &target, place, size)?;
        if !io.random {
            self.go_to(target.slot, place.saturating_add(size));
        }
        self.count(flowop, size);
        Ok(())
    }

    pub(super) fn write_whole(
        &mut self,
        flowop: &Flowop,
        io: &Io,
        source: Option<usize>,
    ) -> FlowopResult {
        let size = io.size.draw(&mut self.place.rng);
        let target = self.target(flowop, &io.files)?;
        let strict = self.shared.options.strict;
        let source = source.and_then(|slot| self.slots.get(slot)).and_then(|slot| slot.last);
        let length = match source {
            Some((set, entry)) if strict => self.shared.sets[set].size(entry),
            // A file that gives itself the length has none yet.
            Some((set, entry)) if !self.is(&target, set, entry) => {
                self.shared.sets[set].length(entry).load(Ordering::Acquire)
            }
            _ => target.set.size(target.entry),
        };
        let piece = if size == 0 { length } else { size };
        // Filebench continues where the file stands, and writes whole pieces only.
        let (begin, length) = if strict {
            let whole = length.div_ceil(piece.max(1)).saturating_mul(piece);
            (target.position, if length > piece { whole } else { length })
        } else {
            (0, length)
        };
        let mut done = 0;
        while done < length {
            let now = piece.min(length - done);
            self.put_bytes(flowop, &target, begin.saturating_add(done), now)?;
            done += now;
        }
        self.go_to(target.slot, begin.saturating_add(length));
        self.count(flowop, length);
        Ok(())
    }

    pub(super) fn append(&mut self, flowop: &Flowop, io: &Io, random: bool) -> FlowopResult {
        let target = self.target(flowop, &io.files)?;
        let size = io.size.draw(&mut self.place.rng);
        let size = match (random, self.shared.options.strict) {
            (false, _) => size,
            // May be 0: then nothing is written, and counted all the same.
            (true, true) => upstream_offset(&mut self.place.rng, size, 1),
            (true, false) => (random_offset(&mut self.place.rng, size, 1) + 1).min(size),
        };
        // Taking the end moves it: appends never overlap.
        let end = target.set.length(target.entry).fetch_add(size, Ordering::AcqRel);
        if size > 0 {
            let part = FillPart { stream: target.entry as u64, offset: end, length: size };
            self.shared
                .filler
                .write(&target.fd, part, &mut self.scratch)
                .map_err(|error| Self::refused(flowop, "append", error))?;
        }
        self.go_to(target.slot, end.saturating_add(size));
        self.count(flowop, size);
        Ok(())
    }

    pub(super) fn aio_write(&mut self, flowop: &'env Flowop, io: &Io) -> FlowopResult {
        let size = io.size.draw(&mut self.place.rng);
        let target = self.target(flowop, &io.files)?;
        self.draw_memory_place(size);
        let place = self.random_place(flowop, io, &target, size, true)?;
        let part = FillPart { stream: self.version(target.entry), offset: place, length: size };
        let shared = self.shared;
        shared.aio.write(self.scope, shared.filler, &target.fd, part, &self.owner);
        target.set.length(target.entry).fetch_max(place.saturating_add(size), Ordering::AcqRel);
        self.count(flowop, size);
        Ok(())
    }

    pub(super) fn aio_wait(&mut self, flowop: &Flowop) -> FlowopResult {
        let strict = self.shared.options.strict;
        let waited = if strict { self.owner.look() } else { self.owner.wait() };
        waited.map_err(|error| Self::refused(flowop, "write asynchronously", error))?;
        self.count(flowop, 0);
        Ok(())
    }
}

/// Reads up to `size` bytes at `place`. With `whole`, what is longer than one read
/// can be is read in several.
fn read_at(
    target: &Target<'_>,
    sink: &mut ReadSink,
    size: u64,
    place: u64,
    whole: bool,
) -> io::Result<u64> {
    let mut done = 0;
    loop {
        let length = (size - done).min(LONGEST_READ);
        let place = place.saturating_add(done);
        // At most LONGEST_READ, which fits.
        let got = sink.read(&target.fd, length as usize, place, target.direct)? as u64;
        done += got;
        if got < length || done >= size || !whole {
            return Ok(done);
        }
    }
}
