//! NILFS2.

use disklab_exec::Invocation;
use disklab_study::{LayerSpec, StudyError};
use disklab_units::Bytes;

use super::file_system::{
    BLOCK_SIZE, MKFS, MOUNT, MOUNT_OPTIONS, MountPoint, Options, directory_on, enter, label,
    one_device, one_volume,
};
use crate::{Form, Layer, LayerKind, Need, Shape, Site, StackError};

/// NILFS2's line in the table.
pub(super) const KIND: LayerKind = LayerKind {
    name: "nilfs2",
    summary: "NILFS2, a log-structured file system, on one device",
    options: &[BLOCK_SIZE, MKFS, MOUNT_OPTIONS],
    parse,
};

/// What mkfs.nilfs2 of nilfs-utils 2.2.9 asks for: 16 segments of 8 MiB, and
/// 4 KiB.
const MINIMUM: Bytes = Bytes(134_221_824);

#[derive(Debug)]
struct Nilfs2 {
    options: Options,
}

fn parse(spec: &LayerSpec) -> Result<Box<dyn Layer>, StudyError> {
    Ok(Box::new(Nilfs2 { options: Options::parse(spec, &[])? }))
}

impl Layer for Nilfs2 {
    fn shape(&self, below: &Shape) -> Result<Shape, String> {
        let volume = one_volume("nilfs2", below, MINIMUM)?;
        // mkfs.nilfs2(8): 5 % of the segments are reserved.
        Ok(directory_on(volume, volume.size.scaled(0.95, Bytes::kib(4))))
    }

    fn needs(&self) -> Vec<Need> {
        vec![
            Need::FileSystem("nilfs2"),
            Need::Program { name: "mkfs.nilfs2", package: "nilfs-tools" },
            MOUNT,
        ]
    }

    /// mkfs.nilfs2 takes no UUID, so ours is in the label.
    fn make(&self, below: Form, site: &mut Site<'_>) -> Result<Form, StackError> {
        let device = one_device("nilfs2", below)?;
        let point = MountPoint::new(site)?;
        enter(site, &device, &point.uuid)?;
        // 80 bytes at most (mkfs.nilfs2(8)).
        let label = format!("{} {}", label(site, 40), point.uuid);
        let mut mkfs = Invocation::new("mkfs.nilfs2").args(["-f", "-q", "-L", &label]);
        if let Some(size) = self.options.block_size {
            mkfs = mkfs.arg("-b").arg(size.0.to_string());
        }
        site.run("nilfs2", &mkfs.args(&self.options.mkfs).arg(&device))?;
        let form = point.mount(site, "nilfs2", &device, &self.options.mount)?;
        site.note(
            "nilfs2",
            "mounted without its cleaner daemon: space of overwritten data is not freed",
        );
        Ok(form)
    }
}
