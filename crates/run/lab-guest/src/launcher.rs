//! The program that the kernel starts, which has the guest's first program follow.
//!
//! Each directory on the way to a program stays in the guest's memory, so that a program
//! in a deeper directory leaves less of it, and where memory is short, files are written at
//! other times. A directory that is mounted is none on the way: so the kernel starts a
//! program of a few bytes, at a path that is alike in all runs, and it mounts the directory
//! of the real one, which the host finds.

/// Where the program is in memory: where the linker puts programs of x86-64.
const BASE: u32 = 0x40_0000;
/// Sizes of the headers of an ELF file and of one of its segments (elf(5)).
const HEADER: usize = 64;
const SEGMENT: usize = 56;
const SEGMENTS: u16 = 2;
/// Where the code begins in the file.
const CODE: usize = HEADER + SEGMENTS as usize * SEGMENT;

/// System calls (`arch/x86/entry/syscalls/syscall_64.tbl`).
const MOUNT: u32 = 165;
const EXECVE: u32 = 59;
const EXIT_GROUP: u32 = 231;

/// A program for x86-64 that mounts the host's directory `source` at `place`, becomes the
/// program `next` with its own arguments, and ends with the number of the error where
/// that fails. No path may have a zero in it.
pub fn launcher(source: &str, place: &str, next: &[u8]) -> Vec<u8> {
    // The length of the code does not depend on where the texts are.
    let length = code([0; 5]).len();
    let mut texts = Vec::new();
    let mut text = |bytes: &[u8]| {
        // The paths are shorter than a page (PATH_MAX).
        let at = BASE + (CODE + length + texts.len()) as u32;
        texts.extend_from_slice(bytes);
        texts.push(0);
        at
    };
    let addresses = [
        text(b"none"),
        text(place.as_bytes()),
        text(b"hostfs"),
        text(source.as_bytes()),
        text(next),
    ];
    let body = [code(addresses), texts].concat();
    [headers(CODE + body.len()), body].concat()
}

/// The machine's instructions, with the addresses of the texts: device, place, type and
/// data of the mount, and the next program.
fn code([device, place, kind, data, next]: [u32; 5]) -> Vec<u8> {
    let with = |operation: &[u8], value: u32| [operation, &value.to_le_bytes()].concat();
    let attempt: &[u8] = &[0x0f, 0x05]; // syscall
    let end = [
        vec![0x89, 0xc7, 0xf7, 0xdf], // mov edi, eax; neg edi
        with(&[0xb8], EXIT_GROUP),    // mov eax, …
        attempt.to_vec(),
    ]
    .concat();
    let become_next = [
        with(&[0xbf], next), // mov edi, …
        // mov rcx, [rsp], which is the number of arguments
        vec![0x48, 0x8b, 0x0c, 0x24],
        // lea rsi, [rsp + 8]: the arguments
        vec![0x48, 0x8d, 0x74, 0x24, 0x08],
        // lea rdx, [rsi + rcx * 8 + 8]: behind their end the environment
        vec![0x48, 0x8d, 0x54, 0xce, 0x08],
        with(&[0xb8], EXECVE), // mov eax, …
        attempt.to_vec(),
    ]
    .concat();
    [
        with(&[0xbf], device),     // mov edi, …
        with(&[0xbe], place),      // mov esi, …
        with(&[0xba], kind),       // mov edx, …
        vec![0x45, 0x31, 0xd2],    // xor r10d, r10d: no flags
        with(&[0x41, 0xb8], data), // mov r8d, …
        with(&[0xb8], MOUNT),      // mov eax, …
        attempt.to_vec(),
        // test eax, eax; jnz to the end. A few bytes: less than 128.
        vec![0x85, 0xc0, 0x75, become_next.len() as u8],
        become_next,
        end,
    ]
    .concat()
}

/// The file's headers: all of it is one segment that is read and executed, and the stack
/// is not executed.
fn headers(size: usize) -> Vec<u8> {
    let (loaded, stack) = (1_u32, 0x6474_e551_u32); // PT_LOAD, PT_GNU_STACK
    let mut file = b"\x7fELF\x02\x01\x01".to_vec();
    file.resize(16, 0);
    for half in [2_u16, 62] {
        file.extend(half.to_le_bytes()); // ET_EXEC, EM_X86_64
    }
    file.extend(1_u32.to_le_bytes());
    for word in [u64::from(BASE) + CODE as u64, HEADER as u64, 0] {
        file.extend(word.to_le_bytes()); // entry, segments, no sections
    }
    file.extend(0_u32.to_le_bytes());
    for half in [HEADER as u16, SEGMENT as u16, SEGMENTS, 0, 0, 0] {
        file.extend(half.to_le_bytes());
    }
    let size = size as u64;
    for (kind, flags, base, size) in [(loaded, 5_u32, u64::from(BASE), size), (stack, 6, 0, 0)] {
        file.extend(kind.to_le_bytes());
        file.extend(flags.to_le_bytes());
        for word in [0, base, base, size, size, 4096] {
            file.extend(word.to_le_bytes()); // offset, addresses, sizes, alignment
        }
    }
    file
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    use super::*;

    #[test]
    fn launcher_runs_and_exits_with_its_reason() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("first");
        // Nowhere but in a guest is there such a file system: ENODEV; or it is not
        // allowed at all: EPERM. Or the place is not there: ENOENT.
        std::fs::write(&path, launcher("/", "/no/such/place", b"/bin/true")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        match Command::new(&path).status() {
            Ok(status) => {
                assert!(matches!(status.code(), Some(1 | 2 | 19)), "{status}");
                assert_eq!(status.signal(), None);
            }
            Err(e) if cfg!(target_arch = "x86_64") => panic!("{e}"),
            Err(e) => eprintln!("skipped: needs x86-64: {e}"),
        }
    }

    #[test]
    fn its_texts_are_where_the_code_expects_them() {
        let file = launcher("/source", "/place", b"/next");
        let at = |offset: usize| {
            let bytes = file[CODE + offset..CODE + offset + 4].try_into().unwrap();
            let start = (u32::from_le_bytes(bytes) - BASE) as usize;
            let text = file[start..].split(|byte| *byte == 0).next().unwrap();
            std::str::from_utf8(text).unwrap()
        };
        assert_eq!([at(1), at(6), at(11), at(20)], ["none", "/place", "hostfs", "/source"]);
        assert_eq!(file.last(), Some(&0));
        assert!(file.ends_with(b"/next\0"));
    }
}
