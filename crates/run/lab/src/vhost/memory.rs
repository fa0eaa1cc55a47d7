//! The guest's memory, as far as its kernel shares it.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use vm_memory::{
    Bytes, FileOffset, GuestAddress, GuestMemoryBackend, GuestMemoryMmap, GuestRegionMmap,
};

use super::connection::{Connection, Message};
use crate::lost_memory::Guard;
use crate::{LabError, ProtocolBreach};

/// Bytes of `struct vhost_user_mem_region`.
const REGION_BYTES: usize = 32;
/// Where a mapping may begin in its file: at pages, on all machines that UML runs on.
const PAGE_BYTES: u64 = 4096;
/// The kernel has two at most.
const REGION_LIMIT: usize = 8;

/// Guest memory, mapped.
#[derive(Debug, Clone)]
pub(crate) struct GuestRegions {
    // Before the mapping goes.
    guards: Arc<[Guard]>,
    map: Arc<GuestMemoryMmap>,
    regions: Vec<Region>,
}

#[derive(Debug, Clone, Copy)]
struct Region {
    guest: u64,
    user: u64,
    bytes: u64,
}

impl GuestRegions {
    /// Maps what the message `SET_MEM_TABLE` tells, with the descriptors that
    /// came with it.
    pub(super) fn from_table(link: &mut Connection, table: &Message) -> Result<Self, LabError> {
        let count = table.word(0).unwrap_or(0) as usize;
        if count == 0 || count > REGION_LIMIT || table.payload.len() < 8 + count * REGION_BYTES {
            return Err(link.broken(ProtocolBreach::RegionCount(count)));
        }
        let mut mapped = Vec::new();
        let mut regions = Vec::new();
        for index in 0..count {
            let field = |n: usize| table.u64_at(8 + index * REGION_BYTES + n * 8).unwrap_or(0);
            let (guest, bytes, user, offset) = (field(0), field(1), field(2), field(3));
            let Some(fd) = link.take_fd() else {
                return Err(link.broken(ProtocolBreach::RegionWithoutDescriptor));
            };
            let Some(region) = map(fd, guest, bytes, offset)? else {
                return Err(link.broken(ProtocolBreach::RegionOutsideFile { bytes, offset }));
            };
            if user.checked_add(bytes).is_none() {
                return Err(link.broken(ProtocolBreach::RegionBeyondAddresses));
            }
            mapped.push(region);
            regions.push(Region { guest, user, bytes });
        }
        mapped.sort_by_key(|r| vm_memory::GuestMemoryRegion::start_addr(r).0);
        let map = GuestMemoryMmap::from_regions(mapped).map_err(|e| link.broken(e))?;
        let guards = map.iter().map(|r| Guard::new(r.as_ptr() as usize, r.size())).collect();
        Ok(Self { guards, map: Arc::new(map), regions })
    }

    /// Whether the guest took some of it away since it was mapped.
    pub fn is_lost(&self) -> bool {
        self.guards.iter().any(Guard::is_lost)
    }

    /// The mapping.
    pub fn map(&self) -> &GuestMemoryMmap {
        &self.map
    }

    /// The guest's own address of one that its kernel uses for itself.
    pub fn translate(&self, user: u64) -> Option<GuestAddress> {
        let region = self.regions.iter().find(|r| user >= r.user && user - r.user < r.bytes)?;
        Some(GuestAddress(region.guest + (user - region.user)))
    }

    /// Fills `data` from the guest. What lies outside the shared memory becomes
    /// zeros: kernels from 7.2 on keep their page of zeros there.
    pub fn read(&self, data: &mut [u8], address: GuestAddress) {
        if self.map.read_slice(data, address).is_err() {
            data.fill(0);
            // As far as it is shared.
            let _ = self.map.read_slice(data, address);
        }
    }

    /// Gives `data` to the guest. Returns whether its place is in the shared
    /// memory.
    pub fn write(&self, data: &[u8], address: GuestAddress) -> bool {
        self.map.check_range(address, data.len()) && self.map.write_slice(data, address).is_ok()
    }
}

/// Maps a region, if it lies within its file: pages beyond the end would kill us.
fn map(
    fd: OwnedFd,
    guest: u64,
    bytes: u64,
    offset: u64,
) -> Result<Option<GuestRegionMmap>, LabError> {
    let what = "map the guest's memory";
    let file = File::from(fd);
    let length = file.metadata().map_err(LabError::system(what))?.len();
    let within = offset.checked_add(bytes).is_some_and(|end| end <= length);
    let Ok(size) = usize::try_from(bytes) else { return Ok(None) };
    if !within
        || !offset.is_multiple_of(PAGE_BYTES)
        || size == 0
        || guest.checked_add(bytes).is_none()
    {
        return Ok(None);
    }
    let region =
        GuestRegionMmap::from_range(GuestAddress(guest), size, Some(FileOffset::new(file, offset)));
    region.map(Some).map_err(|e| LabError::system(what)(std::io::Error::other(e.to_string())))
}
