
# Runs that are killed, and whose leftovers the user puts to another use.

THEIRS=11111111-2222-4333-8444-555555555555
scsi a vda K1AAAAA1 HDN721010ALE604
scsi b vdb K1BBBBB2 HDN721010ALE604
scsi c vdc K3CCCCC3 HDN721010ALE604
# What the layout before has left is unsigned data.
erase="--erase K1AAAAA1 --erase K1BBBBB2 --erase K3CCCCC3"

# doctor CASE ARGUMENTS...
doctor() {
    begin "$1"
    shift
    $disklab doctor "$@" > $case/stdout 2> $case/stderr
    end $?
}

# killed LAYOUT CASE: a run on that layout is killed in the middle of a cell.
killed() {
    begin "$2"
    $disklab run leftovers.toml --out /run/work/run --yes $erase --on disks:$ID_a,$ID_b,$ID_c \
        --only "$1/*" > $case/stdout 2> $case/stderr &
    run=$!
    measuring
    standing > $case/standing-during
    kill -KILL $run
    wait $run
    code=$?
    # Whatever it had started has ended, or never will.
    sleep 60
    end $code
}

# unmount: the file system of the killed run; $device is what it was on.
unmount() {
    device=$(sed -n 's| /run/work/run/.*||p' /proc/mounts | head -n 1)
    umount /run/work/run/disklab*/*/mnt
}

# The array and the volume group of the killed run.
array() { ls /dev/md[0-9]* | head -n 1; }
group() { lvm vgs --noheadings --options vg_name | tr -d ' '; }

# mirror DEVICE DEVICE: an array of the user's.
mirror() { mdadm --quiet --create /dev/md77 --run --metadata 1.2 --level 1 --raid-devices 2 "$@"; }

# put DEVICE WORDS: a file system of the user's on the device, with a file.
put() {
    mkfs.ext4 -q -F -U $THEIRS "$1"
    mount "$1" /run/theirs
    echo "the user's, $2" > /run/theirs/precious
    umount /run/theirs
    settle
}

# holds DEVICE WORDS: looks that the file is still there.
holds() {
    mount "$1" /run/theirs
    found=$(cat /run/theirs/precious)
    umount /run/theirs
    [ "$found" = "the user's, $2" ] || say "$2: '$found' is not the user's file"
}

# ledger: the id of what is left.
ledger() { ls /run/state/disklab/ledger | sed 's/^ledger-//; s/\.jsonl$//'; }

mkdir -p /run/theirs
for layout in partition md lvm thin crypt integrity; do
    killed $layout killed-$layout
    unmount
    put "$device" "on $layout"
    doctor left-$layout
    found=$(blkid -p -o value -s UUID "$device")
    [ "$found" = $THEIRS ] || say "$layout: $device holds '$found', not the user's file system"
    holds "$device" "on $layout"
    doctor discarded-$layout --discard "$(ledger)"
    left=$(wipefs --no-act --noheadings /dev/$a /dev/$b /dev/$c)
    [ -z "$left" ] || say "$layout: still on the drives: $left"
    rm -r /run/work/run
done

# A volume of the user's in the pool, and a drive of the user's in the group and in the array.
scsi d vdd K4DDDDD4 HDN721010ALE604
for layout in thin lvm md; do
    killed $layout added-killed-$layout
    unmount
    group=$(group)
    case $layout in
    thin)
        pool=$(lvm lvs --noheadings --options lv_name --select segtype=thin-pool | tr -d ' ')
        lvm lvcreate -q -y -Wn --virtualsize 8M --thinpool "$group/$pool" --name theirs
        ;;
    lvm) lvm pvcreate -q -y /dev/$d && lvm vgextend -q -y "$group" /dev/$d ;;
    md) mdadm "$(array)" --add /dev/$d ;;
    esac
    settle
    doctor added-$layout
    case $layout in
    thin) lvm lvs "$group/theirs" > /dev/null || say "$layout: the user's volume is gone" ;;
    lvm) lvm pvs /dev/$d > /dev/null || say "$layout: the user's drive is gone" ;;
    md) mdadm --examine /dev/$d > /dev/null || say "$layout: the user's drive is gone" ;;
    esac
    doctor added-discarded-$layout --discard "$(ledger)"
    wipe $d
    rm -r /run/work/run
done

# A volume that was suspended when the run was killed: whoever reads it waits.
killed lvm killed-suspended
unmount
dmsetup suspend "$device"
doctor suspended
rm -r /run/work/run

# A drive of the array that the user has given to an array of theirs, which is not running.
killed md given-killed
unmount
mdadm --quiet --stop "$(array)"
mdadm --quiet --zero-superblock /dev/$a
mirror /dev/$a missing
theirs=$(mdadm --examine --export /dev/$a | grep MD_UUID)
mdadm --quiet --stop /dev/md77
settle
doctor given
found=$(mdadm --examine --export /dev/$a | grep MD_UUID)
[ "$found" = "$theirs" ] || say "md: /dev/$a has '$found', not '$theirs' of the user's array, which is gone"

# An array of the user's that waits for its other drive, as the run's would if it were half made.
rm -r /run/work/run
mirror /dev/$d /dev/$a
mdadm --quiet --stop /dev/md77
mdadm --quiet --zero-superblock /dev/$a
mdadm --quiet --incremental /dev/$d
killed md waiting-killed
unmount
doctor waiting
grep -q "inactive $d" /proc/mdstat || say "md: the user's array, which waits for a drive, is gone"
mdadm --quiet --stop "$(array)"

# A drive that the user has taken out of all layers, and made a file system of theirs on.
for layout in partition md lvm thin crypt integrity; do
    rm -r /run/work/run
    killed $layout taken-killed-$layout
    unmount
    case $layout in
    md) mdadm --quiet --stop "$(array)" ;;
    lvm | thin) lvm vgchange -q -an "$(group)" ;;
    crypt | integrity) dmsetup remove "$device" ;;
    esac
    wipefs --quiet --all --force /dev/$a
    put /dev/$a "instead of $layout"
    doctor taken-$layout
    holds /dev/$a "instead of $layout"
done
