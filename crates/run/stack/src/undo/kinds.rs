//! All kinds of things to tear down.

use std::fmt;
use std::path::{Component, Path};

use serde::{Deserialize, Serialize};

// All kinds, each of which is then one line below.
use super::*;
use crate::{LineProblem, StackError};

macro_rules! kinds {
    ($($(#[$attribute:meta])* $kind:ident),+ $(,)?) => {
        /// One thing to tear down, as a ledger has it.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        #[expect(missing_docs, reason = "each kind is documented in its file")]
        pub enum Undo {
            $($(#[$attribute])* $kind($kind),)+
        }

        $(impl From<$kind> for Undo {
            fn from(undo: $kind) -> Self {
                Self::$kind(undo)
            }
        })+

        impl Undo {
            fn kind(&self) -> &dyn Teardown {
                match self {
                    $(Self::$kind(undo) => undo,)+
                }
            }
        }
    };
}

kinds!(
    Unmount,
    // As ledgers of earlier versions have it.
    #[serde(alias = "remove-folder")]
    RemoveDirectory,
    RemoveTree,
    #[serde(rename = "write-cache")]
    RestoreWriteCache,
    EndProgram,
    #[serde(rename = "queue")]
    RestoreQueue,
    WipeDrive,
    RemoveFile,
    DetachLoop,
    RemovePartitions,
    RemoveBtrfs,
    StopArray,
    RemoveVolumeGroup,
    CloseCrypt,
    CloseIntegrity,
    DestroyPool,
);

impl Undo {
    /// See [`Teardown::tear_down`].
    pub(crate) fn carry_out(&self, context: &mut TeardownContext<'_>) -> Result<bool, StackError> {
        self.kind().tear_down(context)
    }

    /// See [`Teardown::close`].
    pub(crate) fn close(&self, context: &mut TeardownContext<'_>) -> Result<(), StackError> {
        self.kind().close(context)
    }

    /// See [`Teardown::obstacles`].
    pub(crate) fn obstacles(
        &self,
        marks: &Marks,
        context: &TeardownContext<'_>,
    ) -> Result<Vec<Obstacle>, StackError> {
        self.kind().obstacles(marks, context)
    }

    /// See [`Teardown::marks`].
    pub(crate) fn marks(&self) -> Vec<String> {
        self.kind().marks()
    }

    /// See [`Teardown::ends_with_boot`].
    pub(crate) fn ends_with_boot(&self) -> bool {
        self.kind().ends_with_boot()
    }

    /// See [`Teardown::paths`].
    pub(crate) fn paths(&self) -> Vec<&Path> {
        self.kind().paths()
    }

    /// See [`Teardown::integrity`].
    pub(crate) fn integrity(&self) -> Option<&DeviceMapping> {
        self.kind().integrity()
    }

    /// Whether removing it would remove what `other` is about, too.
    pub(crate) fn contains(&self, other: &Self) -> bool {
        self.kind().contains(&other.paths())
    }

    /// Whether an entry read from a file can be ours at all: disklab enters
    /// only absolute paths below some directory.
    ///
    /// # Errors
    /// [`LineProblem::OddPath`] with the first that is not absolute, or leads upwards.
    pub(crate) fn check(&self) -> Result<(), LineProblem> {
        for path in self.paths() {
            let plain =
                path.components().all(|c| matches!(c, Component::RootDir | Component::Normal(_)));
            if !path.is_absolute() || !plain || path.components().count() < 3 {
                return Err(LineProblem::OddPath(path.to_owned()));
            }
        }
        Ok(())
    }
}

impl fmt::Display for Undo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind().fmt(f)
    }
}
