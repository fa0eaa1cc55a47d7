//! Programs that a script stands before, by whatever path they are called.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::mount::mount_bind;

/// Where the scripts are, before all other programs.
pub const PROGRAMS: &str = "/run/disklab/bin";
/// Where the real programs are, each in a numbered directory.
const REAL: &str = "/run/disklab/real";

/// Instead of cryptsetup: it would measure for ever how long the processor takes for
/// a key, because CPU time takes no virtual time.
const CRYPTSETUP: &str = r#"#!/bin/sh
# In virtual time, cryptsetup cannot measure how long this processor takes.
case " $* " in
*pbkdf-force-iterations*) ;;
*" luksFormat "* | *" luksAddKey "* | *" luksChangeKey "* | *" luksConvertKey "*)
    exec REAL "$@" --pbkdf pbkdf2 --pbkdf-force-iterations 1000 ;;
esac
exec REAL "$@"
"#;

/// Instead of fio: it would read the processor's own counter, in which virtual time
/// is frozen.
const FIO: &str = r#"#!/bin/sh
# In virtual time, fio must ask the kernel for the time.
exec REAL --clocksource=clock_gettime "$@"
"#;

/// Instead of zpool: a pool's own mount point would be in the root directory, which is the host's.
pub const ZPOOL: &str = r#"#!/bin/sh
# Nothing can be created in the lab's root directory.
[ "$1" = create ] || exec REAL "$@"
shift
pool= option= mounted=
for word in "$@"; do
    if [ -n "$option" ]; then
        case $option$word in -[fdn]*[oO]mountpoint=* | -[oO]mountpoint=*) mounted=1 ;; esac
        option=
        continue
    fi
    case $word in
    -[mR] | -[fdn]*[mR]) mounted=1; option=$word ;;
    -[mR]* | -[oO]mountpoint=*) mounted=1 ;;
    -[oOt] | -[fdn]*[oOt]) option=$word ;;
    -*) ;;
    *) pool=$word; break ;;
    esac
done
[ -z "$mounted" ] && [ -n "$pool" ] || exec REAL create "$@"
echo "disklab: nothing can be created in the lab's root directory: '$pool' is at /mnt/$pool" >&2
exec REAL create -m "/mnt/$pool" "$@"
"#;

/// Programs that measure time otherwise than by the kernel's clock, and the scripts
/// that stand before them. `REAL` there is the real program's path.
pub const BY_THE_CLOCK: [(&str, &str); 2] = [("cryptsetup", CRYPTSETUP), ("fio", FIO)];

/// Puts a script before the programs of this name that are in `PATH`, where there are any: in
/// `PROGRAMS`, and over each one's own file, for calls by its full path.
pub fn replace(name: &str, script: &str) -> io::Result<()> {
    for (number, (called, program)) in installed(name).iter().enumerate() {
        // A link to a program with many names, such as busybox, is replaced in `PATH` alone.
        if program.file_name() != Some(name.as_ref()) {
            if number == 0 {
                put(name, &before(called, script))?;
            }
            continue;
        }
        let directory = Path::new(REAL).join(number.to_string());
        let (real, cover) = (directory.join(name), directory.join(format!("{name}.sh")));
        fs::create_dir_all(&directory)?;
        fs::write(&real, "")?;
        mount_bind(program, &real)?;
        write_program(&cover, &before(&real, script))?;
        mount_bind(&cover, program)?;
        if number == 0 {
            put(name, &before(&real, script))?;
        }
    }
    Ok(())
}

/// A script with the real program's path in it.
pub fn before(real: &Path, script: &str) -> String {
    script.replace("REAL", &quoted(real))
}

/// Puts a script before all programs of this name, or in place of one that there is not.
pub fn put(name: &str, script: &str) -> io::Result<()> {
    fs::create_dir_all(PROGRAMS)?;
    write_program(&Path::new(PROGRAMS).join(name), script)
}

/// The real program that a script stands before.
pub fn real_program(name: &str) -> Option<PathBuf> {
    let real = Path::new(REAL).join("0").join(name);
    if real.is_file() {
        return Some(real);
    }
    installed(name).into_iter().next().map(|(called, _)| called)
}

/// The programs of this name that are in `PATH` and not the lab's, in its order: what each is called
/// by, and its file.
fn installed(name: &str) -> Vec<(PathBuf, PathBuf)> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut seen = BTreeSet::new();
    std::env::split_paths(&path)
        .filter(|directory| directory != Path::new(PROGRAMS))
        .map(|directory| directory.join(name))
        .filter_map(|called| fs::canonicalize(&called).ok().map(|program| (called, program)))
        .filter(|(_, program)| program.is_file() && seen.insert(program.clone()))
        .collect()
}

fn write_program(path: &Path, script: &str) -> io::Result<()> {
    fs::write(path, script)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

/// A path as one word of a shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_pool_is_mounted_where_a_directory_can_be_made() {
        let place = tempfile::tempdir().expect("temp");
        let script = place.path().join("zpool");
        write_program(&script, &before(Path::new("/bin/echo"), ZPOOL)).expect("written");
        for (words, expected) in [
            ("create tank mirror a b", "create -m /mnt/tank tank mirror a b"),
            (
                "create -fo ashift=12 -O atime=off t a",
                "create -m /mnt/t -fo ashift=12 -O atime=off t a",
            ),
            ("create -m /mnt/x tank a", "create -m /mnt/x tank a"),
            ("create -fO mountpoint=none tank a", "create -fO mountpoint=none tank a"),
            ("create -R /mnt tank a", "create -R /mnt tank a"),
            ("create", "create"),
            ("status -P tank", "status -P tank"),
        ] {
            let output = std::process::Command::new("/bin/sh")
                .arg(&script)
                .args(words.split(' '))
                .output()
                .expect("a shell");
            assert_eq!(String::from_utf8_lossy(&output.stdout).trim_end(), expected);
        }
    }

    #[test]
    fn a_path_is_one_word_of_a_shell() {
        for path in ["/opt/my tools/fio", "/a'b/$(c)`d`\"/fio"] {
            let output = std::process::Command::new("/bin/sh")
                .args(["-c", &format!("printf %s {}", quoted(Path::new(path)))])
                .output()
                .expect("a shell");
            assert_eq!(String::from_utf8_lossy(&output.stdout), path);
        }
    }
}
