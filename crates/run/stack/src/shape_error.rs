//! Why a layer cannot be built on what lies below it.

use std::fmt;

use disklab_units::Bytes;

/// What a layer cannot be built on, known before anything is touched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// Another kind of thing lies below.
    #[error("{layer} needs {needs}, got {below}{}", remedy.map(|r| format!("; {r}")).unwrap_or_default())]
    Unfit {
        /// Its name in the study's stack.
        layer: &'static str,
        /// What it is built on.
        needs: &'static str,
        /// What there is.
        below: Below,
        /// What to do, where that can be said.
        remedy: Option<&'static str>,
    },
    /// There are too few devices.
    #[error("{layer} needs at least {least} devices, got {got}")]
    TooFew {
        /// The layer, or a part of it: 'btrfs-raid1 (metadata raid1c3)'.
        layer: String,
        /// The fewest.
        least: usize,
        /// How many there are.
        got: usize,
    },
    /// A device is smaller than the layer takes.
    #[error("{layer} needs devices of at least {least}, got one of {got}")]
    TooSmall {
        /// Its name in the study's stack.
        layer: &'static str,
        /// The smallest that does.
        least: Bytes,
        /// The size of the smallest there is.
        got: Bytes,
    },
    /// What the layer keeps for itself leaves nothing of what is below.
    #[error("{layer}: the {got} below it are too small")]
    NothingLeft {
        /// Its name in the study's stack.
        layer: &'static str,
        /// The size of what is below, or of the smallest of it.
        got: Bytes,
    },
    /// What a study asks for does not fit.
    #[error("{layer}: {wanted} do not fit; there is room for {room}")]
    NoRoom {
        /// Its name in the study's stack.
        layer: &'static str,
        /// How much is asked for.
        wanted: Bytes,
        /// How much there is.
        room: Bytes,
    },
    /// Devices that do not make groups of the width asked for.
    #[error("{layer}: {devices} devices do not make {what} of {width}")]
    Groups {
        /// Its name in the study's stack.
        layer: &'static str,
        /// How many devices there are.
        devices: usize,
        /// How many make one.
        width: usize,
        /// What a group is, in the plural.
        what: &'static str,
    },
    /// Devices that are too different in size for an array over them.
    #[error("{layer} needs at least {least} devices with {common} in common")]
    NothingInCommon {
        /// Its name in the study's stack.
        layer: &'static str,
        /// The fewest devices.
        least: usize,
        /// What they must have in common.
        common: Bytes,
    },
    /// An input has a drive that the stack does not have.
    #[error("`{input}` is on drive {drive}; the stack has {drives}")]
    NoDrive {
        /// Which, such as `log`.
        input: String,
        /// The drive, counted from 1.
        drive: usize,
        /// How many the stack has.
        drives: usize,
    },
    /// Two inputs are on one drive.
    #[error("drive {drive} is used twice, the second time by `{input}`")]
    UsedTwice {
        /// The second input.
        input: String,
        /// The drive, counted from 1.
        drive: usize,
    },
    /// An input is something else than devices, or more of them than the layer takes.
    #[error("`{input}` of {layer} takes {} at most, got {got}", Below::Devices(*most))]
    Input {
        /// Its name in the study's stack.
        layer: &'static str,
        /// Which, such as `log`.
        input: &'static str,
        /// The most devices.
        most: usize,
        /// What there is.
        got: Below,
    },
    /// An input's device is smaller than the layer takes.
    #[error("`{input}` of {layer} needs devices of at least {least}, got one of {got}")]
    InputTooSmall {
        /// Its name in the study's stack.
        layer: &'static str,
        /// Which, such as `log`.
        input: &'static str,
        /// The smallest that does.
        least: Bytes,
        /// The size of the smallest there is.
        got: Bytes,
    },
    /// Several arrays are to share what one can have.
    #[error("`{input}` of {layer} is of one array, and `width` makes {arrays}")]
    InputOfMany {
        /// Its name in the study's stack.
        layer: &'static str,
        /// Which, such as `log`.
        input: &'static str,
        /// How many arrays there are.
        arrays: usize,
    },
    /// The last layer leaves no directory.
    #[error("it ends in {below}, not in a directory; add a file system such as ext4")]
    NoDirectory {
        /// What it leaves.
        below: Below,
    },
}

impl ShapeError {
    /// Whether it is about how many devices there are: with others it may fit.
    pub(crate) fn is_of_number(&self) -> bool {
        matches!(
            self,
            Self::TooFew { .. }
                | Self::Groups { .. }
                | Self::NothingInCommon { .. }
                | Self::NoDrive { .. }
                | Self::Unfit { below: Below::Devices(_), .. }
        )
    }

    /// `layer` is built on `needs`, and there is something else below it.
    pub(crate) fn unfit(layer: &'static str, needs: &'static str, below: Below) -> Self {
        Self::Unfit { layer, needs, below, remedy: None }
    }

    /// The same, with what to do.
    pub(crate) fn with_remedy(
        layer: &'static str,
        needs: &'static str,
        below: Below,
        remedy: &'static str,
    ) -> Self {
        Self::Unfit { layer, needs, below, remedy: Some(remedy) }
    }
}

/// What lies below a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Below {
    /// So many block devices.
    Devices(usize),
    /// A ZFS pool.
    Pool,
    /// A mounted file system.
    Directory,
}

impl fmt::Display for Below {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Devices(1) => f.write_str("1 device"),
            Self::Devices(count) => write!(f, "{count} devices"),
            Self::Pool => f.write_str("a ZFS pool"),
            Self::Directory => f.write_str("a directory"),
        }
    }
}
