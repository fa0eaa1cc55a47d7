
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

mkdir -p /run/theirs
for layout in partition md lvm crypt integrity; do
    begin killed-$layout
    $disklab run leftovers.toml --out /run/work/run --yes $erase --on disks:$ID_a,$ID_b,$ID_c \
        --only "$layout/*" > $case/stdout 2> $case/stderr &
    run=$!
    measuring
    standing > $case/standing-during
    kill -KILL $run
    wait $run
    code=$?
    # Whatever it had started has ended, or never will.
    sleep 60
    end $code
    mounted=$(grep ' /run/work/run/' /proc/mounts | head -n 1)
    device=${mounted%% *}
    umount /run/work/run/disklab*/*/mnt
    mkfs.ext4 -q -F -U $THEIRS "$device"
    mount "$device" /run/theirs
    echo "the user's, on $layout" > /run/theirs/precious
    umount /run/theirs
    settle
    doctor left-$layout
    found=$(blkid -p -o value -s UUID "$device")
    [ "$found" = $THEIRS ] || say "$layout: $device holds '$found', not the user's file system"
    mount "$device" /run/theirs
    found=$(cat /run/theirs/precious)
    umount /run/theirs
    [ "$found" = "the user's, on $layout" ] || say "$layout: '$found' is not the user's file"
    id=$(ls /run/state/disklab/ledger | sed 's/^ledger-//; s/\.jsonl$//')
    doctor discarded-$layout --discard "$id"
    rm -r /run/work/run
done
