//! Drives of 20 TB, from the first sector to the last, with all kinds of sectors.

use crate::support::{kernel, run};
use disklab_lab::{DiskOptions, Steady};

/// 20 TB as their makers count (SFF-8447): sectors of 512 bytes.
const SECTORS: u64 = 39_063_650_304;
/// Logical and physical sectors: 512n, 512e, 4Kn.
const SECTOR_BYTES: [(u32, u32); 3] = [(512, 512), (512, 4096), (4096, 4096)];

fn disks() -> Vec<DiskOptions> {
    let disk = |(index, (logical, physical)): (usize, (u32, u32))| {
        let drive = Box::new(Steady::new(SECTORS, 0));
        let disk = DiskOptions::new(drive, format!("LARGE{index}"));
        DiskOptions { logical_bytes: logical, physical_bytes: physical, ..disk }
    };
    SECTOR_BYTES.into_iter().enumerate().map(disk).collect()
}

#[test]
fn each_sector_of_20_tb_is_itself() {
    let Some(kernel) = kernel() else { return };
    // Were addresses cut to 32 bits of sectors (2 TiB), or of blocks of 4 KiB (16 TiB),
    // the places would fall on each other.
    let script = "
        for d in vda vdb vdc; do
            q=/sys/block/$d/queue
            l=$(cat $q/logical_block_size)
            echo $d.size=$(blockdev --getsize64 /dev/$d)
            echo $d.kind=$l,$(cat $q/physical_block_size)
            n=$(($(blockdev --getsize64 /dev/$d) / l))
            places=\"0 $((4294967296 * 512 / l)) $((17592186044416 / l)) $((n / 2)) $((n - 1))\"
            for place in $places; do
                yes $d.$place | head -c $l > /tmp/$place
                dd if=/tmp/$place of=/dev/$d bs=$l seek=$place count=1 oflag=direct conv=notrunc \
                    2>/dev/null || echo $d does not take $place
            done
            same=0
            for place in $places; do
                dd if=/dev/$d bs=$l skip=$place count=1 iflag=direct 2>/dev/null |
                    cmp - /tmp/$place && same=$((same + 1))
            done
            echo $d.same=$same
            dd if=/tmp/0 of=/dev/$d bs=$l seek=$n count=1 oflag=direct conv=notrunc 2>/dev/null &&
                echo $d.beyond=taken || echo $d.beyond=refused
            [ $l = 512 ] || { dd if=/dev/zero of=/dev/$d bs=512 count=1 oflag=direct \
                conv=notrunc 2>/dev/null && echo $d.half=taken || echo $d.half=refused; }
        done";
    let outcome = run(kernel, script, disks(), |_| {});
    let report = outcome.report();
    for (name, (logical, physical)) in ["vda", "vdb", "vdc"].into_iter().zip(SECTOR_BYTES) {
        assert_eq!(outcome.word(&format!("{name}.size")), (SECTORS * 512).to_string());
        assert_eq!(outcome.word(&format!("{name}.kind")), format!("{logical},{physical}"));
        assert_eq!(outcome.word(&format!("{name}.same")), "5", "{}", outcome.console);
        assert_eq!(outcome.word(&format!("{name}.beyond")), "refused");
    }
    assert_eq!(outcome.word("vdc.half"), "refused", "a sector has 4096 bytes there");
    // 60 TB of drives, of which a few sectors were written.
    assert!(report.content.disk_bytes < 1 << 20, "{:?}", report.content);
}

#[test]
fn file_systems_of_20_tb_hold_files() {
    let Some(kernel) = kernel() else { return };
    let programs = ["mkfs.xfs", "mkfs.ext4"];
    if let Some(missing) = programs.into_iter().find(|p| disklab_exec::find_program(p).is_none()) {
        eprintln!("skipped: needs {missing}");
        return;
    }
    let script = "
        head -c 3000000 /dev/urandom > /tmp/data
        for d in vda vdb vdc; do
            for fs in xfs ext4; do
                case $fs in
                    xfs) mkfs.xfs -q -f /dev/$d;;
                    ext4) mkfs.ext4 -q -F -E lazy_itable_init=1,lazy_journal_init=1 /dev/$d;;
                esac || echo $d: no $fs
                o=; [ $fs = xfs ] || o='-o noinit_itable,no_prefetch_block_bitmaps'
                mount -t $fs $o /dev/$d /mnt || echo $d: no mount of $fs
                cp /tmp/data /mnt/data; umount /mnt; mount -t $fs $o /dev/$d /mnt
                cmp /tmp/data /mnt/data && echo $d.$fs=same
                echo $d.$fs.free=$(($(stat -f -c '%a * %S' /mnt)))
                umount /mnt
            done
        done";
    let outcome = run(kernel, script, disks(), |options| options.memory_bytes = 512 << 20);
    outcome.report();
    for drive in ["vda", "vdb", "vdc"] {
        for (fs, share) in [("xfs", 0.97), ("ext4", 0.93)] {
            assert_eq!(outcome.word(&format!("{drive}.{fs}")), "same", "{}", outcome.console);
            let free = outcome.number(&format!("{drive}.{fs}.free"));
            let size = (SECTORS * 512) as f64;
            assert!((share * size..size).contains(&free), "{drive} {fs}: {free}");
        }
    }
}
