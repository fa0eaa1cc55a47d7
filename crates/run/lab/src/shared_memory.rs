//! The memory that the calendar shares with the kernel, version 2 of
//! `struct um_timetravel_schedshm` (`include/uapi/linux/um_timetravel.h`).
//!
//! Times in it are those of the guest plus [`EPOCH`].

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering};

use disklab_drive::Nanos;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use vm_memory::mmap::MmapRegion;
use vm_memory::{FileOffset, VolatileMemory};

use crate::LabError;

/// `UM_TIMETRAVEL_SCHEDSHM_VERSION`.
const VERSION: u32 = 2;
/// Size of the header, before the clients' entries.
const HEADER_BYTES: usize = 4096;
/// Size of a client's entry.
const CLIENT_BYTES: usize = 128;
/// We are client 0 and the kernel is client 1.
const CLIENTS: usize = 2;
/// The kernel's number.
pub(crate) const KERNEL_CLIENT: u16 = 1;
/// Whole pages.
const FILE_BYTES: usize = 2 * 4096;

/// Offsets of the header's fields.
mod header {
    pub const VERSION: usize = 0;
    pub const LEN: usize = 4;
    pub const FREE_UNTIL: usize = 8;
    pub const CURRENT_TIME: usize = 16;
    pub const RUNNING_ID: usize = 24;
    pub const MAX_CLIENTS: usize = 26;
    pub const KICKS: usize = 32;
    pub const CALLS: usize = 40;
    pub const KICK_WINDOW: usize = 48;
    pub const EARLIER_COUNT: usize = 56;
    pub const EARLIER: usize = 64;
    /// After the earlier kicks: `more_kicks` and `more_calls`, of the disks from 64 on.
    pub const MORE_KICKS: usize = EARLIER + super::EARLIER * super::earlier::BYTES;
    pub const MORE_CALLS: usize = MORE_KICKS + 8;
}

/// Offsets of the fields of an earlier kick.
mod earlier {
    pub const TIME: usize = 0;
    pub const DEVICE: usize = 8;
    pub const AVAILABLE: usize = 12;
    pub const BYTES: usize = 16;
}

/// `UM_TIMETRAVEL_SCHEDSHM_EARLIER`, of `kernel/patches/kicks.patch`.
const EARLIER: usize = 32;
const _: () = assert!(header::MORE_CALLS + 8 <= HEADER_BYTES);

/// Offsets of the fields of a client's entry.
mod client {
    pub const CAPABILITIES: usize = 0;
    pub const FLAGS: usize = 4;
    pub const REQUEST_TIME: usize = 8;
}

/// `UM_TIMETRAVEL_SCHEDSHM_CAP_TIME_SHARE`.
const TIME_SHARE: u32 = 1;
/// `UM_TIMETRAVEL_SCHEDSHM_CAP_DEVICES`, of `kernel/patches/devices.patch`.
const DEVICES: u32 = 2;
/// `UM_TIMETRAVEL_SCHEDSHM_FLAGS_REQ_RUN`.
const REQUESTED: u32 = 1;

/// The shared clock when the guest's clock is 0.
///
/// The kernel takes the clock that it finds as the guest's time 0, and it makes
/// all comparisons in wrapping arithmetic. With this epoch the shared value 0 as
/// 'free until' lies 2^63 ns (292 years) after the guest's 0, yet is numerically
/// below every time that the kernel could lower it to. So where no drive has
/// anything to do, the guest's own handling of an interrupt (which asks for the
/// current time, and would lower 'free until' to it) does not cost a further
/// round through the calendar: see `time_travel_ext_update_request`. A larger
/// epoch would not do: the kernel's word for 'for ever' must not wrap around.
const EPOCH: u64 = 1 << 63;
/// Shared 'free until' of a guest that need not come back by itself.
const UNBOUNDED: u64 = 0;
/// The guest's own word for 'for ever': `S64_MAX`.
const FOREVER: u64 = i64::MAX as u64;

