//! Disks that one guest leaves to others.

use std::sync::Arc;

use disklab_drive::{Drive, Nanos, ResumedDrive};
use disklab_sample::KeptContent;

use crate::content::DiskContent;
use crate::{LabError, LabOptions};

/// What the disks of a lab are when its guest is gone: what they hold, and what their drives
/// remember. Any number of labs can begin with them, and none of these feels the others.
#[derive(Clone)]
pub struct KeptDisks {
    content: Arc<DiskContent>,
    /// What each disk's drive is, and how many requests it was given; nothing where it was never
    /// used.
    drives: Vec<Option<(Box<dyn Drive>, u64)>>,
    at: Nanos,
}

impl KeptDisks {
    /// Drives that have no request in flight, at `at`.
    pub(crate) fn new(
        content: DiskContent,
        drives: Vec<Option<(Box<dyn Drive>, u64)>>,
        at: Nanos,
    ) -> Self {
        Self { content: Arc::new(content), drives, at }
    }

    /// Has a lab, which has as many disks of the same kinds, begin with these, as after a restart
    /// that takes no time: each drive continues where it was.
    ///
    /// # Errors
    /// [`LabError::System`] if there is no file for what the lab writes.
    pub fn begin(&self, options: &mut LabOptions) -> Result<(), LabError> {
        self.begin_with_content(options)?;
        for (disk, kept) in options.disks.iter_mut().zip(&self.drives) {
            if let Some((drive, requests)) = kept {
                disk.drive = Box::new(ResumedDrive::new(drive.clone(), self.at, *requests));
            }
        }
        Ok(())
    }

    /// The same for what they hold alone: the drives are those of the lab.
    ///
    /// # Errors
    /// As for [`KeptDisks::begin`].
    pub fn begin_with_content(&self, options: &mut LabOptions) -> Result<(), LabError> {
        let (directory, limits) = (&options.directory, options.content.clone());
        options.holds = Some(DiskContent::on(&self.content, directory, limits)?);
        Ok(())
    }

    /// When that was, by the clock of the guest that left them.
    pub fn at(&self) -> Nanos {
        self.at
    }

    /// What they hold.
    pub fn content(&self) -> &DiskContent {
        &self.content
    }

    /// What they hold takes so much, as long as they are kept.
    pub fn usage(&self) -> KeptContent {
        self.content.usage()
    }
}
