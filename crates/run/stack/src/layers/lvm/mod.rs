//! LVM: one volume group over all devices below, and one logical volume in it.

use disklab_cell::LayerSpec;
use disklab_source::SourceError;
use disklab_units::Bytes;

use crate::reading::OptionReader;
use crate::redundancy::{devices, members};
use crate::{Layer, LayerContext, LayerKind, LayerOutput, Need, Shape, ShapeError, StackError};

mod care;
mod create;
mod raid;
mod space;
mod thin;

use create::{DEFAULT_STRIPE, STRIPE_SIZE};
pub(crate) use create::{LVM, VolumeGroup, append_all};
pub(super) use raid::{RAID1, RAID5, RAID6, RAID10};
use space::EXTENT;
pub(crate) use space::extents;
pub(super) use thin::KIND as THIN;

/// One logical volume over all devices below.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Lvm {
    /// Over how many devices at a time data is striped; 1 for none.
    stripes: u32,
    /// Bytes on one device before the next one's turn.
    stripe_size: Option<Bytes>,
    /// Of the logical volume; all there is where absent.
    size: Option<Bytes>,
}

pub(super) const KIND: LayerKind = LayerKind {
    name: "lvm",
    summary: "LVM: a volume group over all devices, and one logical volume",
    options: &[
        ("stripes", "devices at a time, 1 to 128 (default 1: one after the other)"),
        STRIPE_SIZE,
        ("size", "of the logical volume, such as 200G (default: all there is)"),
    ],
    inputs: &[],
    parse,
};

fn parse(spec: &LayerSpec) -> Result<Box<dyn Layer>, SourceError> {
    Ok(Box::new(read_options(spec)?))
}

fn read_options(spec: &LayerSpec) -> Result<Lvm, SourceError> {
    let mut reading = OptionReader::new(spec);
    // The most stripes that LVM takes (lvcreate(8)).
    let stripes = reading.integer("stripes", 1..=128)?.unwrap_or(1);
    let stripe_size = reading.power_of_two("stripe-size", Bytes::kib(4), EXTENT)?;
    let size = reading.size("size")?;
    reading.finish()?;
    if stripe_size.is_some() && stripes < 2 {
        return Err(spec.error("lvm: `stripe-size` has a meaning only with `stripes=2` or more"));
    }
    Ok(Lvm { stripes, stripe_size, size })
}

impl Layer for Lvm {
    fn shape(&self, below: &Shape) -> Result<Shape, ShapeError> {
        let members = members("lvm", below)?;
        Ok(Shape::Devices(vec![space::volume(members, self.stripes as usize, self.size)?]))
    }

    fn needs(&self) -> Vec<Need> {
        let target = if self.stripes > 1 { "striped" } else { "linear" };
        vec![Need::Root, LVM, Need::DeviceMapper(target)]
    }

    fn make(
        &self,
        below: LayerOutput,
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError> {
        let devices = devices("lvm", below)?;
        let group = VolumeGroup::create("lvm", &devices, context)?;
        let mut options = Vec::new();
        if self.stripes > 1 {
            let stripe = self.stripe_size.unwrap_or(DEFAULT_STRIPE);
            options.extend(["--stripes".to_owned(), self.stripes.to_string()]);
            options.extend(["--stripesize".to_owned(), format!("{}k", stripe.0 / 1024)]);
        }
        match self.size {
            None => options.extend(["--extents".to_owned(), "100%FREE".to_owned()]),
            Some(size) => options.extend(["--size".to_owned(), format!("{}b", size.0)]),
        }
        Ok(LayerOutput::Devices(vec![group.volume(&options, &[], context)?]))
    }

    fn assemble(
        &self,
        below: LayerOutput,
        context: &mut LayerContext<'_>,
    ) -> Result<LayerOutput, StackError> {
        let (_, node) = VolumeGroup::assemble("lvm", &devices("lvm", below)?, context)?;
        Ok(LayerOutput::Devices(vec![node]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::tests::spec;

    #[test]
    fn options_are_understood() {
        assert_eq!(
            read_options(&spec("lvm[stripes=4,stripe-size=128K,size=200G]")).expect("lvm"),
            Lvm { stripes: 4, stripe_size: Some(Bytes::kib(128)), size: Some(Bytes::gib(200)) }
        );
        for (text, words) in [
            ("lvm[stripes=0]", "an integer from 1 to 128"),
            ("lvm[stripe-size=64K]", "only with `stripes=2`"),
            ("lvm[stripes=2,stripe-size=8M]", "a power of two from 4 KiB to 4 MiB"),
            ("lvm[size=all]", "not a size"),
            ("lvm[stripe=2]", "did you mean 'stripes'"),
        ] {
            let error = read_options(&spec(text)).expect_err(text);
            assert!(error.message.contains(words), "{text}: {}", error.message);
        }
    }
}
