use super::*;
use crate::reading::tests::spec;

fn line(text: &str, devices: &[&str]) -> String {
    let zfs = read_options(&spec(text)).expect("zfs");
    let devices: Vec<PathBuf> = devices.iter().map(PathBuf::from).collect();
    let vdevs = zfs.vdevs(&devices).expect("vdevs");
    let lines = zfs.create(&new(&zfs), &vdevs, &Inputs::default()).command_line();
    match zfs.has_dataset {
        true => format!("{lines}; {}", zfs.create_dataset(&new(&zfs)).command_line()),
        false => lines,
    }
    .replace('\'', "")
}

fn new(zfs: &Zfs) -> DrawnPool<'static> {
    DrawnPool {
        pool: "p",
        mark: "m",
        directory: Path::new("/run/p"),
        has_dataset: zfs.has_dataset,
        key: zfs.properties.is_encrypted().then(|| "00".to_owned()),
    }
}

#[test]
fn command_lines() {
    assert_eq!(
        line("zfs-raidz1[ashift=12,recordsize=1M,lz4]", &["/dev/a1", "/dev/b1", "/dev/c1"]),
        "zpool create -f -o cachefile=none -o ashift=12 -O recordsize=1048576 -O \
         compression=lz4 -O disklab:mark=m -m /run/p p raidz1 /dev/a1 /dev/b1 /dev/c1"
    );
    assert_eq!(
        line("zfs", &["/dev/a1", "/dev/b1"]),
        "zpool create -f -o cachefile=none -O disklab:mark=m -m /run/p p /dev/a1 /dev/b1"
    );
    assert_eq!(
        line("zfs-mirror[width=2]", &["/dev/a", "/dev/b", "/dev/c", "/dev/d"]),
        "zpool create -f -o cachefile=none -O disklab:mark=m -m /run/p p mirror /dev/a /dev/b \
         mirror /dev/c /dev/d"
    );
    assert_eq!(
        line("zfs-draid1[data=2,spares=1]", &["/dev/a", "/dev/b", "/dev/c", "/dev/d"]),
        "zpool create -f -o cachefile=none -O disklab:mark=m -m /run/p p draid1:2d:4c:1s /dev/a \
         /dev/b /dev/c /dev/d"
    );
}

/// A log and a special vdev of several devices are mirrors, a cache and spares are not.
#[test]
fn inputs_come_after_the_data() {
    let zfs = read_options(&spec("zfs")).expect("zfs");
    let data: Vec<PathBuf> = vec!["/dev/a".into()];
    for (name, one, two) in [
        (LOG.name, "log /dev/x", "log mirror /dev/x /dev/y"),
        (SPECIAL.name, "special /dev/x", "special mirror /dev/x /dev/y"),
        (CACHE.name, "cache /dev/x", "cache /dev/x /dev/y"),
        (SPARE.name, "spare /dev/x", "spare /dev/x /dev/y"),
    ] {
        for (devices, expected) in [(&["/dev/x"][..], one), (&["/dev/x", "/dev/y"], two)] {
            let mut inputs = Inputs::default();
            inputs.add(name, devices.iter().map(PathBuf::from).collect());
            let line = zfs.create(&new(&zfs), &[&data], &inputs).command_line();
            assert!(line.ends_with(&format!(" p /dev/a {expected}")), "{line}");
        }
    }
}

#[test]
fn encryption_and_data_sets() {
    assert_eq!(
        line("zfs[encryption=aes-256-gcm,keyformat=passphrase]", &["/dev/a1"]),
        "zpool create -f -o cachefile=none -O encryption=aes-256-gcm -O keyformat=hex -O \
         keylocation=prompt -O disklab:mark=m -m /run/p p /dev/a1"
    );
    assert_eq!(
        line("zfs[dataset,ashift=12,recordsize=16K,encryption=on]", &["/dev/a1"]),
        "zpool create -f -o cachefile=none -o ashift=12 -O disklab:mark=m -m none p /dev/a1; \
         zfs create -o recordsize=16384 -o encryption=on -o keyformat=hex -o \
         keylocation=prompt -o disklab:mark=m -o mountpoint=/run/p p/data"
    );
    assert!(read_options(&spec("zfs[dataset=tank]")).is_err());
}

#[test]
fn the_chosen_ashift_is_that_of_the_data() {
    assert_eq!(chosen("12\n12\n", 2), [12]);
    // What a stripe's `all-vdevs` has first is the root, which has none.
    assert_eq!(chosen("0\n12\n9\n13\n", 2), [9, 12]);
    assert!(chosen("0\n-\nnonsense 12\n", 2).is_empty());
}

#[test]
fn unsuitable_devices_are_refused() {
    let drives = |count| Shape::drives(&vec![disklab_units::Bytes::gib(10); count]);
    for (text, count, words) in [
        ("zfs-mirror", 1, "zfs-mirror needs at least 2 devices, got 1"),
        ("zfs-raidz3", 3, "zfs-raidz3 needs at least 4 devices, got 3"),
        ("zfs-raidz2[width=2]", 4, "zfs-raidz2 needs at least 3 devices, got 2"),
        ("zfs-draid2[spares=1,data=2]", 4, "zfs-draid2 needs at least 5 devices, got 4"),
        ("zfs-mirror[width=2]", 3, "zfs-mirror: 3 devices do not make vdevs of 2"),
        ("zfs", 0, "zfs needs at least 1 devices, got 0"),
    ] {
        let error = read_options(&spec(text)).expect("zfs").shape(&drives(count));
        assert_eq!(error.expect_err(text).to_string(), words);
    }
    let error = read_options(&spec("zfs[width=2]")).expect_err("stripe").message;
    assert!(error.contains("'width' is not an option of zfs"), "{error}");
    let error = read_options(&spec("zfs-draid1[spares=x]")).expect_err("no number").message;
    assert!(error.contains("`spares`: expected a number from 0 to 100, found 'x'"), "{error}");
    let error = read_options(&spec("zfs-mirror[width=1]")).expect_err("one").message;
    assert!(error.contains("a number of devices from 2, found '1'"), "{error}");
}

#[test]
fn a_pool_is_no_device() {
    let zfs = read_options(&spec("zfs")).expect("zfs");
    let pool = zfs.shape(&Shape::drives(&[disklab_units::Bytes::gib(10)])).expect("pool");
    assert!(matches!(pool, Shape::Pool(_)));
    let error = zfs.shape(&pool).expect_err("pool");
    assert_eq!(error, ShapeError::unfit("zfs", "devices", crate::Below::Pool));
}
