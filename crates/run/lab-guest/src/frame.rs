//! What is said over a guest's console line: frames of a kind, a length and that
//! many bytes, so that a program's output can hold anything.

/// Bytes before a frame's payload: kind (8 bits), length (16 bits, little endian).
const HEADER_BYTES: usize = 3;
/// No frame carries more. A terminal driver hands on 2 KiB at a time
/// (`drivers/tty/tty_io.c`).
pub const PAYLOAD_BYTES: usize = 2048 - HEADER_BYTES;
/// So many bytes of output may be on their way before the host has said
/// [`Frame::Taken`]. A socket's buffer (`net.core.wmem_default`, 208 KiB, of which
/// half is book-keeping) holds them: the guest never waits for room, which it
/// would do in virtual time.
pub const WINDOW_BYTES: usize = 32 << 10;

/// One thing said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// The guest is ready for its user.
    Ready,
    /// A program wrote to its standard output, or to its terminal.
    Output(Vec<u8>),
    /// A program wrote to its standard error.
    Error(Vec<u8>),
    /// Whether the programs wait for their user, so that time must not run ahead.
    Waits(bool),
    /// The session is over; its exit code.
    Exit(u8),
    /// The user typed.
    Input(Vec<u8>),
    /// The user will type no more.
    InputEnds,
    /// The user's terminal has so many rows and columns.
    Size(u16, u16),
    /// So many bytes of output were taken since this was last said.
    Taken(u32),
}

impl Frame {
    /// Appends it to `line`; output and input of any length become several frames.
    pub fn put(&self, line: &mut Vec<u8>) {
        let (kind, payload): (u8, &[u8]) = match self {
            Self::Ready => (b'r', &[]),
            Self::Output(bytes) => (b'o', bytes),
            Self::Error(bytes) => (b'e', bytes),
            Self::Waits(waits) => (b'w', &[u8::from(*waits)]),
            Self::Exit(code) => (b'x', &[*code]),
            Self::Input(bytes) => (b'i', bytes),
            Self::InputEnds => (b'z', &[]),
            Self::Size(rows, columns) => {
                let ([a, b], [c, d]) = (rows.to_le_bytes(), columns.to_le_bytes());
                return put(line, b's', &[a, b, c, d]);
            }
            Self::Taken(count) => return put(line, b't', &count.to_le_bytes()),
        };
        if payload.is_empty() {
            return put(line, kind, payload);
        }
        for part in payload.chunks(PAYLOAD_BYTES) {
            put(line, kind, part);
        }
    }

    fn parse(kind: u8, payload: &[u8]) -> Option<Self> {
        Some(match (kind, payload) {
            (b'r', []) => Self::Ready,
            (b'o', bytes) => Self::Output(bytes.to_vec()),
            (b'e', bytes) => Self::Error(bytes.to_vec()),
            (b'w', [waits]) => Self::Waits(*waits != 0),
            (b'x', [code]) => Self::Exit(*code),
            (b'i', bytes) => Self::Input(bytes.to_vec()),
            (b'z', []) => Self::InputEnds,
            (b's', [a, b, c, d]) => {
                Self::Size(u16::from_le_bytes([*a, *b]), u16::from_le_bytes([*c, *d]))
            }
            (b't', [a, b, c, d]) => Self::Taken(u32::from_le_bytes([*a, *b, *c, *d])),
            _ => return None,
        })
    }
}

fn put(line: &mut Vec<u8>, kind: u8, payload: &[u8]) {
    // Never above PAYLOAD_BYTES.
    let length = u16::try_from(payload.len()).unwrap_or(0);
    line.push(kind);
    line.extend_from_slice(&length.to_le_bytes());
    line.extend_from_slice(payload);
}

/// What came over a line is not a frame; nothing after it can be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// It is longer than any.
    #[error("a frame of {0} bytes on its console line")]
    TooLong(usize),
    /// Its kind is not known, or its payload is not one of that kind.
    #[error("an unknown frame {0} on its console line")]
    Unknown(u8),
}

/// Makes frames of what comes over a line, cut anywhere.
#[derive(Debug, Default)]
pub struct Frames {
    rest: Vec<u8>,
}

impl Frames {
    /// Takes more bytes.
    pub fn take(&mut self, bytes: &[u8]) {
        self.rest.extend_from_slice(bytes);
    }

    /// The next whole frame.
    ///
    /// # Errors
    /// [`FrameError`] if what came is not a frame.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, FrameError> {
        let &[kind, low, high, ref rest @ ..] = self.rest.as_slice() else { return Ok(None) };
        let length = usize::from(u16::from_le_bytes([low, high]));
        if length > PAYLOAD_BYTES {
            return Err(FrameError::TooLong(length));
        }
        let Some(payload) = rest.get(..length) else { return Ok(None) };
        let frame = Frame::parse(kind, payload);
        self.rest.drain(..HEADER_BYTES + length);
        frame.map(Some).ok_or(FrameError::Unknown(kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frames() -> impl Strategy<Value = Frame> {
        let bytes = || proptest::collection::vec(any::<u8>(), 1..PAYLOAD_BYTES);
        prop_oneof![
            Just(Frame::Ready),
            Just(Frame::InputEnds),
            bytes().prop_map(Frame::Output),
            bytes().prop_map(Frame::Error),
            bytes().prop_map(Frame::Input),
            any::<bool>().prop_map(Frame::Waits),
            any::<u8>().prop_map(Frame::Exit),
            any::<(u16, u16)>().prop_map(|(r, c)| Frame::Size(r, c)),
            any::<u32>().prop_map(Frame::Taken),
        ]
    }

    #[test]
    fn long_output_becomes_several_frames() {
        let mut line = Vec::new();
        let bytes: Vec<u8> = (0..10_000_u32).map(|n| n as u8).collect();
        Frame::Output(bytes.clone()).put(&mut line);
        let mut reader = Frames::default();
        reader.take(&line);
        let mut back = Vec::new();
        while let Some(Frame::Output(part)) = reader.next_frame().unwrap() {
            back.extend(part);
        }
        assert_eq!(back, bytes);
    }

    #[test]
    fn line_that_is_not_frames_is_refused() {
        for (bytes, expected) in [
            (&[b'o', 255, 255][..], FrameError::TooLong(65_535)),
            (&[b'?', 0, 0][..], FrameError::Unknown(b'?')),
            // An exit code of two bytes.
            (&[b'x', 2, 0, 0, 0][..], FrameError::Unknown(b'x')),
        ] {
            let mut reader = Frames::default();
            reader.take(bytes);
            assert_eq!(reader.next_frame(), Err(expected));
        }
    }

    proptest! {
        #[test]
        fn frames_are_read_back(
            all in proptest::collection::vec(frames(), 0..8), size in 1_usize..700,
        ) {
            let mut line = Vec::new();
            all.iter().for_each(|frame| frame.put(&mut line));
            let (mut reader, mut back) = (Frames::default(), Vec::new());
            for part in line.chunks(size) {
                reader.take(part);
                while let Some(frame) = reader.next_frame().unwrap() {
                    back.push(frame);
                }
            }
            prop_assert_eq!(back, all);
        }

        #[test]
        fn hostile_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut reader = Frames::default();
            reader.take(&bytes);
            let mut heard = 0;
            while let Ok(Some(_)) = reader.next_frame() {
                heard += 1;
            }
            prop_assert!(heard <= bytes.len() / HEADER_BYTES);
        }
    }
}
