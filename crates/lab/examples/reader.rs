//! The least that a guest can do: reads 4 KiB at random places of a disk, one
//! after another, and looks at the clock after each. As the guest's first
//! program it then powers it off.
//!
//! Arguments: the number of reads (100000), the disk (/dev/vda), and `write` to
//! write instead.

use std::error::Error;
use std::time::Duration;

use rustix::fs::{Mode, OFlags, SeekFrom, open, seek};
use rustix::io::{pread, pwrite};
use rustix::time::{ClockId, clock_gettime};

/// Direct I/O wants aligned memory.
#[repr(align(4096))]
struct Page([u8; 4096]);

fn main() {
    if std::process::id() == 1 {
        // The kernel may have done it, and then this is refused.
        let flags = rustix::mount::MountFlags::empty();
        let _ = rustix::mount::mount("dev", "/dev", "devtmpfs", flags, None);
    }
    if let Err(e) = read() {
        println!("failed={e}");
    }
    if std::process::id() == 1 {
        let _ = rustix::system::reboot(rustix::system::RebootCommand::PowerOff);
    }
}

fn read() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let reads: u64 = words.next().map_or(Ok(100_000), |n| n.parse())?;
    let disk = words.next().unwrap_or_else(|| "/dev/vda".to_owned());
    let write = words.next().is_some_and(|w| w == "write");
    let access = if write { OFlags::RDWR } else { OFlags::RDONLY };
    let disk = open(disk, access | OFlags::DIRECT, Mode::empty())?;
    let blocks = seek(&disk, SeekFrom::End(0))? / 4096;
    let mut page = Page([0; 4096]);
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let start = now();
    let mut end = start;
    for _ in 0..reads {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let at = state % blocks * 4096;
        if write {
            page.0[..8].copy_from_slice(&state.to_ne_bytes());
            pwrite(&disk, &page.0, at)?;
        } else {
            pread(&disk, &mut page.0, at)?;
        }
        end = now();
    }
    println!("reads={reads} nanoseconds={}", (end - start).as_nanos());
    Ok(())
}

fn now() -> Duration {
    let time = clock_gettime(ClockId::Monotonic);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
