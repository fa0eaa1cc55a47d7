use proptest::prelude::*;

use super::allocate::fill;
use super::*;

/// Btrfs's allocator, chunk by chunk: each takes one unit of each of the
/// devices with the most free space.
fn by_chunks(free: &mut [u64], profile: Profile) -> f64 {
    let mut placed = 0.0;
    loop {
        let mut order: Vec<usize> = (0..free.len()).filter(|i| free[*i] > 0).collect();
        order.sort_by_key(|i| std::cmp::Reverse(free[*i]));
        let width = profile.width(order.len());
        if width == 0 {
            return placed;
        }
        for index in &order[..width] {
            free[*index] -= 1;
        }
        placed += profile.data(width);
    }
}

fn any_profile() -> impl Strategy<Value = Profile> {
    prop::sample::select(Profile::ALL.to_vec())
}

const UNIT: f64 = 1e6;

proptest! {
    #[test]
    fn the_fluid_model_matches_the_allocator(
        sizes in prop::collection::vec(0_u64..400, 1..9),
        profile in any_profile(),
    ) {
        let mut free: Vec<f64> = sizes.iter().map(|s| *s as f64 * UNIT).collect();
        let fluid = fill(&mut free, profile, f64::INFINITY) / UNIT;
        let chunks = by_chunks(&mut sizes.clone(), profile);
        // Whole chunks waste a few units where the fluid wastes none.
        let slack = 2.0 * sizes.len() as f64;
        prop_assert!((fluid - chunks).abs() <= slack, "{fluid} {chunks}");
    }

    #[test]
    fn no_more_than_the_copies_allow(
        sizes in prop::collection::vec(0_u64..1 << 44, 1..20),
        profile in any_profile(),
    ) {
        let mut free: Vec<f64> = sizes.iter().map(|s| *s as f64).collect();
        let total: f64 = free.iter().sum();
        let largest = free.iter().copied().fold(0.0, f64::max);
        let fits = fill(&mut free, profile, f64::INFINITY);
        let copies = 1.0 / profile.data(1).max(profile.data(64) / 64.0);
        prop_assert!(fits <= total / copies + 64.0);
        prop_assert!(free.iter().all(|f| *f >= 0.0));
        if profile == Profile::Raid1 {
            let known = (total / 2.0).min(total - largest);
            prop_assert!((fits - known).abs() <= 64.0, "{fits} {known}");
        }
    }

    #[test]
    fn shares_add_up(
        sizes in prop::collection::vec(300_u64..1 << 24, 4..9),
        profile in any_profile(),
    ) {
        let sizes: Vec<Bytes> = sizes.into_iter().map(Bytes::mib).collect();
        let (size, shares) = allocate(&sizes, profile, Profile::Raid1);
        let used: f64 = shares.iter().sum::<f64>() * size.0 as f64;
        let total: Bytes = sizes.iter().copied().sum();
        prop_assert!(size < total);
        prop_assert!(used <= total.0 as f64 * 1.001, "{used} {total:?}");
        // A byte of data is written at least once.
        prop_assert!(shares.iter().sum::<f64>() >= 0.999);
    }
}

#[test]
fn nothing_goes_to_devices_that_are_too_small() {
    let (size, shares) = allocate(&[Bytes::kib(500); 2], Profile::Raid1, Profile::Raid1);
    assert_eq!((size, shares), (Bytes(0), vec![0.0, 0.0]));
}

#[test]
fn a_limit_stops_it() {
    let mut free = vec![100.0 * UNIT, 100.0 * UNIT];
    assert_eq!(fill(&mut free, Profile::Raid1, 30.0 * UNIT), 30.0 * UNIT);
    assert_eq!(free, [70.0 * UNIT, 70.0 * UNIT]);
}

fn layer(text: &str) -> Result<Box<dyn Layer>, SourceError> {
    crate::test_support::layer(text)
}

fn shape(text: &str, drives: &[Bytes]) -> Result<Volume, Box<dyn std::error::Error>> {
    match layer(text)?.shape(&Shape::drives(drives))? {
        Shape::Directory(volume) => Ok(volume),
        other => panic!("{other:?}"),
    }
}

#[test]
fn shapes_of_the_family() {
    let drives = [Bytes(10_000_000_000_000); 4];
    for (text, terabytes, tolerates, writes) in [
        ("btrfs-single", 40.0, 0, 0.25),
        ("btrfs-dup", 20.0, 0, 0.5),
        ("btrfs-raid0", 40.0, 0, 0.25),
        ("btrfs-raid1", 20.0, 1, 0.5),
        ("btrfs-raid1c3", 13.333, 2, 0.75),
        ("btrfs-raid1c4", 10.0, 3, 1.0),
        ("btrfs-raid10", 20.0, 1, 0.5),
        ("btrfs-raid5", 30.0, 1, 1.0 / 3.0),
        ("btrfs-raid6", 20.0, 2, 0.5),
        ("btrfs-raid6[metadata=raid1]", 20.0, 1, 0.5),
        ("btrfs-single[data=raid5,metadata=raid5]", 30.0, 1, 1.0 / 3.0),
    ] {
        let volume = shape(text, &drives).expect(text);
        let found = volume.size.0 as f64 / 1e12;
        assert!((found / terabytes - 1.0).abs() < 0.01, "{text}: {found}");
        assert_eq!(volume.tolerates(), tolerates, "{text}");
        assert_eq!(volume.drive_writes.len(), 4);
        for factor in volume.drive_writes {
            assert!((factor - writes).abs() < 0.001, "{text}: {factor}");
        }
    }
}

#[test]
fn impossible_layouts_are_refused_with_the_reason() {
    let big = Bytes::gib(100);
    for (text, drives, reason) in [
        ("btrfs", vec![big; 4], "exactly 1 device, got 4 devices"),
        ("btrfs-raid1", vec![big], "needs at least 2 devices, got 1"),
        ("btrfs-raid6", vec![big; 2], "needs at least 3 devices, got 2"),
        ("btrfs[metadata=raid1c3]", vec![big], "metadata raid1c3"),
        ("btrfs", vec![Bytes::mib(100)], "at least 109 MiB, got one of 100 MiB"),
        ("btrfs[data=raid7]", vec![big], "found 'raid7'"),
        ("btrfs[csum=md5]", vec![big], "found 'md5'"),
        ("btrfs[nodesize=5000]", vec![big], "power of two"),
        ("btrfs[mkfs=\"it's open\"]", vec![big], "is not a list of arguments"),
    ] {
        let error = shape(text, &drives).expect_err(text).to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }
}

#[test]
fn redundancy_below_counts() {
    let Shape::Devices(drives) = Shape::drives(&[Bytes::gib(100); 4]) else { panic!("no drives") };
    let mirror = |index: usize| {
        let mut drive_writes = vec![0.0; 4];
        drive_writes[index] = 1.0;
        drive_writes[index + 1] = 1.0;
        let loss = lost_beyond(1, &drives[index..index + 2]);
        Volume { loss, drive_writes, ..drives[index].clone() }
    };
    let below = Shape::Devices(vec![mirror(0), mirror(2)]);
    let Ok(Shape::Directory(volume)) = layer("btrfs-raid1").expect("layer").shape(&below) else {
        panic!("no directory");
    };
    assert_eq!(volume.tolerates(), 3);
    assert!(volume.drive_writes.iter().all(|w| (w - 1.0).abs() < 0.001));
}