/// A kick after which time went by before the guest waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EarlierKick {
    /// When it was, by the guest's word.
    pub time: Nanos,
    /// The disk's number, by the guest's word.
    pub device: u32,
    /// Where the disk's available ring ended then.
    pub available: u16,
}

/// The shared memory, with the calendar's view of it.
#[derive(Debug)]
pub(crate) struct SharedMemory {
    file: File,
    map: MmapRegion,
}

impl SharedMemory {
    /// Makes it, with the clock at 0.
    pub fn new() -> Result<Self, LabError> {
        let failed = "make the shared memory of the lab's calendar";
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let fd = memfd_create("disklab-calendar", flags).map_err(LabError::system(failed))?;
        ftruncate(&fd, FILE_BYTES as u64).map_err(LabError::system(failed))?;
        // The kernel must not be able to take the memory away under our feet.
        fcntl_add_seals(&fd, SealFlags::SHRINK | SealFlags::GROW)
            .map_err(LabError::system(failed))?;
        let file = File::from(fd);
        let again = file.try_clone().map_err(LabError::system(failed))?;
        let map = MmapRegion::from_file(FileOffset::new(again, 0), FILE_BYTES)
            .map_err(|e| LabError::System { what: failed.to_owned(), source: into_io(e) })?;
        let memory = Self { file, map };
        memory.set32(header::VERSION, VERSION);
        // Two clients' entries: far below 2^32.
        memory.set32(header::LEN, (HEADER_BYTES + CLIENTS * CLIENT_BYTES) as u32);
        memory.set64(header::FREE_UNTIL, UNBOUNDED);
        memory.set64(header::CURRENT_TIME, EPOCH);
        memory.set16(header::RUNNING_ID, KERNEL_CLIENT);
        memory.set16(header::MAX_CLIENTS, CLIENTS as u16);
        // Without it the kernel falls back to messages.
        memory.set32(HEADER_BYTES + client::CAPABILITIES, TIME_SHARE | DEVICES);
        Ok(memory)
    }

    /// A descriptor to hand to the kernel.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// A file that swallows the log which the protocol wants to be shared.
    pub fn log() -> Result<OwnedFd, LabError> {
        let file = File::options().write(true).open("/dev/null");
        file.map(OwnedFd::from).map_err(LabError::system("open /dev/null"))
    }

    /// The guest's time.
    pub fn now(&self) -> Nanos {
        Nanos(self.get64(header::CURRENT_TIME).wrapping_sub(EPOCH))
    }

    /// Sets the guest's time.
    pub fn set_now(&self, now: Nanos) {
        self.set64(header::CURRENT_TIME, EPOCH.wrapping_add(now.0));
    }

    /// Lets the guest run freely before `bound`; `None` where nothing happens
    /// unless it asks for it.
    pub fn set_free_until(&self, bound: Option<Nanos>) {
        let shared = bound.map_or(UNBOUNDED, |b| EPOCH.wrapping_add(b.0));
        self.set64(header::FREE_UNTIL, shared);
    }

    /// Bounds a guest that nothing bounds. It may be running, and bound itself at the
    /// same time, which must hold then.
    pub fn bound(&self, limit: Nanos) {
        if let Ok(a) = self.map.get_atomic_ref::<AtomicU64>(header::FREE_UNTIL) {
            let shared = EPOCH.wrapping_add(limit.0);
            let order = Ordering::SeqCst;
            let _ = a.compare_exchange(UNBOUNDED, shared, order, order);
        }
    }

    /// How far the guest runs freely, by our word or, where that is earlier, by its
    /// own; `None` where nothing bounds it.
    pub fn free_until(&self) -> Option<Nanos> {
        let shared = self.get64(header::FREE_UNTIL);
        (shared != UNBOUNDED).then(|| Nanos(shared.wrapping_sub(EPOCH)))
    }

    /// Whether the guest announces its requests, and learns of those that are done,
    /// by this memory.
    pub fn has_devices(&self) -> bool {
        let entry = HEADER_BYTES + usize::from(KERNEL_CLIENT) * CLIENT_BYTES;
        self.get32(entry + client::CAPABILITIES) & DEVICES != 0
    }

