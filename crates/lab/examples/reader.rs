//! The least that a guest can do: reads 4 KiB at random places of `/dev/vda`, one
//! after another, and looks at the clock after each. As the guest's first
//! program it then powers it off.
//!
//! Arguments: the number of reads (100 000).

use std::error::Error;
use std::time::Duration;

use rustix::fs::{Mode, OFlags, SeekFrom, open, seek};
use rustix::io::pread;
use rustix::time::{ClockId, clock_gettime};

/// Direct I/O wants aligned memory.
#[repr(align(4096))]
struct Page([u8; 4096]);

fn main() {
    if let Err(e) = read() {
        println!("failed={e}");
    }
    if std::process::id() == 1 {
        let _ = rustix::system::reboot(rustix::system::RebootCommand::PowerOff);
    }
}

fn read() -> Result<(), Box<dyn Error>> {
    let reads: u64 = std::env::args().nth(1).map_or(Ok(100_000), |n| n.parse())?;
    let disk = open("/dev/vda", OFlags::RDONLY | OFlags::DIRECT, Mode::empty())?;
    let blocks = seek(&disk, SeekFrom::End(0))? / 4096;
    let mut page = Page([0; 4096]);
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let start = now();
    let mut end = start;
    for _ in 0..reads {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        pread(&disk, &mut page.0, state % blocks * 4096)?;
        end = now();
    }
    println!("reads={reads} nanoseconds={}", (end - start).as_nanos());
    Ok(())
}

fn now() -> Duration {
    let time = clock_gettime(ClockId::Monotonic);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
