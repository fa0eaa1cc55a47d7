//! Numbers, sizes and times.

/// Why a text is not the number that was expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NumberError {
    /// A size in percent of a device.
    #[error(
        "'{found}' is a share of a device, and disklab's jobs work on files, which have no size \
         before they are made: give a size"
    )]
    ShareOfDevice { found: String },
    /// Not a size.
    #[error(
        "invalid size '{found}': expected an integer with an optional unit, such as '4k' or '1G'"
    )]
    Size { found: String },
    /// A number with something behind it that is not a unit.
    #[error("{} (fio would ignore what follows the number)", Self::Size { found: found.clone() })]
    SizeUnit { found: String },
    /// `4KiB` while `kb_base` makes it 4000 bytes.
    #[error(
        "fio takes '{letter}i' for a power of 1000, unless kb_base=1000 is set; write \
         '{value}{letter}', which is a power of 1024 to it"
    )]
    BinaryUnit { value: u64, letter: String },
    /// More than `off_t` holds.
    #[error("'{found}' is larger than any file can be")]
    TooLarge { found: String },
    /// A size below the least that the option takes.
    #[error("expected a size from {least}, found '{found}'")]
    TooSmall { least: u64, found: String },
    /// Not a time.
    #[error(
        "invalid time '{found}': expected an integer with an optional unit: us, ms, s, m, h or d"
    )]
    Time { found: String },
    /// A unit that fio reads as microseconds.
    #[error("fio 3.33 takes '{found}' for microseconds; write '{value}{unit}'")]
    TimeUnit { found: String, value: u64, unit: char },
    /// More than 1000 days.
    #[error("'{found}' is longer than 1000 days")]
    TooLong { found: String },
    /// Not an integer of milliseconds.
    #[error("expected an integer of milliseconds from {least}, found '{found}'")]
    Milliseconds { least: u64, found: String },
    /// Not an integer, or too small.
    #[error("expected an integer from {least}, found '{found}'")]
    IntegerFrom { least: u64, found: String },
    /// Not an integer, or out of these bounds.
    #[error("expected an integer from {least} to {most}, found '{found}'")]
    Integer { least: i64, most: u64, found: String },
    /// Not a finite number.
    #[error("expected a number such as '1.2', found '{found}'")]
    Real { found: String },
    /// Neither 0 nor 1.
    #[error("expected 0 or 1, found '{found}'")]
    Flag { found: String },
}
