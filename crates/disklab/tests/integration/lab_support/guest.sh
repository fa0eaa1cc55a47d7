# What every guest of these tests does first, and the words that its script is
# written in. The lines before this one set LAB, the lab's directory on the host.
#
# A modelled drive is a virtio disk, which has a serial number but no model. So
# that it has both, it is looped back as a SCSI disk through the kernel's SCSI
# target (kernel: Documentation/target). There is no udev: `links` makes the
# names in /dev/disk/by-id that udev's rules would make.

export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
# mount of util-linux 2.39 and later otherwise takes a hostfs's directory for an option it does not know.
export LIBMOUNT_FORCE_MOUNT2=always
export HOME=/run XDG_STATE_HOME=/run/state LC_ALL=C.UTF-8 TZ=UTC DM_DISABLE_UDEV=1
mount -t proc proc /proc
mount -t sysfs sys /sys
mountpoint -q /dev || mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm /dev/mapper
mount -t devpts -o ptmxmode=666 pts /dev/pts
for d in /dev/shm /tmp /run /var/tmp /mnt; do mount -t tmpfs tmp $d; done
for d in fd:/proc/self/fd stdin:/proc/self/fd/0 stdout:/proc/self/fd/1 stderr:/proc/self/fd/2; do
    ln -s "${d#*:}" "/dev/${d%%:*}" 2>/dev/null
done
mkdir -p /run/lab /run/work /run/lock /mnt/a /mnt/b
mount -t hostfs -o "$LAB" none /run/lab
mount -t configfs none /sys/kernel/config
TARGET=/sys/kernel/config/target
mkdir -p $TARGET/loopback
# Without udev, and past the virtio disks, which carry what the SCSI disks do.
export LVM_SYSTEM_DIR=/run/lvm
mkdir -p /run/lvm
cat > /run/lvm/lvm.conf <<CONF
devices { use_devicesfile=0 global_filter=["r|/dev/vd.*|"] }
activation { udev_sync=0 udev_rules=0 }
backup { backup=0 archive=0 }
CONF
cp /run/lab/*.toml /run/work/
cd /run/work
disklab=/run/lab/disklab

# scsi NAME VD SERIAL MODEL: the virtio disk VD is now also a SCSI disk. Its
# kernel name is in the variable NAME and in $sd, its stable name in ID_NAME.
scsi() {
    store=$TARGET/core/iblock_0/$1
    mkdir -p "$store"
    echo "udev_path=/dev/$2" > "$store/control"
    echo "$3" > "$store/wwn/vpd_unit_serial"
    echo LAB > "$store/wwn/vendor_id"
    echo "$4" > "$store/wwn/product_id"
    echo 1.0 > "$store/wwn/revision"
    echo 1 > "$store/enable"
    attach "$1" "$1"
}

# attach PATH STORE: a way to a drive that `scsi` has made.
attach() {
    number=$((${number:-0} + 1))
    fabric=$TARGET/loopback/naa.60014050000000$(printf %02d $number)
    mkdir -p "$fabric/tpgt_1/lun/lun_0"
    echo "naa.60014051000000$(printf %02d $number)" > "$fabric/tpgt_1/nexus"
    known=" $(echo /sys/class/block/sd*) "
    ln -s "$TARGET/core/iblock_0/$2" "$fabric/tpgt_1/lun/lun_0/store"
    eval "fabric_$1=$fabric"
    sd=
    # The kernel looks at a new disk in its own time.
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        sleep 1
        for block in /sys/class/block/sd*; do
            case "$known" in *" $block "*) ;; *) [ -e "$block/device" ] && sd=${block##*/} ;; esac
        done
        [ -n "$sd" ] && break
    done
    [ -n "$sd" ] || say "no SCSI disk for $2"
    device=/sys/class/block/$sd/device
    eval "$1=$sd" "id_$sd='$(scsi_name "$device")'" "wwn_$sd='$(sed 's/^naa\./wwn-0x/' "$device/wwid")'"
    links
    eval "ID_$1=/dev/disk/by-id/\$id_$sd"
}

# detach PATH: that way is gone, as when the cable is pulled.
detach() {
    eval "fabric=\$fabric_$1"
    rm "$fabric/tpgt_1/lun/lun_0/store"
    rmdir "$fabric/tpgt_1/lun/lun_0" "$fabric/tpgt_1" "$fabric"
    sleep 1
}

# gone NAME: the drive is gone, and its virtio disk free for another.
gone() {
    detach "$1"
    rmdir "$TARGET/core/iblock_0/$1"
    links
}

