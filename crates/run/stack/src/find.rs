//! Finding on devices what was made there: by what it bears, as device names change.

use std::path::PathBuf;

use crate::blkid::probe;
use crate::md_arrays::same_uuid;
use crate::{LayerContext, StackError};

/// What a layer looks for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Search {
    /// The layer's name, for errors.
    pub layer: &'static str,
    /// What it is, such as 'the LUKS header with the UUID'.
    pub what: &'static str,
    /// blkid's tag for its UUID.
    pub tag: &'static str,
}

impl Search {
    /// The devices that bear this UUID, as the members of an array do.
    ///
    /// # Errors
    /// [`StackError::NotFound`] if there is none.
    pub(crate) fn all(
        self,
        devices: &[PathBuf],
        uuid: &str,
        context: &LayerContext<'_>,
    ) -> Result<Vec<PathBuf>, StackError> {
        let found = self.probe(devices, context)?;
        let bears = |found: &Option<String>| found.as_ref().is_some_and(|f| same_uuid(f, uuid));
        let all = devices.iter().zip(&found).filter(|(_, found)| bears(found));
        let all: Vec<PathBuf> = all.map(|(device, _)| device.clone()).collect();
        if all.is_empty() { Err(self.not_found(devices, uuid)) } else { Ok(all) }
    }

    /// The device that bears each of these UUIDs, in their order.
    ///
    /// # Errors
    /// [`StackError::NotFound`] of the first that no device bears.
    pub(crate) fn each(
        self,
        devices: &[PathBuf],
        uuids: &[String],
        context: &LayerContext<'_>,
    ) -> Result<Vec<PathBuf>, StackError> {
        let found = self.each_if_there(devices, uuids, context)?;
        let device = |(device, uuid): (Option<_>, &String)| {
            device.ok_or_else(|| self.not_found(devices, uuid))
        };
        found.into_iter().zip(uuids).map(device).collect()
    }

    /// The same; nothing for a UUID that no device bears.
    ///
    /// # Errors
    /// If blkid cannot be started.
    pub(crate) fn each_if_there(
        self,
        devices: &[PathBuf],
        uuids: &[String],
        context: &LayerContext<'_>,
    ) -> Result<Vec<Option<PathBuf>>, StackError> {
        let found = self.probe(devices, context)?;
        let device = |uuid: &String| {
            let at = found.iter().position(|f| f.as_ref().is_some_and(|f| same_uuid(f, uuid)))?;
            Some(devices[at].clone())
        };
        Ok(uuids.iter().map(device).collect())
    }

    fn probe(
        self,
        devices: &[PathBuf],
        context: &LayerContext<'_>,
    ) -> Result<Vec<Option<String>>, StackError> {
        devices.iter().map(|device| probe(device, self.tag, context.executor)).collect()
    }

    /// The error that no device bears this UUID.
    pub(crate) fn not_found(self, devices: &[PathBuf], uuid: &str) -> StackError {
        StackError::NotFound {
            layer: self.layer,
            what: format!("{} {uuid}", self.what),
            devices: devices.to_vec(),
        }
    }
}
