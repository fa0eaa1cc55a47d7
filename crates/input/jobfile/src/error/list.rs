//! Values that are lists.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumberSet {
    Processors,
    Nodes,
}

impl std::fmt::Display for NumberSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Processors => "processors",
            Self::Nodes => "nodes",
        })
    }
}

/// Why a list is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ListError {
    /// `bssplit` is too long.
    #[error("more than the {most} sizes that fio takes")]
    TooManySizes { most: usize },
    /// The shares of `bssplit`.
    #[error("the shares add up to {percent} percent, not to 100")]
    ShareSum { percent: u32 },
    #[error("more than the {most} zones that fio takes")]
    TooManyZones { most: usize },
    /// A zone without a '/'.
    #[error("expected zones such as '60/10:40/90', found '{found}'")]
    ZoneForm { found: String },
    /// A zone without bytes.
    #[error("a zone of 0 bytes")]
    EmptyZone,
    /// The accesses of all zones.
    #[error("the shares of accesses add up to {percent} percent, not to 100")]
    AccessSum { percent: u32 },
    /// The lengths of all zones.
    #[error("the lengths of the zones add up to {percent} percent, not to 100")]
    ZoneSum { percent: u32 },
    /// A zone of no length that is to be accessed.
    #[error("a zone of 0 percent cannot be accessed")]
    NoRoomInZone,
    /// `zoned` alone.
    #[error("expected zones behind it, such as 'zoned:60/10:40/90'")]
    NoZones,
    /// More than reads, writes and trims.
    #[error("more lists of zones than there are directions")]
    TooManyZoneLists,
    /// More than a parameter and a center.
    #[error("expected at most two numbers behind it")]
    TooManyNumbers,
    /// A center out of the file.
    #[error("the center is a share of the file, from 0 to 1")]
    Center,
    /// `random:1`.
    #[error("`random` takes no number")]
    NumberOfUniform,
    /// Zipf's parameter.
    #[error("Zipf's theta is over 0, at most 100, and not 1")]
    Theta,
    /// Pareto's parameter.
    #[error("Pareto's power is over 0 and under 1")]
    Power,
    /// `normal` alone.
    #[error("expected the deviation in percent behind it, such as 'normal:20'")]
    NoDeviation,
    /// The normal distribution's parameter.
    #[error("the deviation is a percentage from 0 to under 100")]
    Deviation,
    /// An error that Linux does not have.
    #[error("unknown error '{found}': expected a name such as ENOSPC, or a number")]
    UnknownErrno { found: String },
    /// More lists of errors than there are kinds of I/O.
    #[error("more lists than there are kinds: reads, writes, verification")]
    TooManyErrorLists,
    /// No error is named.
    #[error("expected an error such as ENOSPC")]
    NoErrno,
    /// `steadystate` without a limit.
    #[error("expected a limit behind it, such as 'iops:10%' or 'bw_slope:1%'")]
    NoSteadyLimit,
    /// A limit of `steadystate` that nothing keeps to.
    #[error("the limit has to be over 0")]
    SteadyLimit,
    /// Not a policy of set_mempolicy(2).
    #[error(
        "expected default, local, prefer:NODE, bind:NODES or interleave[:NODES], found '{found}'"
    )]
    MemoryPolicy { found: String },
    /// `file_service_type=random:0`.
    #[error("expected how many I/Os go to one file behind it, from 1")]
    IosPerFile,
    /// Not numbers of processors or nodes.
    #[error("expected {set} such as '0-1,3', found '{found}'")]
    NumberSet { set: NumberSet, found: String },
    /// A range whose first number is larger.
    #[error("'{found}' counts backwards")]
    Backwards { found: String },
    /// More numbers than any machine has.
    #[error("too many {set}")]
    TooMany { set: NumberSet },
}
