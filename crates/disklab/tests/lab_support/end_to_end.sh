# Runs from beginning to end: on SCSI disks, and on the virtio disks themselves.

scsi a vda K1AAAAAA HDN721010ALE604
scsi b vdb K1BBBBBB HDN721010ALE604
scsi c vdc 'K1 CC CC' HDN721010ALE604
$disklab list drives > /run/lab/drives
try scsi -- run study.toml --on "disks:$ID_a,$ID_b,$ID_c" --yes --seed 7 --out /run/lab/scsi
gone a
gone b
gone c
id=/dev/disk/by-id/virtio-VIRT
try virtio -- run study.toml --on disks:${id}0004,${id}0005,${id}0006 --yes --seed 7 \
    --only 'single/*' --out /run/lab/virtio
