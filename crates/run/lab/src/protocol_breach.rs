//! What the guest's side of a socket can do against the protocol.

use vm_memory::GuestRegionCollectionError;

use disklab_lab_guest::FrameError;

/// What the guest's side of a socket did, which the protocol forbids.
#[derive(Debug, thiserror::Error)]
pub enum ProtocolBreach {
    /// A second connection to a socket that takes one.
    #[error("it connected twice")]
    ConnectedTwice,
    /// A disk's message, while nobody knows what time it is.
    #[error("it spoke before the calendar")]
    BeforeCalendar,
    /// The calendar was started again.
    #[error("it started twice")]
    StartedTwice,
    /// The calendar's client has not started.
    #[error("message {0} before the start")]
    BeforeStart(u32),
    /// The calendar has no such message.
    #[error("unknown message {0}")]
    UnknownMessage(u32),
    /// The calendar's messages have one size.
    #[error("a message of {0} bytes")]
    CalendarMessageSize(usize),
    /// The clock in the shared memory is beyond the last time that drives can count to.
    #[error("its clock says {0} ns, which it cannot reach")]
    Clock(u64),
    /// More descriptors at once than any message carries.
    #[error("too many descriptors")]
    TooManyDescriptors,
    /// A vhost-user message of another version, or a reply.
    #[error("message {request} has flags {flags:#x}")]
    Flags {
        /// The message's number.
        request: u32,
        /// What its header has: the version, and whether it is a reply.
        flags: u32,
    },
    /// A vhost-user message longer than any.
    #[error("message {request} has {bytes} bytes")]
    PayloadSize {
        /// The message's number.
        request: u32,
        /// What its header says.
        bytes: usize,
    },
    /// A vhost-user message that is unknown, or whose payload or moment is wrong.
    #[error("message {0} makes no sense")]
    Senseless(u32),
    /// A memory table with no region, with too many, or shorter than it says.
    #[error("a memory table of {0} regions")]
    RegionCount(usize),
    /// A memory region without its file.
    #[error("a memory region without a descriptor")]
    RegionWithoutDescriptor,
    /// A memory region that its file does not have, or that does not begin at a page.
    #[error("a region of {bytes} bytes at {offset} of its file")]
    RegionOutsideFile {
        /// How long it is.
        bytes: u64,
        /// Where it begins.
        offset: u64,
    },
    /// A memory region whose end has no address.
    #[error("a memory region beyond the address space")]
    RegionBeyondAddresses,
    /// Shared memory whose file was truncated, or has no room left.
    #[error("it took away the memory that it shares")]
    MemoryTaken,
    /// Memory regions that exclude each other.
    #[error("an impossible memory table: {0}")]
    MemoryTable(#[from] GuestRegionCollectionError),
    /// The device's ring does not exist, which is a defect of disklab.
    #[error("its ring cannot be made")]
    NoRing,
    /// Nothing says where interrupts go.
    #[error("it gave no descriptor for interrupts")]
    NoInterruptDescriptor,
    /// A kick while nothing says where the ring is.
    #[error("a kick before its memory is known")]
    KickWithoutMemory,
    /// An available ring that is not in its memory, or that has more entries than fit.
    #[error("its available ring is broken")]
    AvailableRing,
    /// A chain that begins outside of the ring.
    #[error("descriptor {0} is not in its ring")]
    DescriptorOutsideRing(u16),
    /// A chain longer than the ring.
    #[error("a chain of more than {0} descriptors")]
    ChainTooLong(u16),
    /// A used ring that is not in its memory.
    #[error("its used ring cannot be written")]
    UsedRing,
    /// More requests in flight than the ring has descriptors.
    #[error("more requests than its ring can hold")]
    TooManyRequests,
    /// The console line carries something else than its frames.
    #[error(transparent)]
    Frame(#[from] FrameError),
}
