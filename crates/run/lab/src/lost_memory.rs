//! Memory that a guest shares with the lab, and takes away.
//!
//! Who touches a page that its file no longer has, or that its file system has no room for, gets
//! SIGBUS: a guest that truncates its memory's file, or fills the file system that it lies in,
//! would end disklab. So the signal's handler puts empty memory in the place of the whole region,
//! as systemd does for journals (src/basic/sigbus.c), and the lab then ends the guest.

use std::ffi::{c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// All regions that there ever were, for the handler, which may take no lock. None goes away;
/// those that are not in use are used again.
static REGIONS: AtomicPtr<Region> = AtomicPtr::new(null_mut());
/// Held by who changes them.
static CHANGE: Mutex<()> = Mutex::new(());
/// Odd while they change.
static CHANGES: AtomicUsize = AtomicUsize::new(0);
/// What is done about other SIGBUS.
static EARLIER: OnceLock<libc::sigaction> = OnceLock::new();

struct Region {
    start: AtomicUsize,
    /// 0 if it is not in use.
    bytes: AtomicUsize,
    is_lost: AtomicBool,
    next: *const Self,
}

/// A mapping whose pages may go missing; it must be in place for as long as this lives.
#[derive(Debug)]
pub(crate) struct Guard(&'static Region);

// SAFETY: `next` is never changed, and leads to what is never freed.
#[allow(unsafe_code)]
unsafe impl Sync for Region {}

impl std::fmt::Debug for Region {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Region").field("is_lost", &self.is_lost).finish_non_exhaustive()
    }
}

impl Guard {
    /// Guards so many bytes of memory, which are whole pages.
    pub fn new(start: usize, bytes: usize) -> Self {
        EARLIER.get_or_init(install);
        let region = change(|| {
            let region = all().find(|region| region.bytes.load(Ordering::SeqCst) == 0);
            let region = region.unwrap_or_else(add);
            region.start.store(start, Ordering::SeqCst);
            region.is_lost.store(false, Ordering::SeqCst);
            region.bytes.store(bytes, Ordering::SeqCst);
            region
        });
        Self(region)
    }

    /// Whether a page of it was missing. It is empty since.
    pub fn is_lost(&self) -> bool {
        self.0.is_lost.load(Ordering::SeqCst)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        change(|| self.0.bytes.store(0, Ordering::SeqCst));
    }
}

fn change<T>(change: impl FnOnce() -> T) -> T {
    let _one_at_a_time = CHANGE.lock().unwrap_or_else(PoisonError::into_inner);
    CHANGES.fetch_add(1, Ordering::SeqCst);
    let done = change();
    CHANGES.fetch_add(1, Ordering::SeqCst);
    done
}

fn add() -> &'static Region {
    let next = REGIONS.load(Ordering::SeqCst);
    let region = Box::leak(Box::new(Region {
        start: AtomicUsize::new(0),
        bytes: AtomicUsize::new(0),
        is_lost: AtomicBool::new(false),
        next,
    }));
    REGIONS.store(region, Ordering::SeqCst);
    region
}

#[allow(unsafe_code)]
fn all() -> impl Iterator<Item = &'static Region> {
    // SAFETY: all are leaked.
    let first = unsafe { REGIONS.load(Ordering::SeqCst).as_ref() };
    // SAFETY: as above.
    std::iter::successors(first, |region| unsafe { region.next.as_ref() })
}

/// The region in use that has this address.
fn find(address: usize) -> Option<&'static Region> {
    loop {
        let changes = CHANGES.load(Ordering::SeqCst);
        let found = all().find(|region| {
            let start = region.start.load(Ordering::SeqCst);
            let bytes = region.bytes.load(Ordering::SeqCst);
            address.checked_sub(start).is_some_and(|offset| offset < bytes)
        });
        // Who changes them touches no memory of a guest, so that this ends.
        if changes.is_multiple_of(2) && CHANGES.load(Ordering::SeqCst) == changes {
            return found;
        }
    }
}

