# Drives that change, or vanish, between the plan and the first write or later.

study=one.toml
scsi a vda K1AAAAA1 HDN721010ALE604
scsi b vdb K1BBBBB2 HDN721010ALE604
mkfifo /run/work/keys /run/work/keys2

# asked CASE DISKS... -- ARGUMENTS...: starts disklab at a terminal, up to the
# question whether the drives may be erased.
asked() {
    case_name=$1
    shift
    watched=
    while [ "$1" != -- ]; do
        watched="$watched $1"
        shift
    done
    shift
    begin "$case_name" $watched
    echo "$disklab $*; echo code=\$?" > /run/work/command
    script -q -f -c 'sh /run/work/command' "$case/terminal" < /run/work/keys > /dev/null 2>&1 &
    asked=$!
    exec 4> /run/work/keys
    for _ in $(seq 100); do
        grep -q "Type 'erase'" "$case/terminal" 2>/dev/null && return
        sleep 1
    done
    say "$case_name never asked"
}

# answered WORD: what the user types; then it ends.
answered() {
    echo "$1" >&4
    for _ in $(seq 600); do
        grep -q '^code=' "$case/terminal" && break
        sleep 1
    done
    exec 4>&-
    wait $asked
    tr -d '\r' < "$case/terminal" > "$case/stderr"
    end "$(sed -n 's/^code=//p' "$case/stderr")"
}

run="run one.toml --out /run/work/run"
clean() { cp -r /run/work/run "$case/run" 2>/dev/null; rm -rf /run/work/run; }

asked said-no vda vdb -- $run --on disks:$ID_a
answered no
clean

asked another-serial vda vdc -- $run --on disks:$ID_a
stable=$ID_a
gone a
scsi a vdc K9OTHER9 HDN721010ALE604
ln -sf ../../$a $stable
answered erase
clean
gone a

scsi a vda K1AAAAA1 HDN721010ALE604
asked another-size vda vdd -- $run --on disks:$ID_a
gone a
scsi a vdd K1AAAAA1 HDN721010ALE604
answered erase
clean
gone a

scsi a vda K1AAAAA1 HDN721010ALE604
asked replugged vda -- $run --on disks:$ID_a
gone a
scsi a vda K1AAAAA1 HDN721010ALE604
answered erase
clean

asked link-turned vda vdb -- $run --on disks:$ID_a
ln -sf ../../$b $ID_a
answered erase
clean
links

asked unplugged vda vdb -- $run --on disks:$ID_a
gone a
answered erase
clean
scsi a vda K1AAAAA1 HDN721010ALE604

asked formatted vda -- $run --on disks:$ID_a
mkfs.ext4 -q -F -E lazy_itable_init=0 /dev/$a
settle
content vda > $case/content-before
written > $case/written-before
answered erase
clean

asked mounted-meanwhile vda -- $run --on disks:$ID_a --erase K1AAAAA1
mount /dev/$a /mnt/a
settle
content vda > $case/content-before
written > $case/written-before
standing > $case/standing-before
answered erase
clean
umount /mnt/a
wipe $a

# The same drive all the time: this one goes on.
asked said-yes vdb -- $run --on disks:$ID_a
answered erase
clean
wipe $a

# Another drive takes the place of the first while a run waits to be gone on with.
begin resumed-on-another vdb vdc
$disklab run long.toml --out /run/work/run --on disks:$ID_a --yes --only 'single/*' \
    > $case/first 2>&1 &
measuring
kill -INT $!
wait $!
echo $? > $case/first-code
stable=$ID_a
gone a
scsi a vdc K9OTHER9 HDN721010ALE604
ln -sf ../../$a $stable
content vdb vdc > $case/content-before
written > $case/written-before
$disklab run --resume --out /run/work/run --yes > $case/stdout 2> $case/stderr
end $?
# With the right one again it is gone on with, but not over what somebody has put on it
# in between.
gone a
scsi a vda K1AAAAA1 HDN721010ALE604
mkfs.ext4 -q -F -L photos -E lazy_itable_init=0 /dev/$a
settle
try resumed-unasked vda vdb vdc -- run --resume --out /run/work/run --yes
wipe $a
try resumed vdb vdc -- run --resume --out /run/work/run --yes
clean
wipe $a

# Vanished in the middle of a cell, while another drive appears.
begin vanished-alone vdb vdc
$disklab run long.toml --out /run/work/run --on disks:$ID_a --yes --only 'single/*' \
    > $case/stdout 2> $case/stderr &
measuring
gone a
scsi c vdc K3CCCCC3 HDN721010ALE604
wait $!
end $?
clean
gone c

# And one of an array's.
scsi a vda K1AAAAA1 HDN721010ALE604
wipe $a
scsi c vdc K3CCCCC3 HDN721010ALE604
begin vanished-of-an-array vdd
$disklab run long.toml --out /run/work/run --on disks:$ID_a,$ID_b,$ID_c --yes --only 'md/*' \
    > $case/stdout 2> $case/stderr &
measuring
gone a
scsi d vdd K4DDDDD4 HDN721010ALE604
wait $!
end $?
clean
