//! Reading back what was written.

use super::clone::Clone;
use crate::backend::{Call, IoOperation};
use crate::io_failure::IoFailure;
use crate::memory::Memory;
use crate::pattern::{IoRequest, RequestKind};
use crate::verify_error::Mismatch;

impl Clone<'_> {
    /// After a transfer of a job that verifies: a write is remembered, a read of a
    /// job that only reads is checked.
    pub(super) fn checked(&mut self, slot: u32, request: &IoRequest) -> Result<(), IoFailure> {
        let access = self.job.pattern.access;
        match request.kind {
            RequestKind::Write => {
                self.written.add(request.file, request.offset, request.length);
                let backlog = self.job.verify.as_ref().and_then(|verify| verify.backlog);
                if backlog.is_some_and(|n| self.written.len() as u64 >= n) {
                    self.verify_written()?;
                }
                Ok(())
            }
            RequestKind::Read if !access.writes => {
                let block = &mut self.memory.slot(slot as usize)[..request.length as usize];
                let found =
                    self.checker.as_mut().map_or(Ok(()), |c| c.check(block, request.offset));
                self.judge(found, request.file)
            }
            _ => Ok(()),
        }
    }

    /// `do_verify`: all that was written and not checked yet.
    pub(super) fn verify_all(&mut self) -> Result<(), IoFailure> {
        let wanted = self.job.verify.as_ref().is_some_and(|verify| verify.do_verify);
        if wanted && self.checker.is_some() { self.verify_written() } else { Ok(()) }
    }

    fn verify_written(&mut self) -> Result<(), IoFailure> {
        let largest = usize::try_from(self.job.blocks.max()).unwrap_or(usize::MAX);
        let Some(mut memory) = Memory::new(1, largest) else { return Ok(()) };
        for (file, offset, length) in self.written.take() {
            if self.shared.is_stopped() {
                return Ok(());
            }
            let block = &mut memory.slot(0)[..length as usize];
            self.read_back(block, file, offset)?;
            let found = self.checker.as_mut().map_or(Ok(()), |c| c.check(block, offset));
            self.judge(found, file)?;
        }
        Ok(())
    }

    fn read_back(&mut self, block: &mut [u8], file: u32, offset: u64) -> Result<(), IoFailure> {
        let fd = self.descriptor(file)?;
        let request =
            IoRequest { kind: RequestKind::Read, file, offset, length: block.len() as u32 };
        let mut done = 0_usize;
        while done < block.len() {
            let operation = IoOperation {
                kind: RequestKind::Read,
                fd,
                file,
                slot: 0,
                buffer: block[done..].as_mut_ptr(),
                length: (block.len() - done) as u32,
                offset: offset + done as u64,
            };
            match Call::Positioned.perform(&operation) {
                moved @ 1.. => done += moved as usize,
                error if error == -i64::from(libc::EINTR) => {}
                error => {
                    return self.failed(&request, i32::try_from(-error).unwrap_or(libc::EIO));
                }
            }
        }
        Ok(())
    }

    fn judge(&mut self, found: Result<(), Mismatch>, file: u32) -> Result<(), IoFailure> {
        self.verified.0 += 1;
        let Err(mismatch) = found else { return Ok(()) };
        self.verified.1 += 1;
        let fatal = self.job.verify.as_ref().is_some_and(|verify| verify.fatal);
        if self.job.continue_on_error.verify && !fatal {
            self.tally.passed_over += 1;
            return Ok(());
        }
        Err(IoFailure::Damaged { path: self.files.path(file).to_owned(), mismatch })
    }
}
