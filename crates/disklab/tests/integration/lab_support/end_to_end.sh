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
    try kind-$kind -- run kinds.toml --on disks:${id}0004 --yes --erase VIRT0004 \
        --only "*/$kind:*" --out /run/work/run
    wipefs /dev/vdd > $case/left
    rm -rf /run/work/run
done

# Jobs of `disklab fio` on a drive: the same rules.
job="--name=x --rw=write --bs=64k --size=4m --end_fsync=1 --filename"
try fio-kernel-name vde -- fio $job=/dev/vde --yes
try fio-unasked vde -- fio $job=${id}0005
try fio-blank -- fio $job=${id}0005 --yes
try fio-not-blank vde -- fio $job=${id}0005 --yes
try fio-named -- fio $job=${id}0005 --yes --erase VIRT0005
try fio-reads vde -- fio --name=x --rw=randread --bs=4k --size=4m --filename=/dev/vde
# Held as long as the jobs run. Direct: writes to memory take no virtual time, and the job
# would never end.
begin fio-held
$disklab fio $job=${id}0005 --yes --erase VIRT0005 --direct=1 --time_based --runtime=30 \
    > $case/stdout 2> $case/stderr &
sleep 15
mkfs.ext4 -q -F -E lazy_itable_init=0 /dev/vde 2> /dev/null && say "mkfs got a drive that jobs write to"
wait $!
end $?
mkfs.ext4 -q -F -L photos -E lazy_itable_init=0 /dev/vde
settle
try fio-signed vde -- fio $job=${id}0005 --yes
mount /dev/vde /mnt/a
settle
try fio-mounted vde -- fio $job=${id}0005 --yes --erase VIRT0005
umount /mnt/a
try fio-erases -- fio $job=${id}0005 --yes --erase VIRT0005
wipefs /dev/vde > $case/left
