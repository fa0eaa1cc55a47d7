//! A whole stack.

use std::path::PathBuf;

use disklab_study::{StackSpec, StudyError};
use disklab_units::Bytes;

use crate::{Layer, Need, Shape, Site, StackError, Volume};

/// A stack whose layers are understood.
#[derive(Debug)]
pub struct Stack {
    layers: Vec<Box<dyn Layer>>,
}

/// A stack that stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// The directory that it ends in.
    pub directory: PathBuf,
    /// The block device right below the file system, where there is exactly one.
    pub device: Option<PathBuf>,
}

impl Stack {
    /// Understands the layers of a stack.
    ///
    /// # Errors
    /// Where a layer or an option is unknown; the error shows the place.
    pub fn parse(spec: &StackSpec) -> Result<Self, StudyError> {
        let _ = spec;
        Ok(Self { layers: Vec::new() })
    }

    /// What it will be on drives of these sizes.
    ///
    /// # Errors
    /// In words for the user, where it cannot stand on them.
    pub fn shape(&self, drives: &[Bytes]) -> Result<Volume, String> {
        let _ = (drives, &self.layers);
        match Shape::drives(drives) {
            Shape::Devices(mut volumes) if !volumes.is_empty() => Ok(volumes.remove(0)),
            other => Err(other.words()),
        }
    }

    /// Everything that its layers cannot do without, each once.
    pub fn needs(&self) -> Vec<Need> {
        Vec::new()
    }

    /// Makes it on `devices`, which hold nothing that is still wanted.
    ///
    /// # Errors
    /// Where a layer fails. What was made so far is in the site's ledger.
    pub fn make(&self, devices: &[PathBuf], site: &mut Site<'_>) -> Result<Made, StackError> {
        let _ = (devices, site);
        Err(StackError::Other("no layers".to_owned()))
    }
}