    /// The disks, by their bits, that the waiting guest has new requests for.
    pub fn take_kicks(&self) -> u128 {
        let take = |offset| {
            let kicks = self.get64(offset);
            if kicks != 0 {
                self.set64(offset, 0);
            }
            u128::from(kicks)
        };
        take(header::KICKS) | take(header::MORE_KICKS) << 64
    }

    /// How long after a kick the guest may run on without a word: no disk has anything to
    /// say sooner.
    pub fn set_kick_window(&self, window: Nanos) {
        self.set64(header::KICK_WINDOW, window.0);
    }

    /// Kicks since the guest waited last, but for those of the present, in their order.
    pub fn take_earlier_kicks(&self) -> Vec<EarlierKick> {
        let count = self.get32(header::EARLIER_COUNT) as usize;
        if count == 0 {
            return Vec::new();
        }
        self.set32(header::EARLIER_COUNT, 0);
        let kick = |number: usize| {
            let at = header::EARLIER + number * earlier::BYTES;
            EarlierKick {
                time: Nanos(self.get64(at + earlier::TIME).wrapping_sub(EPOCH)),
                device: self.get32(at + earlier::DEVICE),
                // 16 bits in a field of 32.
                available: self.get32(at + earlier::AVAILABLE) as u16,
            }
        };
        (0..count.min(EARLIER)).map(kick).collect()
    }

    /// The disks, by their bits, that interrupt the guest when it runs.
    pub fn set_calls(&self, disks: u128) {
        // The lower half and the upper one.
        self.set64(header::CALLS, disks as u64);
        self.set64(header::MORE_CALLS, (disks >> 64) as u64);
    }

    /// When the waiting guest wants to run; `None` where it has no timer.
    pub fn wanted(&self) -> Option<Nanos> {
        let entry = HEADER_BYTES + usize::from(KERNEL_CLIENT) * CLIENT_BYTES;
        if self.get32(entry + client::FLAGS) & REQUESTED == 0 {
            return None;
        }
        let time = self.get64(entry + client::REQUEST_TIME).wrapping_sub(EPOCH);
        (time < FOREVER).then_some(Nanos(time))
    }

    // The offsets are constants within FILE_BYTES, aligned to their sizes, so
    // that these accesses cannot fail; were one to, reading 0 is harmless.
    fn get32(&self, offset: usize) -> u32 {
        self.map.get_atomic_ref(offset).map_or(0, |a: &AtomicU32| a.load(Ordering::SeqCst))
    }

    fn get64(&self, offset: usize) -> u64 {
        self.map.get_atomic_ref(offset).map_or(0, |a: &AtomicU64| a.load(Ordering::SeqCst))
    }

    fn set16(&self, offset: usize, value: u16) {
        if let Ok(a) = self.map.get_atomic_ref::<AtomicU16>(offset) {
            a.store(value, Ordering::SeqCst);
        }
    }

    fn set32(&self, offset: usize, value: u32) {
        if let Ok(a) = self.map.get_atomic_ref::<AtomicU32>(offset) {
            a.store(value, Ordering::SeqCst);
        }
    }

    fn set64(&self, offset: usize, value: u64) {
        if let Ok(a) = self.map.get_atomic_ref::<AtomicU64>(offset) {
            a.store(value, Ordering::SeqCst);
        }
    }
}

