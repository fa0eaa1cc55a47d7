use proptest::prelude::*;

use super::*;
use crate::test_support::spec;

fn parse(text: &str, drives: usize) -> Result<Stack, SourceError> {
    Stack::parse(&spec(text, drives)?)
}

#[test]
fn errors_show_the_place_and_what_was_meant() {
    for (text, drives, words) in [
        ("ext5", 1, "test.toml:1:1: unknown layer 'ext5' (did you mean 'ext4'?); known: "),
        ("btrfs_raid1", 2, "(did you mean 'btrfs-raid1'?)"),
        ("partition[begin=1M]/ext4", 1, "'begin' is not an option of partition; expected 'start'"),
        ("loop-file[sise=1M]", 1, "(did you mean 'size'?)"),
        (
            "partition",
            1,
            "stack 'test': it ends in 1 device, not in a directory; add a file system",
        ),
        ("", 3, "it ends in 3 devices, not in a directory"),
        ("ext4", 4, "ext4 needs exactly 1 device, got 4 devices; put an array"),
        ("ext4/xfs", 1, "xfs needs a device, got a directory; put a loop-file below it"),
        ("ext4/partition", 1, "partition needs devices, got a directory"),
        ("loop-file/ext4", 1, "loop-file needs a directory or a pool, got 1 device"),
        ("btrfs-raid1c4", 3, "needs at least 4 devices, got 3"),
        (
            "md-raid5/md-raid0/ext4",
            6,
            "md-raid0 needs at least 2 devices, got 1; md-raid5[width=4] makes an array of each \
             four devices",
        ),
        (
            "ext4[lazy-init=maybe]",
            1,
            "`lazy-init`: expected 'skip', 'off' or 'wait', found 'maybe'",
        ),
        ("ext4[block-size=3k]", 1, "`block-size`: expected a power of two"),
        ("partition[start=1]/ext4", 1, "`start`: expected a multiple of 1 KiB from 1 MiB"),
        ("ext4/loop-file[size=5000]/ext4", 1, "`size`: expected a multiple of 4 KiB"),
        ("f2fs[block-size=4K]", 1, "f2fs has no `block-size`"),
        ("xfs[mkfs=\"]", 1, "brackets or quotes do not match"),
        ("xfs[mkfs=\"it's\"]", 1, "`mkfs`: 'it's' is not a list of arguments"),
    ] {
        let error = parse(text, drives).map(|s| s.describe()).expect_err(text).to_string();
        assert!(error.contains(words), "{text}: {error}");
    }
}

#[test]
fn sizes_are_judged_with_the_drives_only() {
    for (text, words) in [
        ("xfs", "xfs needs devices of at least 300 MiB, got one of 200 MiB"),
        ("ext4/loop-file[size=1G]/ext4", "loop-file: 1 GiB do not fit; there is room for"),
        ("btrfs[data=dup]", "btrfs needs devices of at least 229 MiB, got one of 200 MiB"),
    ] {
        let stack = parse(text, 1).expect(text);
        let error = stack.shape(&[Bytes::mib(200)]).expect_err(text).to_string();
        assert!(error.contains(words), "{text}: {error}");
        assert!(stack.shape(&[Bytes::gib(10)]).is_ok(), "{text}");
    }
}

#[test]
fn raid_50_and_60_are_groups_below_a_stripe() {
    for (text, drives, data, tolerates) in [
        ("md-raid5[width=3]/md-raid0/xfs", 6, 4.0, 1),
        ("md-raid6[width=4]/md-raid0/xfs", 12, 6.0, 2),
        ("md-raid1[width=2]/md-raid0/xfs", 6, 3.0, 1),
        ("md-raid1[width=2]/md-raid5/xfs", 6, 2.0, 3),
    ] {
        let stack = parse(text, drives).expect(text);
        let volume = stack.shape(&vec![Bytes::gib(1000); drives]).expect(text);
        let held = volume.size.0 as f64 / Bytes::gib(1000).0 as f64;
        assert!((held / data - 1.0).abs() < 0.01, "{text}: {held}");
        assert_eq!(volume.tolerates, tolerates, "{text}");
        assert!(volume.drive_writes.iter().all(|w| (w * data - 1.0).abs() < 0.01), "{volume:?}");
    }
}

#[test]
fn needs_come_once() {
    let stack = parse("partition/ext4/loop-file/ext4", 1).expect("stack");
    let needs = stack.needs();
    for (index, need) in needs.iter().enumerate() {
        assert!(!needs[..index].contains(need), "{need} comes twice");
    }
    for need in [Need::Root, Need::Loop, Need::FileSystem("ext4")] {
        assert!(needs.contains(&need), "{need} is missing");
    }
}

/// A layer that exists, with an option now and then.
fn any_layer() -> impl Strategy<Value = String> {
    let names: Vec<&'static str> = LAYERS.iter().map(|kind| kind.name).collect();
    let option = prop::sample::select(vec![
        "",
        "[noatime]",
        "[size=1G]",
        "[data=raid1]",
        "[metadata=dup,compress=lzo]",
        "[start=4M]",
        "[block-size=4K]",
    ]);
    (prop::sample::select(names), option).prop_map(|(name, option)| format!("{name}{option}"))
}

proptest! {
    #[test]
    fn no_text_panics(text in ".{0,60}", drives in 0_usize..5) {
        let _ = parse(&text, drives);
    }

    #[test]
    fn no_hostile_options_panic(
        name in prop::sample::select(LAYERS.iter().map(|k| k.name).collect::<Vec<_>>()),
        key in prop::sample::select(
            LAYERS.iter().flat_map(|k| k.options).map(|(name, _)| *name).collect::<Vec<_>>()
        ),
        value in "([0-9]{0,20}[kMGTPi]{0,2})|([^\\[\\]/,]{0,20})",
    ) {
        if let Ok(stack) = parse(&format!("{name}[{key}={value}]"), 1) {
            let _ = stack.shape(&[Bytes(u64::MAX)]);
            let _ = stack.shape(&[Bytes::ZERO]);
        }
    }

    #[test]
    fn valid_stacks_are_described_and_consistent(
        layers in prop::collection::vec(any_layer(), 1..4),
        sizes in prop::collection::vec(1_u64..100_000_000_000_000, 1..6),
    ) {
        let text = layers.join("/");
        let Ok(stack) = parse(&text, sizes.len()) else { return Ok(()) };
        let described = stack.describe();
        prop_assert_eq!(&described, &text);
        prop_assert_eq!(parse(&described, sizes.len()).map(|s| s.needs()), Ok(stack.needs()));
        let sizes: Vec<Bytes> = sizes.into_iter().map(Bytes).collect();
        if let Ok(volume) = stack.shape(&sizes) {
            prop_assert!((volume.tolerates as usize) < sizes.len());
            prop_assert_eq!(volume.drive_writes.len(), sizes.len());
            prop_assert!(volume.drive_writes.iter().all(|w| w.is_finite() && *w >= 0.0));
        }
    }
}
