# All that must be refused. Each case ends with exit code 2 before a single write.

scsi a vda K1AAAAA1 HDN721010ALE604
scsi b vdb K1BBBBB2 HDN721010ALE604
scsi c vdc K1CCCCC3 HDN721010ALE604
study=one.toml

# refuse CASE DISKS... -- NAMES ARGUMENTS...
refuse() {
    args= names=
    for word in "$@"; do
        case $word in
        --) names=next ;;
        *) [ "$names" = next ] && names="disks:$word" || args="$args $word" ;;
        esac
    done
    [ "$names" ] || return
    case_name=$1
    set -- $args
    shift
    disks_of_case= rest=
    for word in "$@"; do
        case $word in vd?) disks_of_case="$disks_of_case $word" ;; *) rest="$rest $word" ;; esac
    done
    try "$case_name" $disks_of_case -- run $study --on "$names" --yes --out /run/work/refused $rest
    [ -e /run/work/refused ] && say "$case_name made a run" && rm -r /run/work/refused
}

# --- In use

mkfs.ext4 -q -F -E lazy_itable_init=0 /dev/$a
mount /dev/$a /mnt/a
settle
refuse mounted vda -- $ID_a
refuse mounted-erase vda -- $ID_a --erase K1AAAAA1
mount -o remount,ro /mnt/a
refuse mounted-read-only vda -- $ID_a
umount /mnt/a

# The kernel alone knows: a mount in another namespace, one that was unmounted
# lazily, and a drive that the SCSI target hands on.
mkfifo /run/work/go
unshare --mount sh -c "mount /dev/$a /mnt/a && cat /run/work/go" &
sleep 5
settle
refuse other-namespace vda -- $ID_a --erase K1AAAAA1
echo > /run/work/go
wait $!
mount /dev/$a /mnt/a
(cd /mnt/a && exec cat /run/work/go) &
sleep 1
umount -l /mnt/a
settle
refuse unmounted-lazily vda -- $ID_a --erase K1AAAAA1
echo > /run/work/go
wait $!
refuse behind-a-target vda -- /dev/disk/by-id/virtio-VIRT0001

# The root file system on it.
mount /dev/$a /mnt/a
for top in usr etc bin sbin lib lib64 root home work opt srv proc sys dev run tmp mnt; do
    [ -e /$top ] || continue
    if [ -L /$top ]; then cp -a /$top /mnt/a/$top; else mkdir -p /mnt/a/$top; fi
done
settle
unshare --mount sh -c '
    for top in usr etc bin sbin lib lib64 root home work opt srv proc sys dev run tmp; do
        [ -d /mnt/a/$top ] && [ ! -L /mnt/a/$top ] && mount --rbind /$top /mnt/a/$top
    done
    mount --make-rprivate /
    cd /mnt/a && mkdir -p old && pivot_root . old && exec chroot . /bin/sh -c "
        umount -l /old; cat /run/work/go > /run/work/root-script; exec sh /run/work/root-script"' &
{ sed '/^# --- In use/,$d' /run/lab/init | sed -n '/^# scsi NAME/,$p' | grep -v '^scsi '
  echo "disklab=$disklab study=$study ID_a=$ID_a; cd /run/work"
  echo 'refuse root-drive vda -- $ID_a'; } > /run/work/go
wait $!
umount /mnt/a
wipe $a

echo 'start=8192, size=65536, type=83' | sfdisk -q --no-reread --no-tell-kernel /dev/$a
blockdev --rereadpt /dev/$a
links
mkfs.ext4 -q -F -E lazy_itable_init=0 /dev/${a}1
mount /dev/${a}1 /mnt/a
settle
refuse partition-mounted vda -- $ID_a
umount /mnt/a
refuse partition-named vda -- $ID_a-part1
refuse signed-dos vda -- $ID_a
wipe $a

mdadm --create /dev/md0 --run --assume-clean --level=1 --raid-devices=2 /dev/$a /dev/$b
settle
refuse md-member vda vdb -- $ID_b --erase K1BBBBB2
mdadm --stop /dev/md0
refuse signed-md vda vdb -- $ID_b
wipe $a $b