/// Has SIGBUS handled, and returns how it was before.
#[allow(unsafe_code)]
fn install() -> libc::sigaction {
    // SAFETY: zeros are an action; both live for as long as the calls.
    unsafe {
        let (mut action, mut earlier): (libc::sigaction, libc::sigaction) = std::mem::zeroed();
        action.sa_sigaction = handle as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigaction(libc::SIGBUS, null(), &raw mut earlier);
        libc::sigaction(libc::SIGBUS, &raw const action, null_mut());
        earlier
    }
}

/// Allocates nothing, and takes no lock.
#[allow(unsafe_code)]
extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, _context: *mut c_void) {
    // SAFETY: the kernel gives both; such codes come with an address.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr() as usize) };
    // A code of 0 or less is from another process.
    if code > 0 && find(address).is_some_and(replace) {
        return;
    }
    // SAFETY: the action is the one that was there. What failed is tried again after this, and
    // handled by it.
    unsafe {
        let earlier = EARLIER.get().map_or(null(), std::ptr::from_ref);
        libc::sigaction(signal, earlier, null_mut());
        if code <= 0 {
            libc::raise(signal);
        }
    }
}

/// Puts empty memory in the place of a region.
#[allow(unsafe_code)]
fn replace(region: &'static Region) -> bool {
    let start = region.start.load(Ordering::SeqCst) as *mut c_void;
    let bytes = region.bytes.load(Ordering::SeqCst);
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE;
    // SAFETY: the region is mapped, and its readers expect anything at any time.
    let mapped = unsafe { libc::mmap(start, bytes, access, kind, -1, 0) };
    let is_replaced = mapped == start;
    region.is_lost.store(is_replaced, Ordering::SeqCst);
    is_replaced
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
    use vm_memory::mmap::MmapRegion;
    use vm_memory::{Bytes, FileOffset, VolatileMemory};

    use super::*;

    const BYTES: usize = 1 << 20;

    fn mapping() -> (std::fs::File, MmapRegion) {
        let file = std::fs::File::from(memfd_create("test", MemfdFlags::CLOEXEC).unwrap());
        file.set_len(BYTES as u64).unwrap();
        let map = MmapRegion::from_file(FileOffset::new(file.try_clone().unwrap(), 0), BYTES);
        (file, map.unwrap())
    }

    #[test]
    fn lost_memory_is_empty_and_known_to_be_lost() {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let (file, map) = mapping();
                        let (_other_file, other) = mapping();
                        let guards =
                            [&map, &other].map(|map| Guard::new(map.as_ptr() as usize, BYTES));
                        let (memory, last) = (map.as_volatile_slice(), BYTES - 8);
                        memory.write_obj(7_u64, last).unwrap();
                        other.as_volatile_slice().write_obj(7_u64, last).unwrap();
                        assert!(!guards[0].is_lost());
                        ftruncate(&file, 4096).unwrap();
                        assert_eq!(memory.read_obj::<u64>(last).unwrap(), 0);
                        memory.write_obj(7_u64, last).unwrap();
                        assert_eq!(guards.each_ref().map(Guard::is_lost), [true, false]);
                        assert_eq!(other.as_volatile_slice().read_obj::<u64>(last).unwrap(), 7);
                    }
                });
            }
        });
    }

    /// What is not a guest's ends the process, as ever.
    #[test]
    fn other_faults_are_not_hidden() {
        const FAULT: &str = "DISKLAB_TEST_FAULT";
        let name = "lost_memory::tests::other_faults_are_not_hidden";
        let Ok(kind) = std::env::var(FAULT) else {
            for kind in ["memory", "signal"] {
                let mut again = Command::new(std::env::current_exe().unwrap());
                again.args(["--exact", name]).env(FAULT, kind);
                assert_eq!(again.output().unwrap().status.signal(), Some(libc::SIGBUS), "{kind}");
            }
            return;
        };
        let (_kept, guarded) = mapping();
        let _guard = Guard::new(guarded.as_ptr() as usize, BYTES);
        if kind == "signal" {
            let own = rustix::process::getpid();
            let _ = rustix::process::kill_process(own, rustix::process::Signal::BUS);
        }
        let (file, map) = mapping();
        ftruncate(&file, 0).unwrap();
        let _ = map.as_volatile_slice().read_obj::<u64>(0);
    }
}
