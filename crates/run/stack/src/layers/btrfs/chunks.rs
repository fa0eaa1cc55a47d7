//! Which devices the first data of a fresh file system go to, chunk by chunk.
//!
//! On average a mirror over four drives writes half of its data to each; the first
//! gigabytes go to two of them. mkfs.btrfs lays out the first chunk of each kind, the
//! kernel all later ones. What is not known: which of several equally free devices the
//! kernel takes, for its sort is not stable (the first are taken here), and where data go
//! that are written over, which Btrfs never writes in place.
//!
//! On a small file system the first chunk is cut to a tenth of it. The kernel then makes
//! the next one, on other devices, before the first is full, and data go now to the one and
//! now to the other: of ten workloads on four devices of 1 GiB, each by itself in another
//! way, all together in equal parts. So these are taken as on average.

use disklab_units::Bytes;

use super::Profile;
use super::allocate::{RESERVED, allocate, first_metadata};

/// The largest stripe of a data chunk (`max_stripe_size` in fs/btrfs/volumes.c and in
/// btrfs-progs' kernel-shared/volumes.c).
const LARGEST_STRIPE: u64 = 1 << 30;
/// What mkfs.btrfs rounds down to (`BTRFS_STRIPE_LEN`).
const STRIPE_LENGTH: u64 = 64 << 10;
/// The system chunk of mkfs.btrfs.
const SYSTEM: u64 = 8 << 20;
/// The largest extent (`BTRFS_MAX_EXTENT_SIZE`). Written in one go, data come in such ones;
/// one that does not fit into what is left of a chunk goes to a new one.
const EXTENT: u64 = 128 << 20;
/// More data than this are shared out as on average.
const FOLLOWED: u64 = 64 << 30;

/// A chunk's data.
struct Chunk {
    devices: Vec<usize>,
    /// Bytes of data that it still takes.
    left: u64,
    /// Bytes to each of its devices for one of data.
    share: f64,
}

struct Space {
    free: Vec<u64>,
    profile: Profile,
}

/// Bytes that go to each device for one byte of data, of so many written to a fresh file
/// system on devices of these sizes.
pub(super) fn shares_of_first(
    sizes: &[Bytes],
    data: Profile,
    metadata: Profile,
    wanted: Bytes,
) -> Vec<f64> {
    let average = || allocate(sizes, data, metadata).1;
    let tenth = sizes.iter().copied().sum::<Bytes>().0 / 10;
    let whole = LARGEST_STRIPE as f64 * data.data(data.width(sizes.len()));
    if wanted == Bytes::ZERO || wanted.0 > FOLLOWED || whole > tenth as f64 {
        return average();
    }
    let mut space = Space {
        free: sizes.iter().map(|size| size.saturating_sub(RESERVED).0).collect(),
        profile: data,
    };
    for device in last(sizes.len(), metadata) {
        let taken = SYSTEM + first_metadata(sizes, metadata) as u64;
        space.free[device] = space.free[device].saturating_sub(taken);
    }
    let mut chunks: Vec<Chunk> = space.first().into_iter().collect();
    let mut written = vec![0.0; sizes.len()];
    let mut left = wanted.0;
    while left > 0 {
        let extent = left.min(EXTENT);
        if chunks.last().is_none_or(|chunk| chunk.left < extent) {
            // Where there is no room for one: what earlier ones have left, in smaller extents.
            chunks.extend(space.next());
        }
        let fits = chunks.iter().rposition(|chunk| chunk.left >= extent);
        let roomy = fits.or_else(|| chunks.iter().position(|chunk| chunk.left > 0));
        let Some(chunk) = roomy.and_then(|at| chunks.get_mut(at)) else { break };
        let piece = extent.min(chunk.left);
        chunk.left -= piece;
        left -= piece;
        for device in &chunk.devices {
            written[*device] += piece as f64 * chunk.share;
        }
    }
    // Where chunks were not followed to the end, shares of what was placed say too much of
    // devices that are full by then. (More than there is room for is refused elsewhere.)
    if left > 0 {
        return average();
    }
    written.iter().map(|bytes| bytes / wanted.0 as f64).collect()
}

/// The devices of mkfs.btrfs's first chunk: where not all take part, the last ones, for it
/// takes those first that were added last, and the same again (observed with 6.2 on three
/// to five equal devices; `btrfs_alloc_chunk` in kernel-shared/volumes.c moves those that
/// it took to the front).
fn last(devices: usize, profile: Profile) -> std::ops::Range<usize> {
    devices - profile.width(devices).min(devices)..devices
}

impl Space {
    /// The first data chunk, by mkfs.btrfs. Data without copies lie on one device at first,
    /// in a chunk of 8 MiB.
    fn first(&mut self) -> Option<Chunk> {
        let count = self.free.len();
        if self.profile == Profile::Single {
            return self.chunk(vec![0], 8 << 20);
        }
        self.chunk(last(count, self.profile).collect(), LARGEST_STRIPE)
    }

    /// The next data chunk, by the kernel: on those that have the most room. None is cut to
    /// a tenth of the file system, for where that would be, nothing is followed.
    fn next(&mut self) -> Option<Chunk> {
        let mut roomy: Vec<usize> =
            (0..self.free.len()).filter(|at| self.free[*at] >= STRIPE_LENGTH).collect();
        roomy.sort_by_key(|at| std::cmp::Reverse(self.free[*at]));
        roomy.truncate(self.profile.width(roomy.len()));
        self.chunk(roomy, LARGEST_STRIPE)
    }