dmsetup create --noudevsync held --table "0 2048 linear /dev/$a 4096"
settle
refuse dm-table vda -- $ID_a
dmsetup remove --noudevsync held

lvm pvcreate -q -y /dev/$a
lvm vgcreate -q -y group /dev/$a
lvm lvcreate -q -y -Zn -Wn -n volume -L 16M group
settle
refuse lvm-active vda -- $ID_a --erase K1AAAAA1
lvm vgchange -q -an group
refuse signed-lvm vda -- $ID_a
wipe $a

mkfs.btrfs -q -f -d raid1 -m raid1 /dev/$a /dev/$b
btrfs device scan /dev/$a /dev/$b
mount /dev/$a /mnt/a
settle
refuse btrfs-first vda vdb -- $ID_a
refuse btrfs-second vda vdb -- $ID_b --erase K1BBBBB2
umount /mnt/a
refuse signed-btrfs vda vdb -- $ID_b
wipe $a $b

mkswap -q /dev/$a
settle
refuse signed-swap vda -- $ID_a
swapon /dev/$a
settle
refuse swap vda -- $ID_a --erase K1AAAAA1
swapoff /dev/$a
wipe $a

losetup /dev/loop0 /dev/$a
refuse loop-device vda -- $ID_a
losetup -d /dev/loop0

printf insecure > /run/work/key
luks="cryptsetup -q --key-file /run/work/key --pbkdf pbkdf2 --pbkdf-force-iterations 1000"
$luks luksFormat --type luks2 /dev/$a
cryptsetup -q --key-file /run/work/key open /dev/$a plain
settle
refuse crypt-open vda -- $ID_a --erase K1AAAAA1
cryptsetup close plain
refuse signed-luks2 vda -- $ID_a
wipe $a

sh -c "exec 3< /dev/$a; exec cat /run/work/go" &
sleep 1
refuse open-by-a-process vda -- $ID_a
echo > /run/work/go
wait $!

blockdev --setro /dev/$a
refuse read-only vda -- $ID_a
blockdev --setrw /dev/$a

# --- Signed

$luks luksFormat --type luks1 /dev/$a
refuse signed-luks1 vda -- $ID_a
wipe $a
mkfs.ext4 -q -F -L photos /dev/$a
refuse signed-ext4 vda -- $ID_a
refuse wrong-serial vda -- $ID_a --erase K1AAAAA2
refuse serial-in-part vda -- $ID_a --erase K1AAAAA
study=study.toml
refuse serial-of-the-other vda vdb -- $ID_a,$ID_b --erase K1BBBBB2
refuse one-of-two-signed vda vdb -- $ID_b,$ID_a
study=one.toml
wipe $a
mkfs.xfs -q -f /dev/vde
refuse signed-xfs -- /dev/disk/by-id/virtio-VIRT0005
echo 'label: gpt' | sfdisk -q --no-reread --no-tell-kernel /dev/$a
refuse signed-gpt vda -- $ID_a
wipe $a
# The uberblocks of a ZFS label (OpenZFS: include/sys/uberblock_impl.h): the
# magic number at the start of each KiB from 128 KiB on.
for n in $(seq 128 255); do
    printf '\014\261\272\000\000\000\000\000' | dd of=/dev/$a bs=1k seek=$n conv=notrunc 2>/dev/null
done
settle
refuse signed-zfs vda -- $ID_a
wipe $a
# A partition whose table is gone from the disk, but not from the kernel.
addpart /dev/$a 1 8192 8192
refuse partition-without-table vda -- $ID_a
delpart /dev/$a 1

# --- Unsigned: nothing that a program knows

cryptsetup -q --key-file /run/work/key --type plain --cipher aes-xts-plain64 --key-size 256 \
    --hash sha256 open /dev/$a plain
settle
if [ -b /dev/mapper/plain ]; then
    mkfs.ext4 -q -F -L photos -E lazy_itable_init=0 /dev/mapper/plain
    cryptsetup close plain
