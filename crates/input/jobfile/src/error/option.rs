//! Options that do not exist or are not allowed.

/// Why an option is refused, whatever its value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum OptionError {
    /// It could do what a study must not.
    #[error("fio's option '{name}' is not allowed here: {why}")]
    NotAllowed { name: String, why: &'static str },
    /// An option that fio knows and disklab does not carry out.
    #[error("the native engine has no '{name}' ({what}); take it away, or {other_way}")]
    OnlyFio { name: String, what: &'static str, other_way: &'static str },
    /// It belongs to I/O engines that disklab does not have.
    #[error(
        "'{name}' is an option of an I/O engine of fio that is not supported ({engines}): \
         disklab's jobs read and write files"
    )]
    OtherEngine { name: String, engines: String },
    /// Nothing of the kind.
    #[error("fio has no option '{name}', as far as disklab knows{hint}")]
    Unknown { name: String, hint: String },
    /// Its value has control characters.
    #[error("the value of `{name}` has control characters")]
    ControlCharacters { name: String },
    /// Its value refers to something that is not filled in.
    #[error(
        "`{name}` has a '$' that stands for nothing here: variables are filled in in job files \
         alone; write the value"
    )]
    Variable { name: String },
}
