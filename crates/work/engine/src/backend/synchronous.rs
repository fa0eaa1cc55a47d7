//! System calls that return when the I/O has ended.

use std::io;

use disklab_jobfile::Engine;

use super::IoOperation;
use crate::pattern::RequestKind;

/// By which calls data are moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    /// `lseek`, then `read` or `write`.
    Seek,
    /// `pread` or `pwrite`.
    Positioned,
    /// `preadv` or `pwritev`.
    Vector,
    /// `preadv2` or `pwritev2`.
    Vector2,
    /// None at all: `ioengine=null`.
    Nothing,
}

impl Call {
    /// That of fio's engine of this name; none for asynchronous ones.
    pub(crate) fn of(engine: Engine) -> Option<Self> {
        match engine {
            Engine::Sync => Some(Self::Seek),
            Engine::Any | Engine::Psync => Some(Self::Positioned),
            // fio's vsync joins neighbouring I/Os at a depth over 1 only.
            Engine::Vsync | Engine::Pvsync => Some(Self::Vector),
            Engine::Pvsync2 => Some(Self::Vector2),
            Engine::Libaio | Engine::IoUring | Engine::Posixaio | Engine::Null => None,
        }
    }

    /// Carries out an I/O. Bytes moved, or a negative errno.
    #[inline]
    pub(crate) fn perform(self, operation: &IoOperation) -> i64 {
        let IoOperation { kind, fd, buffer, length, offset, .. } = *operation;
        if self == Self::Nothing {
            return i64::from(length);
        }
        let (buffer, bytes) = (buffer.cast::<libc::c_void>(), length as usize);
        let Ok(at) = libc::off_t::try_from(offset) else { return -i64::from(libc::EFBIG) };
        let vector = libc::iovec { iov_base: buffer, iov_len: bytes };
        let vector = &raw const vector;
        // SAFETY: the buffer has `length` bytes, which the caller lends for the call;
        // the vector lives until its end.
        let result = unsafe {
            match (kind, self) {
                (RequestKind::Sync, _) => libc::fsync(fd) as isize,
                (RequestKind::DataSync, _) => libc::fdatasync(fd) as isize,
                (_, Self::Seek) if libc::lseek(fd, at, libc::SEEK_SET) < 0 => -1,
                (RequestKind::Read, Self::Seek) => libc::read(fd, buffer, bytes),
                (RequestKind::Write, Self::Seek) => libc::write(fd, buffer, bytes),
                (RequestKind::Read, Self::Positioned) => libc::pread(fd, buffer, bytes, at),
                (RequestKind::Write, Self::Positioned) => libc::pwrite(fd, buffer, bytes, at),
                (RequestKind::Read, Self::Vector) => libc::preadv(fd, vector, 1, at),
                (RequestKind::Write, Self::Vector) => libc::pwritev(fd, vector, 1, at),
                (RequestKind::Read, Self::Vector2) => libc::preadv2(fd, vector, 1, at, 0),
                (RequestKind::Write, Self::Vector2) => libc::pwritev2(fd, vector, 1, at, 0),
                (RequestKind::Read | RequestKind::Write, Self::Nothing) => bytes as isize,
            }
        };
        if result < 0 {
            let errno = io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
            return -i64::from(errno);
        }
        result as i64
    }
}