else
    say "no plain dm-crypt: random bytes instead"
    dd if=/dev/urandom of=/dev/$a bs=1M seek=60 count=16 conv=fsync 2>/dev/null
fi
# The ends, as a drive has them that was begun to be wiped.
dd if=/dev/zero of=/dev/$a bs=1M count=8 conv=fsync 2>/dev/null
settle
wipefs /dev/$a
refuse unsigned vda -- $ID_a
refuse unsigned-serial-in-part vda -- $ID_a --erase K1AAAAA
wipe $a

# --- Names

refuse kernel-name vda -- /dev/$a
refuse bare-name vda -- ${ID_a##*/}
ln -s $ID_a /run/work/link
refuse link-to-a-stable-name vda -- /run/work/link
mkdir -p /dev/disk/by-path
ln -s ../../$a /dev/disk/by-path/pci-1
refuse by-path vda -- /dev/disk/by-path/pci-1
refuse detour vda -- /dev/disk/by-id/../by-id/${ID_a##*/}
refuse twice vda -- $ID_a,$ID_a
wwn=/dev/disk/by-id/$(cd /dev/disk/by-id && ls -d wwn-* | grep -v part | head -1)
refuse two-names vda -- $ID_a,$wwn
refuse missing -- /dev/disk/by-id/scsi-SLAB_NONE_1
ln -s ../../sdz /dev/disk/by-id/ata-gone
refuse dangling -- /dev/disk/by-id/ata-gone
ln -s /etc/passwd /dev/disk/by-id/ata-file
refuse a-file -- /dev/disk/by-id/ata-file
ln -s /dev/zero /dev/disk/by-id/ata-zero
refuse a-character-device -- /dev/disk/by-id/ata-zero
ln -s ../../loop0 /dev/disk/by-id/ata-loop
refuse a-loop-device -- /dev/disk/by-id/ata-loop
refuse empty-name vda -- "$ID_a,"
mdadm --create /dev/md0 --run --assume-clean --level=0 --force --raid-devices=1 /dev/$a
ln -s ../../md0 /dev/disk/by-id/md-name-x
refuse an-array -- /dev/disk/by-id/md-name-x
mdadm --stop /dev/md0
wipe $a

# --- Two paths to one drive, and two drives that call themselves alike

attach path a
refuse two-paths vda -- $ID_a,$ID_path
ID_a=/dev/disk/by-id/scsi-first
ln -s ../../$a $ID_a
ID_path=/dev/disk/by-id/scsi-second
ln -s ../../$path $ID_path
refuse two-paths-again vda -- $ID_a,$ID_path
mkfs.ext4 -q -F /dev/$a
mount /dev/$a /mnt/a
settle
refuse other-path-in-use vda -- $ID_path --erase K1AAAAA1
umount /mnt/a
wipe $a
detach path
links
eval "ID_a=/dev/disk/by-id/\$id_$a"
scsi twin vdd K1AAAAA1 OTHER
mkfs.ext4 -q -F /dev/$a
settle
refuse serial-not-unique vda vdd -- $ID_a --erase K1AAAAA1
wipe $a
gone twin

# --- The study and the drives

study=study.toml
refuse too-few vda vdb -- $ID_a,$ID_b --only 'md/*'
study=large.toml
refuse too-small vda -- $ID_a
study=one.toml
refuse too-many vda vdb vdc -- $ID_a,$ID_b,$ID_c --erase K1BBBBB2
as='setpriv --reuid 65534 --regid 65534 --clear-groups'
chmod 1777 /run/work
mkdir -p /run/nobody && chown 65534 /run/nobody
XDG_STATE_HOME=/run/nobody refuse not-root vda -- $ID_a
as=
try no-consent vda -- run one.toml --on disks:$ID_a --out /run/work/refused
[ -e /run/work/refused ] && say no-consent made a run
# What is refused in a plan is refused in a run; a plan of a free drive is shown.
mkfs.ext4 -q -F /dev/$a
settle
try plan-of-a-signed-drive vda -- plan one.toml --on disks:$ID_a
wipe $a
try plan vda -- plan one.toml --on disks:$ID_a
