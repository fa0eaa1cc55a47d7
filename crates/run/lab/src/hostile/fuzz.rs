//! Bytes as what a hostile guest does, for a fuzzer.

use super::{CheckingDrive, Fixture, MEMORY};

/// Does to a disk what `bytes` say: each step is a byte that chooses it, and its own
/// bytes. The disk begins set up, as a virtio or a SCSI disk, or bare where the first byte is odd.
///
/// # Panics
/// Where the disk wrote outside of the memory that the guest shared: that is a fault,
/// as any other panic here is.
pub fn feed_disk(bytes: &[u8]) {
    let mut bytes = Bytes(bytes);
    let mut fixture = match bytes.byte() & 3 {
        0 => Fixture::new(),
        2 => Fixture::scsi(Box::new(CheckingDrive::default())),
        _ => Fixture::bare(),
    };
    for _ in 0..64 {
        if bytes.0.is_empty() {
            break;
        }
        match bytes.byte() % 5 {
            // Something is put into the memory.
            0 => {
                let length = usize::from(bytes.byte());
                let at = bytes.number() % (MEMORY - 256);
                fixture.guest.poke(at, bytes.take(length));
            }
            // A message, with or without a descriptor.
            1 => {
                let (request, flags) = (u32::from(bytes.byte()), u32::from(bytes.byte()));
                let length = usize::from(bytes.byte());
                let declared = bytes.byte();
                let fd = bytes.byte() & 1 == 1;
                let payload = bytes.take(length).to_vec();
                let size = if declared == 0 { payload.len() as u32 } else { u32::from(declared) };
                let guest = &fixture.guest;
                let fds = [std::os::fd::AsFd::as_fd(&guest.memory)];
                guest.put(request, flags, size, &payload, if fd { &fds } else { &[] });
            }
            // A sound request among all that.
            2 => {
                let index = u16::from(bytes.byte());
                fixture.guest.make_available(index);
            }
            // A kick.
            3 => fixture.guest.put(35, 9, 8, &[0; 8], &[]),
            _ => {
                if fixture.serve().is_err() {
                    break;
                }
            }
        }
    }
    let _ = fixture.serve();
    assert!(fixture.guest.canaries_live(), "something wrote outside of the guest's memory");
}

/// The bytes that are left; zeros when they have run out.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn byte(&mut self) -> u8 {
        self.take(1).first().copied().unwrap_or(0)
    }

    fn number(&mut self) -> u64 {
        u64::from(self.byte()) | u64::from(self.byte()) << 8 | u64::from(self.byte()) << 16
    }

    fn take(&mut self, most: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(most.min(self.0.len()));
        self.0 = rest;
        taken
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn no_bytes_do_harm(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            feed_disk(&bytes);
        }
    }
}
