# Runs that are interrupted or killed, and the next start.

scsi a vda K1AAAAA1 HDN721010ALE604
scsi b vdb K1BBBBB2 HDN721010ALE604
scsi c vdc K3CCCCC3 HDN721010ALE604

# What a run left on a drive is not blank, and no other run can tell whose it is.
erase="--erase K1AAAAA1 --erase K1BBBBB2 --erase K3CCCCC3"

# started CASE ARGUMENTS...: a run that is in the middle of its first cell.
started() {
    begin "$1"
    shift
    $disklab run long.toml --out /run/work/run --yes $erase "$@" > $case/stdout 2> $case/stderr &
    run=$!
    measuring
    standing > $case/standing-during
}

# stopped SIGNAL
stopped() {
    kill -$1 $run
    wait $run
    code=$?
    # Whatever it had started has ended, or never will.
    sleep 60
    pgrep -x dd > $case/stdout && say "${case##*/} left dd running"
    end $code
}

# again CASE ARGUMENTS...: the next start.
again() {
    begin "$1"
    shift
    $disklab "$@" > $case/stdout 2> $case/stderr
    end $?
}

for layout in single md; do
    started ctrl-c-$layout --on disks:$ID_a,$ID_b,$ID_c --only "$layout/*"
    stopped INT
    # What the run left on the drives could be anybody's by now. What was said at its end
    # has the consents that are needed.
    again unasked-$layout run --resume --out /run/work/run --yes
    again resumed-as-hinted-$layout \
        $(sed -n 's/^Continue with: disklab //p' /run/lab/cases/ctrl-c-$layout/stderr) --yes
    rm -r /run/work/run

    started killed-$layout --on disks:$ID_a,$ID_b,$ID_c --only "$layout/*"
    stopped KILL
    # The start of any run, here on other drives, takes down what was left.
    again after-$layout run one.toml --on disks:/dev/disk/by-id/virtio-VIRT0004 --yes \
        --erase VIRT0004 --out /run/work/other
    rm -r /run/work/other
    again resumed-$layout run --resume --out /run/work/run --yes $erase
    rm -r /run/work/run
done

# Killed, the machine started anew without the third drive, and another in its
# place, under the same kernel name, with somebody's photos on it.
started killed-and-swapped --on disks:$ID_a,$ID_b,$ID_c --only 'md/*'
stopped KILL
umount /run/work/run/disklab*/*/mnt
mdadm --stop /dev/md127
old=$c
gone c
mkfs.ext4 -q -F -L photos -E lazy_itable_init=0 /dev/vdd
scsi d vdd K4DDDDD4 HDN721010ALE604
[ "$old" = "$d" ] || say "the other drive is $d and not $old"
settle
begin swapped vdd
$disklab run one.toml --on disks:$ID_a --yes $erase --out /run/work/other > $case/stdout 2> $case/stderr
end $?
rm -r /run/work/other /run/work/run

# Killed, and started anew with the drive under another name; under its old name
# there is another drive with a copy of what the run has left.
started killed-and-moved --on disks:$ID_a --only 'single/*'
stopped KILL
umount /run/work/run/disklab*/*/mnt
old=$a
gone a
gone d
settle
dd if=/dev/vda of=/dev/vdd bs=4M conv=fsync 2>/dev/null
scsi d vdd K4DDDDD4 HDN721010ALE604
scsi a vda K1AAAAA1 HDN721010ALE604
[ "$old" = "$d" ] || say "the other drive is $d and not $old"
settle
begin moved vdd
$disklab run --resume --out /run/work/run --yes $erase > $case/stdout 2> $case/stderr
end $?
