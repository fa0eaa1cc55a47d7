//! Making a volume group and its logical volume.

use std::path::{Path, PathBuf};

use disklab_exec::Invocation;
use disklab_units::Bytes;

use crate::find::Search;
use crate::lvm_tools::{filter, lvm};
use crate::undo::LOGICAL_VOLUME;
use crate::wait::wait_for_node;
use crate::{LayerContext, Need, StackError, seeded, undo};

/// The programs come in one package.
pub(crate) const LVM: Need = Need::Program { name: "lvm", package: "lvm2" };

pub(super) const STRIPE_SIZE: (&str, &str) = (
    "stripe-size",
    "stripe size, the bytes on one device before the next, such as 64K [default: 64K]",
);

/// LVM's stripe size where none is asked for (lvm.conf(5), `stripesize`).
pub(super) const DEFAULT_STRIPE: Bytes = Bytes::kib(64);

/// The name of the pool below a thin one; it has the group's tag.
const POOL: &str = "pool";

/// What a layer makes with LVM over its devices.
#[derive(Debug)]
pub(crate) struct VolumeGroup {
    layer: &'static str,
    name: String,
    /// The tag by which it is known.
    mark: String,
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
        let (group, uuids) = Self::draw(layer, devices, context);
        group.enter(devices, &uuids, context)?;
        let Self { name, mark, filter, .. } = &group;
        for (device, uuid) in devices.iter().zip(&uuids) {
            let pvcreate = lvm("pvcreate", filter)
                .args(["--yes", "--force", "--norestorefile", "--uuid", uuid])
                .arg(device);
            context.run(layer, &pvcreate)?;
        }
        let vgcreate =
            lvm("vgcreate", filter).args(["--yes", "--addtag", mark]).arg(name).args(devices);
        context.run(layer, &vgcreate)?;
        Ok(group)
    }

    /// Activates the logical volume of the group that is on `devices`, and returns its node.
    ///
    /// # Errors
    /// [`StackError::NotFound`] if a physical volume is missing, [`StackError::Program`] with what
    /// LVM's program printed.
    pub(crate) fn assemble(
        layer: &'static str,
        devices: &[PathBuf],
        context: &mut LayerContext<'_>,
    ) -> Result<(Self, PathBuf), StackError> {
        let (group, uuids) = Self::draw(layer, devices, context);
        let search = Search { layer, what: "the physical volume with the UUID", tag: "UUID" };
        let devices = search.each(devices, &uuids, context)?;
        group.enter(&devices, &uuids, context)?;
        let activate = lvm("vgchange", &group.filter).args(["--activate", "y"]).arg(&group.name);
        context.run(layer, &activate)?;
        let node = wait_for_node(context, layer, &group.node())?;
        Ok((group, node))
    }

    /// The group, and the UUIDs of its physical volumes.
    fn draw(
        layer: &'static str,
        devices: &[PathBuf],
        context: &LayerContext<'_>,
    ) -> (Self, Vec<String>) {
        let number = context.number();
        let name = context.name(number);
        // A tag tells our group from one of the same name, and the UUIDs tell
        // our physical volumes while they are in no group.
        let mark = format!("disklab.{}", seeded::uuid(context, &format!("vg {number}")));
        let uuid = |i| seeded::lvm_uuid(&seeded::uuid(context, &format!("pv {number} {i}")));
        let uuids = (0..devices.len()).map(uuid).collect();
        (Self { layer, name, mark, filter: filter(devices) }, uuids)
    }

    fn enter(
        &self,
        devices: &[PathBuf],
        uuids: &[String],
        context: &mut LayerContext<'_>,
    ) -> Result<(), StackError> {
        let volumes = devices.iter().cloned().zip(uuids.iter().cloned()).collect();
        let (name, mark) = (self.name.clone(), self.mark.clone());
        context.enter(undo::RemoveVolumeGroup { name, mark, volumes })
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
            .args(["--yes", "--wipesignatures", "n", "--zero", "n", "--name", LOGICAL_VOLUME])
            .args(options)
            .arg(&self.name)
            .args(devices);
        context.run(self.layer, &lvcreate)?;
        wait_for_node(context, self.layer, &self.node())
    }

    /// Makes a thin pool of all there is, and returns its size.
    ///
    /// # Errors
    /// [`StackError`] if LVM fails, or does not tell the size.
    pub(super) fn thin_pool(
        &self,
        chunk: Option<Bytes>,
        context: &LayerContext<'_>,
    ) -> Result<Bytes, StackError> {
        let mut lvcreate = lvm("lvcreate", &self.filter)
            .args(["--yes", "--type", "thin-pool", "--name", POOL])
            .args(["--extents", "100%FREE", "--addtag", &self.mark]);
        if let Some(chunk) = chunk {
            lvcreate = lvcreate.args(["--chunksize", &format!("{}k", chunk.0 / 1024)]);
        }
        context.run(self.layer, &lvcreate.arg(&self.name))?;
        let text = context.run(self.layer, &self.report_pool("lv_size"))?.text();
        text.trim().parse().map(Bytes).map_err(|_| StackError::Output {
            command: format!("lvs {}/{POOL}", self.name),
            expected: "a number of bytes",
            found: text.trim().to_owned(),
        })
    }

    /// Makes the volume on the thin pool, and returns its node.
    ///
    /// # Errors
    /// As for [`VolumeGroup::volume`].
    pub(super) fn thin_volume(
        &self,
        size: Bytes,
        context: &LayerContext<'_>,
    ) -> Result<PathBuf, StackError> {
        let lvcreate = lvm("lvcreate", &self.filter)
            .args(["--yes", "--wipesignatures", "n", "--type", "thin", "--name", LOGICAL_VOLUME])
            .args(["--virtualsize", &format!("{}b", size.0), "--thinpool", POOL])
            .arg(&self.name);
        context.run(self.layer, &lvcreate)?;
        wait_for_node(context, self.layer, &self.node())
    }

    /// Has the logical volume have other settings.
    pub(super) fn change(&self, settings: &[String]) -> Invocation {
        let volume = format!("{}/{LOGICAL_VOLUME}", self.name);
        lvm("lvchange", &self.filter).arg("--yes").args(settings).arg(volume)
    }

    /// Asks for a field of the logical volume, such as `sync_percent`.
    pub(super) fn report(&self, field: &str) -> Invocation {
        self.field(field, LOGICAL_VOLUME)
    }

    /// The same of the pool.
    pub(super) fn report_pool(&self, field: &str) -> Invocation {
        self.field(field, POOL)
    }

    fn field(&self, field: &str, volume: &str) -> Invocation {
        lvm("lvs", &self.filter)
            .args(["--noheadings", "--nosuffix", "--units", "b", "--options", field])
            .arg(format!("{}/{volume}", self.name))
    }

    /// Device-mapper doubles the hyphens within a name (dmsetup(8)).
    fn node(&self) -> PathBuf {
        Path::new("/dev/mapper").join(format!("{}-{LOGICAL_VOLUME}", self.name.replace('-', "--")))
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
            .arg(format!("{}/{LOGICAL_VOLUME}", group.name))
            .arg(device);
        context.run(group.layer, &lvextend)?;
    }
    Ok(())
}