    /// A chunk of so many bytes of each of these devices, or of as many as they all have.
    fn chunk(&mut self, devices: Vec<usize>, stripe: u64) -> Option<Chunk> {
        let room = devices.iter().map(|at| self.free[*at]).min()?;
        // Two copies on one device take twice.
        let stripe = stripe.min(room) / STRIPE_LENGTH * STRIPE_LENGTH;
        let data = self.profile.data(devices.len());
        let left = (stripe as f64 * data) as u64;
        if left == 0 {
            return None;
        }
        devices.iter().for_each(|at| self.free[*at] -= stripe);
        Some(Chunk { devices, left, share: 1.0 / data })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shares(count: usize, size: Bytes, profile: Profile, wanted: Bytes) -> Vec<f64> {
        shares_of_first(&vec![size; count], profile, profile, wanted)
    }

    /// Megabytes to each device, rounded.
    fn megabytes(count: usize, size: Bytes, profile: Profile, wanted: Bytes) -> Vec<u64> {
        let to_bytes = |share: f64| (share * wanted.0 as f64 / 1e6).round() as u64;
        shares(count, size, profile, wanted).into_iter().map(to_bytes).collect()
    }

    #[test]
    fn allocation_matches_loop_devices() {
        // btrfs-progs 6.2: 300 MiB in one file on four devices of 1 GiB were 180, 180, 134
        // and 134 MB.
        assert_eq!(megabytes(4, Bytes::gib(1), Profile::Raid1, Bytes::mib(300)), [157; 4]);
        assert_eq!(
            megabytes(4, Bytes::mib(2560), Profile::Raid1, Bytes::mib(1000)),
            [0, 0, 1049, 1049]
        );
        let large = Bytes(10_000_000_000_000);
        assert_eq!(megabytes(4, large, Profile::Raid1, Bytes::mib(300)), [0, 0, 315, 315]);
        assert_eq!(
            megabytes(4, Bytes::gib(1), Profile::Raid10, Bytes::mib(900)),
            [472, 472, 472, 472]
        );
        // Data without copies: the first 8 MiB are too few for an extent of 128 MiB.
        assert_eq!(megabytes(4, Bytes::gib(3), Profile::Single, Bytes::mib(128)), [0, 134, 0, 0]);
    }

    #[test]
    fn mirrors_take_turns() {
        let large = Bytes::gib(1000);
        let of = |gib: u64| shares(4, large, Profile::Raid1, Bytes::gib(gib));
        assert_eq!(of(1), [0.0, 0.0, 1.0, 1.0]);
        // The metadata's gigabyte has to be made up for.
        assert_eq!(of(3), [2.0 / 3.0, 2.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0]);
        assert!(of(60).iter().all(|share| (share - 0.5).abs() < 0.03), "{:?}", of(60));
        assert_eq!(of(100), [0.5; 4]);
    }

    fn any_profile() -> impl Strategy<Value = Profile> {
        prop::sample::select(Profile::ALL.to_vec())
    }

    proptest! {
        #[test]
        fn as_many_bytes_as_the_profile_writes(
            sizes in prop::collection::vec(200_u64..50_000, 4..9),
            profile in any_profile(),
            wanted in 1_u64..4000,
        ) {
            let sizes: Vec<Bytes> = sizes.into_iter().map(Bytes::mib).collect();
            let got = shares_of_first(&sizes, profile, Profile::Raid1, Bytes::mib(wanted));
            prop_assert_eq!(got.len(), sizes.len());
            prop_assert!(got.iter().all(|share| share.is_finite() && *share >= 0.0));
            let sum: f64 = got.iter().sum();
            let copies = match profile {
                Profile::Single | Profile::Raid0 => 1.0,
                Profile::Dup | Profile::Raid1 | Profile::Raid10 => 2.0,
                Profile::Raid1c3 => 3.0,
                Profile::Raid1c4 => 4.0,
                // Parity is a larger share where fewer devices are left.
                Profile::Raid5 | Profile::Raid6 => {
                    prop_assert!((1.0..=3.0 + 1e-9).contains(&sum), "{sum}");
                    return Ok(());
                }
            };
            prop_assert!((sum - copies).abs() < 1e-6, "{sum} {copies}");
        }

        #[test]
        fn no_device_takes_more_than_it_has(
            sizes in prop::collection::vec(200_u64..30_000, 4..7),
            profile in any_profile(),
            wanted in 1_u64..20_000,
        ) {
            let sizes: Vec<Bytes> = sizes.into_iter().map(Bytes::mib).collect();
            let (fits, _) = allocate(&sizes, profile, Profile::Raid1);
            let wanted = Bytes::mib(wanted).min(Bytes(fits.0 / 2));
            let got = shares_of_first(&sizes, profile, Profile::Raid1, wanted);
            for (share, size) in got.iter().zip(&sizes) {
                prop_assert!(share * wanted.0 as f64 <= size.0 as f64 * 1.001, "{got:?}");
            }
        }

        #[test]
        fn many_bytes_are_shared_out_as_on_average(count in 4_usize..8, profile in any_profile()) {
            let sizes = vec![Bytes::gib(200); count];
            let few = shares_of_first(&sizes, profile, Profile::Raid1, Bytes(FOLLOWED));
            let (_, average) = allocate(&sizes, profile, Profile::Raid1);
            for (few, average) in few.iter().zip(&average) {
                prop_assert!((few - average).abs() < 0.15, "{few} {average}");
            }
        }
    }
}