/// The mapping's error, as one of the system.
pub(crate) fn into_io(error: vm_memory::mmap::MmapRegionError) -> std::io::Error {
    match error {
        vm_memory::mmap::MmapRegionError::Mmap(e) => e,
        other => std::io::Error::other(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel's two comparisons, in its own arithmetic.
    fn kernel_lowers(shared: u64, time: u64) -> bool {
        time.wrapping_add(EPOCH) < shared
    }
    fn kernel_runs_freely(shared: u64, time: u64) -> bool {
        time < shared.wrapping_sub(EPOCH)
    }

    #[test]
    fn times_go_in_and_come_out() {
        let memory = SharedMemory::new().unwrap();
        assert_eq!(memory.now(), Nanos(0));
        memory.set_now(Nanos(123_456_789));
        assert_eq!(memory.now(), Nanos(123_456_789));
        assert_eq!(memory.wanted(), None);
        let entry = HEADER_BYTES + CLIENT_BYTES;
        memory.set32(entry + client::FLAGS, REQUESTED);
        memory.set64(entry + client::REQUEST_TIME, EPOCH + 77);
        assert_eq!(memory.wanted(), Some(Nanos(77)));
        memory.set64(entry + client::REQUEST_TIME, EPOCH.wrapping_add(FOREVER));
        assert_eq!(memory.wanted(), None);
    }

    #[test]
    fn an_unbounded_guest_runs_freely_and_does_not_bound_itself() {
        let memory = SharedMemory::new().unwrap();
        memory.set_free_until(None);
        assert_eq!(memory.free_until(), None);
        let shared = memory.get64(header::FREE_UNTIL);
        for time in [0, 1, 1 << 40, 1 << 61, FOREVER] {
            assert!(kernel_runs_freely(shared, time), "{time}");
            assert!(!kernel_lowers(shared, time), "{time}");
        }
    }

    #[test]
    fn a_guest_that_bounds_itself_stays_bound() {
        let memory = SharedMemory::new().unwrap();
        memory.bound(Nanos(1000));
        assert_eq!(memory.free_until(), Some(Nanos(1000)));
        memory.set_free_until(Some(Nanos(10)));
        memory.bound(Nanos(1000));
        assert_eq!(memory.free_until(), Some(Nanos(10)));
    }

    #[test]
    fn kicks_are_taken_once_and_only_where_the_guest_knows_of_them() {
        let memory = SharedMemory::new().unwrap();
        assert!(!memory.has_devices());
        memory.set32(HEADER_BYTES + CLIENT_BYTES + client::CAPABILITIES, TIME_SHARE | DEVICES);
        assert!(memory.has_devices());
        memory.set64(header::KICKS, 0b101);
        assert_eq!((memory.take_kicks(), memory.take_kicks()), (0b101, 0));
        memory.set_calls(0b11);
        assert_eq!(memory.get64(header::CALLS), 0b11);
        memory.set64(header::MORE_KICKS, 1 << 63);
        assert_eq!((memory.take_kicks(), memory.take_kicks()), (1 << 127, 0));
        memory.set_calls(1 << 64 | 1);
        assert_eq!((memory.get64(header::CALLS), memory.get64(header::MORE_CALLS)), (1, 1));
    }

    #[test]
    fn earlier_kicks_are_taken_once_and_never_more_than_there_is_room_for() {
        let memory = SharedMemory::new().unwrap();
        assert!(memory.take_earlier_kicks().is_empty());
        let at = header::EARLIER + earlier::BYTES;
        memory.set64(at + earlier::TIME, EPOCH + 77);
        memory.set32(at + earlier::DEVICE, 3);
        memory.set32(at + earlier::AVAILABLE, 0x1_0005);
        memory.set32(header::EARLIER_COUNT, 2);
        let kicks = memory.take_earlier_kicks();
        assert_eq!(kicks.len(), 2);
        assert_eq!(kicks[1], EarlierKick { time: Nanos(77), device: 3, available: 5 });
        assert!(memory.take_earlier_kicks().is_empty());
        memory.set32(header::EARLIER_COUNT, u32::MAX);
        assert_eq!(memory.take_earlier_kicks().len(), EARLIER);
    }

    #[test]
    fn a_bounded_guest_runs_to_its_bound() {
        let memory = SharedMemory::new().unwrap();
        memory.set_free_until(Some(Nanos(1000)));
        assert_eq!(memory.free_until(), Some(Nanos(1000)));
        let shared = memory.get64(header::FREE_UNTIL);
        assert!(kernel_runs_freely(shared, 999));
        assert!(!kernel_runs_freely(shared, 1000));
        assert!(kernel_lowers(shared, 999));
        assert!(!kernel_lowers(shared, 1000));
        assert!(!kernel_lowers(shared, FOREVER));
    }
}
