# Runs from beginning to end: on SCSI disks, and on the virtio disks themselves.

scsi a vda K1AAAAAA HDN721010ALE604
scsi b vdb K1BBBBBB HDN721010ALE604
scsi c vdc 'K1 CC CC' HDN721010ALE604
$disklab list drives > /run/lab/drives
# The data go to the drives: no other place needs room for them.
mkdir /run/small
mount -t tmpfs -o size=64k tmpfs /run/small
try plan -- --json plan study.toml --on "disks:$ID_a,$ID_b,$ID_c" --scratch /run/small/scratch
try scsi -- run study.toml --scratch /run/small/scratch --on "disks:$ID_a,$ID_b,$ID_c" --yes --seed 7 --out /run/lab/scsi
gone a
gone b
gone c
id=/dev/disk/by-id/virtio-VIRT
# Drives that no cell uses are left alone, whatever is on them.
mkswap -q /dev/vdf
settle
try virtio vde vdf -- run study.toml --on disks:${id}0004,${id}0005,${id}0006 --yes --seed 7 \
    --only 'single/*' --out /run/lab/virtio
# Nothing is left on the drive that could be taken for somebody's data.
for kind in ext4 xfs f2fs nilfs2 btrfs; do
    try kind-$kind -- run kinds.toml --on disks:${id}0004 --yes --only "*/$kind:*" --out /run/work/run
    wipefs /dev/vdd > $case/left
    rm -rf /run/work/run
done
