//! Patterns of bytes.

/// Why a pattern of bytes is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PatternError {
    /// Nothing.
    #[error("expected a pattern such as 0xdeadbeef, \"abcd\" or 12")]
    Missing,
    /// A string that does not end.
    #[error("the text in the pattern has no closing '\"'")]
    Unclosed,
    /// The content of a file.
    #[error("a study's patterns take no file in '': write its bytes as 0x…")]
    File,
    /// `%o` where blocks have no offset.
    #[error("%o (the block's offset) is only for `verify_pattern`")]
    Offset,
    /// More bytes than are kept.
    #[error("the pattern is longer than {most} bytes")]
    TooLong { most: usize },
    /// A pattern without bytes.
    #[error("the pattern is empty")]
    Empty,
    /// Something else.
    #[error("invalid pattern '{found}': expected numbers, 0x…, or text in \"\"")]
    Invalid { found: String },
}