# udev's name: scsi-S, vendor, model and serial number (60-persistent-storage.rules).
scsi_name() {
    # Unit Serial Number page: four bytes, then the text.
    serial=$(tail -c +5 "$1/vpd_pg80" | tr -d '\000' | tr ' ' _)
    echo "scsi-S$(tr -d ' ' < "$1/vendor")_$(sed 's/ *$//; s/ /_/g' "$1/model")_$serial"
}

# What udev would make of the disks and partitions that there are now. A program more takes 15 ms
# of a real processor: what a SCSI disk says of itself is read once, in `attach`.
links() {
    rm -rf /dev/disk
    mkdir -p /dev/disk/by-id
    for block in /sys/class/block/sd* /sys/class/block/vd*; do
        [ -e "$block" ] || continue
        name=${block##*/} part=
        if [ -e "$block/partition" ]; then
            part=-part$(cat "$block/partition")
            block=$(dirname "$(readlink -f "$block")")
        fi
        case $name in
        sd*)
            for of in id wwn; do
                eval "made=\$${of}_${block##*/}"
                ln -sf "../../$name" "/dev/disk/by-id/$made$part"
            done
            ;;
        vd*)
            read -r serial < "$block/serial"
            ln -sf "../../$name" "/dev/disk/by-id/virtio-$serial$part"
            ;;
        esac
    done
}

# A line for whoever reads the console.
say() { echo "guest: $*"; }

# What was written to and discarded from each virtio disk, in sectors as the
# kernel counts them (Documentation/block/stat.rst).
written() {
    for block in /sys/block/vd*; do
        read -r _ _ _ _ _ _ sectors _ _ _ _ _ _ discarded _ < "$block/stat"
        echo "${block##*/} $sectors $discarded"
    done
}

# What lies on the virtio disks named, past all caches. Of all programs that tell contents apart
# `cksum` is by far the fastest: a cryptographic sum takes longer than all else in a guest.
content() {
    for vd in "$@"; do
        echo "$vd $(dd if="/dev/$vd" bs=4M iflag=direct 2>/dev/null | cksum)"
    done
}

# Everything that was under way is on the disks now; waiting costs nothing.
settle() {
    sync
    sleep 60
}

# What a run leaves standing: mounts, arrays, mappings, loop devices, swap.
standing() {
    grep -E ' (ext[234]|xfs|btrfs|nilfs2|f2fs) ' /proc/mounts
    grep '^md' /proc/mdstat
    dmsetup ls 2>/dev/null | grep -v 'No devices'
    losetup -l -n 2>/dev/null
    sed 1d /proc/swaps
}

# begin CASE DISKS...: remembers what is on the disks before something is tried.
begin() {
    case=/run/lab/cases/$1
    mkdir -p "$case"
    shift
    disks=$*
    content $disks > "$case/content-before"
    written > "$case/written-before"
    standing > "$case/standing-before"
}

# end CODE: and after it.
end() {
    echo "$1" > "$case/code"
    written > "$case/written-after"
    content $disks > "$case/content-after"
    standing > "$case/standing-after"
    say "${case##*/} ended with $1"
}

# try CASE DISKS... -- ARGUMENTS...: disklab, as a user would start it.
try() {
    watched=
    case_name=$1
    shift
    while [ "$1" != -- ]; do
        watched="$watched $1"
        shift
    done
    shift
    begin "$case_name" $watched
    $as $disklab "$@" > "$case/stdout" 2> "$case/stderr" < /dev/null
    end $?
}

# Whether a file system of the run under way is mounted. No program: this is asked many times.
mounted() {
    while read -r _ at _; do
        case $at in /run/work/run/*) return 0 ;; esac
    done < /proc/mounts
    return 1
}

# Waits until the run under way is in the middle of a cell.
measuring() {
    for _ in $(seq 300); do
        mounted && sleep 5 && return
        sleep 0.2
    done
    say "${case##*/} never measured: $(cat "$case/stderr")"
}

# wipe NAMES...: nothing at all is on these any more.
wipe() {
    for name in "$@"; do
        for part in /dev/"$name"?*; do
            [ -b "$part" ] && wipefs -qaf "$part"
        done
        wipefs -qaf "/dev/$name"
        dd if=/dev/zero of="/dev/$name" bs=4M oflag=direct conv=fsync 2>/dev/null
        blockdev --rereadpt "/dev/$name"
    done
    links
}

# The last thing a script does.
power_off() {
    cd /
    sync
    written > /run/lab/written
    umount /run/lab
    echo o > /proc/sysrq-trigger
    sleep 100
}
