# Runs that are interrupted or killed, and the next start.

scsi a vda K1AAAAA1 HDN721010ALE604
scsi b vdb K1BBBBB2 HDN721010ALE604
scsi c vdc K3CCCCC3 HDN721010ALE604

erase='--erase K1AAAAA1 --erase K1BBBBB2 --erase K3CCCCC3'

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
    rm -r /run/work/run

    started killed-$layout --on disks:$ID_a,$ID_b,$ID_c --only "$layout/*"
    stopped KILL
    # The start of any run, here on other drives, takes down what was left.
    again after-$layout run one.toml --on disks:/dev/disk/by-id/virtio-VIRT0004 --yes \
        --erase VIRT0004 --out /run/work/other
    rm -r /run/work/other
    # Killed and gone on with: what is on the drives must be allowed to be erased.
    again resumed-$layout run --resume --out /run/work/run --yes $erase
    rm -r /run/work/run
done

# Killed, the machine started anew without the third drive, and another in its
# place, under the same kernel name, with somebody's photos on it.
started killed-and-swapped --on disks:$ID_a,$ID_b,$ID_c --only 'md/*'
stopped KILL
umount /run/work/run/scratch/*/mnt
mdadm --stop /dev/md127
old=$c
gone c
mkfs.ext4 -q -F -L photos -E lazy_itable_init=0 /dev/vdd
scsi d vdd K4DDDDD4 HDN721010ALE604
[ "$old" = "$d" ] || say "the other drive is $d and not $old"
settle
begin swapped vdd
$disklab run one.toml --on disks:$ID_a --yes --out /run/work/other > $case/stdout 2> $case/stderr
end $?
