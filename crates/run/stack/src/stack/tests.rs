use proptest::prelude::*;

use super::*;
use crate::LAYERS;
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

/// What was overwritten stays where new data go elsewhere, and what repeats does not for the drives
/// below an encryption.
#[test]
fn stacks_keep_what_their_layers_keep() {
    for (text, drives, old_data, metadata, hides_repeats) in [
        ("ext4", 1, false, false, false),
        ("md-raid1/xfs", 2, false, false, false),
        ("crypt/ext4", 1, false, false, true),
        ("btrfs", 1, true, true, false),
        ("btrfs[nodatacow]", 1, false, true, false),
        ("crypt/btrfs", 1, true, true, true),
        ("nilfs2", 1, true, true, false),
        ("f2fs", 1, true, true, false),
        ("zfs-mirror", 2, true, true, false),
        ("zfs[encryption=on]", 1, true, true, true),
    ] {
        let kept = parse(text, drives).unwrap_or_else(|e| panic!("{text}: {e}")).kept_writes();
        let found = (kept.old_data, kept.metadata > 0.0, kept.hides_repeats);
        assert_eq!(found, (old_data, metadata, hides_repeats), "{text}");
    }
}

#[test]
fn inputs_that_do_not_fit_are_errors() {
    for (text, drives, words) in [
        (
            "zfs-raidz1{lgo=4}",
            4,
            "'lgo' is not an input of the layers (did you mean 'log'?); zfs-raidz1 has 'log', \
             'cache', 'special' or 'spare'",
        ),
        ("partition{log=2}/ext4", 2, "none of its layers has inputs besides its data"),
        ("zfs{log=9}", 2, "`log` is on drive 9; the stack has 2"),
        ("zfs{log=2,cache=2}", 2, "drive 2 is used twice, the second time by `cache`"),
        ("zfs{log=2,log=3}", 3, "`log` is given twice"),
        ("zfs{log=1-2}", 2, "zfs needs at least 1 devices, got 0"),
        ("zfs{log=2/ext4}", 2, "`log` of zfs takes 4 devices at most, got a directory"),
        ("zfs{log=2/ext5}", 2, "unknown layer 'ext5'"),
        ("zfs{log=2/partition[begin=1M]}", 2, "'begin' is not an option of partition"),
        ("zfs{log=2-3/md-raid5}", 3, "md-raid5 needs at least 3 devices, got 2"),
        (
            "md-raid5{journal=4-5}/ext4",
            5,
            "`journal` of md-raid5 takes 1 device at most, got 2 devices",
        ),
        (
            "md-raid5[width=3]{journal=7}/md-raid0/ext4",
            7,
            "`journal` of md-raid5 is of one array, and `width` makes 2",
        ),
        ("md-raid5[bitmap=internal]{journal=4}/ext4", 4, "an array with a journal has no bitmap"),
        ("md-raid1{journal=3}/ext4", 3, "'journal' is not an input of the layers; md-raid1 has"),
    ] {
        let error = parse(text, drives).map(|s| s.describe()).expect_err(text).to_string();
        assert!(error.starts_with("test.toml:1:1: ") && error.contains(words), "{text}: {error}");
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
        assert_eq!(volume.tolerates(), tolerates, "{text}");
        assert!(volume.drive_writes.iter().all(|w| (w * data - 1.0).abs() < 0.01), "{volume:?}");
    }
}

#[test]
fn inputs_change_what_is_written_and_may_fail_but_not_the_space() {
    for (text, drives, plain, tolerates, writes) in [
        ("zfs-raidz1{log=5,cache=6}", 6, "zfs-raidz1", 1, &[0.0, 0.0][..]),
        ("zfs-raidz2[sync=always]{log=5-6}", 6, "zfs-raidz2", 2, &[1.0, 1.0]),
        ("zfs-raidz2{special=5}", 5, "zfs-raidz2", 0, &[0.02]),
        ("zfs-raidz2{special=5-6}", 6, "zfs-raidz2", 1, &[0.02, 0.02]),
        ("zfs-mirror{special=5-7/md-raid1}", 7, "zfs-mirror", 2, &[0.02; 3]),
        ("md-raid5{journal=5}/ext4", 5, "md-raid5/ext4", 1, &[4.0 / 3.0]),
        ("md-raid6{journal=5-6/md-raid1,spare=7}/xfs", 7, "md-raid6/xfs", 2, &[2.0, 2.0, 0.0]),
        // An input that a layer does not have is of the one above.
        ("partition{spare=5}/md-raid1/ext4", 5, "partition/md-raid1/ext4", 3, &[0.0]),
    ] {
        let tb = |drives| vec![Bytes::gib(1000); drives];
        let volume = parse(text, drives).expect(text).shape(&tb(drives)).expect(text);
        let plain = parse(plain, 4).expect(plain).shape(&tb(4)).expect(plain);
        assert_eq!((volume.size, volume.tolerates()), (plain.size, tolerates), "{text}");
        let (data, others) = volume.drive_writes.split_at(4);
        assert_eq!(data, plain.drive_writes, "{text}");
        let is_near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-9;
        assert!(others.iter().zip(writes).all(is_near), "{text}: {others:?}");
    }
    let described = parse("partition{spare=5}/md-raid1/ext4", 5).expect("a stack").describe();
    assert_eq!(described, "partition/md-raid1{spare=5}/ext4");
}

#[test]
fn inputs_that_are_too_small_are_refused() {
    for (text, sizes, words) in [
        ("zfs{log=2}", [10_000, 63], "`log` of zfs needs devices of at least 64 MiB, got one of"),
        ("zfs{spare=2}", [10_000, 9_999], "`spare` of zfs needs devices of at least 9.7"),
    ] {
        let error = parse(text, 2).expect(text).shape(&sizes.map(Bytes::mib)).expect_err(text);
        assert!(error.to_string().contains(words), "{text}: {error}");
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
    let needs = parse("zfs{log=2/crypt}", 2).expect("stack").needs();
    assert!(needs.contains(&Need::DeviceMapper("crypt")), "of an input: {needs:?}");
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
    fn any_graph_is_understood_or_refused(
        layers in prop::collection::vec(any_layer(), 0..3),
        taker in prop::sample::select(vec!["zfs-raidz1", "md-raid5", "md-raid1", "xfs", "zvol"]),
        input in "log|cache|journal|spare|special|[a-z]{0,4}",
        (first, last) in (0_u32..9, 0_u32..9),
        below in prop::option::of(any_layer()),
        drives in 0_usize..8,
    ) {
        let below = below.map(|layer| format!("/{layer}")).unwrap_or_default();
        let taker = format!("{taker}{{{input}={first}-{last}{below}}}");
        let text = std::iter::once(taker).chain(layers).collect::<Vec<_>>().join("/");
        match parse(&text, drives) {
            Err(error) => prop_assert!(error.to_string().starts_with("test.toml:1:"), "{}", error),
            Ok(stack) => {
                prop_assert_eq!(Stack::of_plan(&stack.planned()).map(|s| s.describe()), Ok(stack.describe()));
                if let Ok(volume) = stack.shape(&vec![Bytes::gib(100); drives]) {
                    prop_assert!(volume.drive_writes.iter().all(|w| w.is_finite() && *w >= 0.0));
                }
            }
        }
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
            prop_assert!((volume.tolerates() as usize) < sizes.len());
            prop_assert_eq!(volume.drive_writes.len(), sizes.len());
            prop_assert!(volume.drive_writes.iter().all(|w| w.is_finite() && *w >= 0.0));
        }
    }
}
