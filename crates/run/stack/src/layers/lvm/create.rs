//! Making a volume group and its logical volume.

use std::path::{Path, PathBuf};

use crate::lvm_tools::{filter, lvm};
use crate::udev::wait_for_node;
use crate::{LayerContext, StackError, Undo, seeded};

/// The name of the one logical volume of a group.
pub(crate) const VOLUME: &str = "data";

/// A volume group that was made.
#[derive(Debug)]
pub(crate) struct VolumeGroup {
    layer: &'static str,
    name: String,
    filter: String,
}

impl VolumeGroup {
    /// Makes a volume group over `devices` for `layer`.
    ///
    /// # Errors
    /// [`StackError::Program`] with what LVM's program printed.
    pub(crate) fn create(
        layer: &'static str,
        devices: &[PathBuf],
        context: &mut LayerContext<'_>,
    ) -> Result<Self, StackError> {
        let number = context.ledger.mark();
        let name = format!("disklab-{}-{number}", context.tag);
        // A tag tells our group from one of the same name, and the UUIDs tell
        // our physical volumes while they are in no group.
        let mark = format!("disklab.{}", seeded::uuid(context, &format!("vg {number}")));
        let volumes: Vec<(PathBuf, String)> = devices
            .iter()
            .enumerate()
            .map(|(i, device)| {
                (
                    device.clone(),
                    seeded::lvm_uuid(&seeded::uuid(context, &format!("pv {number} {i}"))),
                )
            })
            .collect();
        context.ledger.enter(Undo::RemoveVolumeGroup {
            name: name.clone(),
            mark: mark.clone(),
            volumes: volumes.clone(),
        })?;
        let filter = filter(devices);
        for (device, uuid) in &volumes {
            let pvcreate = lvm("pvcreate", &filter)
                .args(["--yes", "--force", "--norestorefile", "--uuid", uuid])
                .arg(device);
            context.run(layer, &pvcreate)?;
        }
        let vgcreate =
            lvm("vgcreate", &filter).args(["--yes", "--addtag", &mark]).arg(&name).args(devices);
        context.run(layer, &vgcreate)?;
        Ok(Self { layer, name, filter })
    }

    /// Makes the logical volume, on `devices` alone where there are some, and
    /// returns its node.
    ///
    /// # Errors
    /// [`StackError::Program`] if LVM fails, [`StackError::NotShown`] if the node does not appear.
    pub(crate) fn volume(
        &self,
        options: &[String],
        devices: &[PathBuf],
        context: &LayerContext<'_>,
    ) -> Result<PathBuf, StackError> {
        let lvcreate = lvm("lvcreate", &self.filter)
            // What a new volume shows is what lies below; a study that wants
            // zeros has drives of zeros.
            .args(["--yes", "--wipesignatures", "n", "--zero", "n", "--name", VOLUME])
            .args(options)
            .arg(&self.name)
            .args(devices);
        context.run(self.layer, &lvcreate)?;
        wait_for_node(context, self.layer, &self.node())
    }

    /// Device-mapper doubles the hyphens within a name (dmsetup(8)).
    fn node(&self) -> PathBuf {
        Path::new("/dev/mapper").join(format!("{}-{VOLUME}", self.name.replace('-', "--")))
    }
}

/// Adds all of `devices` to the logical volume of `group`, in their order.
///
/// # Errors
/// [`StackError::Program`] with what LVM's program printed.
pub(crate) fn append_all(
    group: &VolumeGroup,
    devices: &[PathBuf],
    context: &LayerContext<'_>,
) -> Result<(), StackError> {
    for device in devices {
        let lvextend = lvm("lvextend", &group.filter)
            .args(["--yes", "--extents", "+100%PVS"])
            .arg(format!("{}/{VOLUME}", group.name))
            .arg(device);
        context.run(group.layer, &lvextend)?;
    }
    Ok(())
}
