//! A whole stack.

use std::path::{Path, PathBuf};

use disklab_cell::{LayerSpec, PlannedLayer};
use disklab_exec::Invocation;
use disklab_source::{SourceError, did_you_mean, one_of};
use disklab_study::StackSpec;
use disklab_units::Bytes;

use crate::{
    DeviceState, Form, FormatWrites, KeptWrites, LAYERS, Layer, LayerContext, LayerKind, Need,
    Remount, Shape, ShapeError, StackError, Volume, find_layer,
};

/// The size of the drives on which [`Stack::parse`] tries whether the layers
/// fit together: 1 PiB, too large to be the reason for a refusal.
const AMPLE: Bytes = Bytes(1 << 50);

/// A stack whose layers are understood.
#[derive(Debug)]
pub struct Stack {
    layers: Vec<(LayerSpec, Box<dyn Layer>)>,
}

/// A stack that stands.
#[derive(Debug, Clone)]
pub struct Made {
    /// The directory that it ends in.
    pub directory: PathBuf,
    /// The block device right below the file system, where there is exactly one.
    pub device: Option<PathBuf>,
    /// How that directory is unmounted and mounted again.
    pub remount: Option<Remount>,
}

impl Stack {
    /// Understands the layers of a stack, and sees that they fit on each other
    /// and on the number of its drives.
    ///
    /// # Errors
    /// Where a layer or an option is unknown, or a layer cannot be built on what
    /// is below it; the error shows the place.
    pub fn parse(spec: &StackSpec) -> Result<Self, SourceError> {
        let stack = Self::read(&spec.layers)?;
        stack.check_fit(spec, |_| true)?;
        Ok(stack)
    }

    /// The same on drives that are not the study's own: a stack that needs another number of
    /// them is left out when a bench has its sizes, and no error.
    ///
    /// # Errors
    /// As for [`Stack::parse`], but for the number of drives.
    pub fn parse_for_other_drives(spec: &StackSpec) -> Result<Self, SourceError> {
        let stack = Self::read(&spec.layers)?;
        stack.check_fit(spec, |why| !why.is_of_number())?;
        Ok(stack)
    }

    /// Understands the layers of a cell's plan, bottom-up.
    ///
    /// # Errors
    /// Where a layer or an option is unknown, in the notation of the layers.
    pub fn of_plan(layers: &[PlannedLayer]) -> Result<Self, SourceError> {
        Self::read(&PlannedLayer::placed(layers)?)
    }

    fn read(specs: &[LayerSpec]) -> Result<Self, SourceError> {
        let mut layers = Vec::with_capacity(specs.len());
        for layer in specs {
            let kind = find_layer(&layer.name).ok_or_else(|| {
                let known = LAYERS.iter().map(|kind| kind.name);
                layer.error(format!(
                    "unknown layer '{}'{}; known: {}",
                    layer.name,
                    did_you_mean(&layer.name, known.clone()),
                    one_of(known)
                ))
            })?;
            check_options(kind, layer)?;
            layers.push((layer.clone(), (kind.parse)(layer)?));
        }
        Ok(Self { layers })
    }

    /// Tries whether the layers fit on each other and on the number of drives, as far as `counts`
    /// says.
    fn check_fit(
        &self,
        spec: &StackSpec,
        counts: impl Fn(&ShapeError) -> bool,
    ) -> Result<(), SourceError> {
        if spec.drives.is_empty() {
            return Ok(());
        }
        let Err((index, why)) = self.volume(&vec![AMPLE; spec.drives.len()], None) else {
            return Ok(());
        };
        if !counts(&why) {
            return Ok(());
        }
        let place = index.and_then(|i| spec.layers.get(i)).map_or(&spec.place, |l| &l.place);
        let below = index.and_then(|i| spec.layers.get(i.checked_sub(1)?));
        let remedy = below.and_then(|below| groups_instead(&why, below));
        Err(place.error(format!("stack '{}': {why}{}", spec.id, remedy.unwrap_or_default())))
    }

    /// Its layers, bottom-up.
    pub fn planned(&self) -> Vec<PlannedLayer> {
        self.layers.iter().map(|(spec, _)| PlannedLayer::from(spec)).collect()
    }

    /// The notation of its layers, bottom-up, as a study has it.
    pub fn describe(&self) -> String {
        PlannedLayer::notation(&self.planned())
    }

    /// What making it on drives of these sizes and in this state writes.
    pub fn format_writes(&self, drives: &[Bytes], mut state: DeviceState) -> FormatWrites {
        let mut writes = FormatWrites { bytes: vec![0.0; drives.len()], ..Default::default() };
        let mut shape = Shape::drives(drives);
        for (_, layer) in &self.layers {
            writes = writes.and(layer.format_writes(&shape, state));
            state.reads_zeros = layer.leaves_zeros(state.reads_zeros);
            match layer.shape(&shape) {
                Ok(next) => shape = next,
                Err(_) => break,
            }
        }
        writes
    }

    /// What its drives keep of what is written to it, besides the data as they are at last.
    pub fn kept_writes(&self) -> KeptWrites {
        let kept = self.layers.iter().map(|(_, layer)| layer.kept_writes());
        kept.fold(KeptWrites::default(), KeptWrites::and)
    }

    /// Whether a layer of it is a pool, which is exported and imported to empty its cache.
    pub fn is_imported(&self) -> bool {
        self.layers.iter().any(|(_, layer)| layer.is_imported())
    }

    /// What it will be on drives of these sizes.
    ///
    /// # Errors
    /// The layer that cannot be built on them, and why.
    pub fn shape(&self, drives: &[Bytes]) -> Result<Volume, ShapeError> {
        self.volume(drives, None).map_err(|(_, why)| why)
    }

    /// The same, but with bytes written to each drive as the first so many bytes of data on
    /// a fresh one cause them: Btrfs puts these on some of its drives.
    ///
    /// # Errors
    /// As for [`Stack::shape`].
    pub fn shape_of_first(&self, drives: &[Bytes], data: Bytes) -> Result<Volume, ShapeError> {
        self.volume(drives, Some(data)).map_err(|(_, why)| why)
    }

    /// As [`Stack::shape_of_first`], or [`Stack::shape`] where no data are told; an error
    /// says which layer it was.
    fn volume(
        &self,
        drives: &[Bytes],
        data: Option<Bytes>,
    ) -> Result<Volume, (Option<usize>, ShapeError)> {
        let mut shape = Shape::drives(drives);
        for (index, (_, layer)) in self.layers.iter().enumerate() {
            let next = match data {
                Some(data) => layer.shape_of_first(&shape, data),
                None => layer.shape(&shape),
            };
            shape = next.map_err(|why| (Some(index), why))?;
        }
        match shape {
            Shape::Directory(volume) | Shape::Pool(volume) => Ok(volume),
            Shape::Devices(_) => Err((None, ShapeError::NoDirectory { below: shape.kind() })),
        }
    }

    /// Everything that its layers cannot do without, each once.
    pub fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Need::Root];
        if !self.layers.is_empty() {
            needs.push(WIPEFS);
        }
        for need in self.layers.iter().flat_map(|(_, layer)| layer.needs()) {
            if !needs.contains(&need) {
                needs.push(need);
            }
        }
        needs
    }

    /// What of it stays in memory when what it ends in is mounted again and the kernel's
    /// caches are dropped, in sentences: caches of its lower layers that neither reaches.
    pub fn keeps_in_memory(&self) -> Vec<String> {
        let below = self.layers.len().saturating_sub(1);
        let mut sentences: Vec<String> = Vec::new();
        for (spec, _) in &self.layers[..below] {
            let sentence = match spec.name.split('-').next() {
                Some("zfs") => {
                    "the ZFS pool below kept what dropping caches leaves in its own cache (ARC)"
                }
                Some("btrfs") => "the Btrfs below kept its trees in memory",
                _ => continue,
            };
            if !sentences.iter().any(|known| known == sentence) {
                sentences.push(sentence.to_owned());
            }
        }
        sentences
    }

    /// Makes it on `devices`, which hold nothing that is still wanted.
    ///
    /// # Errors
    /// Where a layer fails. What was made so far is in the context's ledger.
    pub fn make(
        &self,
        devices: &[PathBuf],
        context: &mut LayerContext<'_>,
    ) -> Result<Made, StackError> {
        wipe(devices, context)?;
        self.build(devices, context, |layer, below, context| {
            let made = layer.make(below, context)?;
            context.below.reads_zeros = layer.leaves_zeros(context.below.reads_zeros);
            Ok(made)
        })
    }

    /// Finds on `devices`, in any order, what [`Stack::make`] made there in a context with the same
    /// seed and tag, and starts it as an operator would after a crash.
    ///
    /// # Errors
    /// Where a layer fails. What was assembled so far is in the context's ledger.
    pub fn assemble(
        &self,
        devices: &[PathBuf],
        context: &mut LayerContext<'_>,
    ) -> Result<Made, StackError> {
        self.build(devices, context, |layer, below, context| layer.assemble(below, context))
    }

    /// Has `step` put each layer on the one below.
    fn build(
        &self,
        devices: &[PathBuf],
        context: &mut LayerContext<'_>,
        step: impl Fn(&dyn Layer, Form, &mut LayerContext<'_>) -> Result<Form, StackError>,
    ) -> Result<Made, StackError> {
        let mut form = Form::Devices(devices.to_vec());
        let mut device = None;
        for (spec, layer) in &self.layers {
            context.executor.interrupt.check().map_err(|stop| StackError::Program {
                layer: spec.name.clone(),
                source: stop.into(),
            })?;
            let below = match &form {
                Form::Devices(devices) => devices.clone(),
                Form::Pool { .. } | Form::Directory(_) => Vec::new(),
            };
            tracing::debug!(layer = %spec, ?form, "next layer");
            form = step(layer.as_ref(), form, context)?;
            device = match (&form, below.as_slice()) {
                (Form::Devices(_), _) => None,
                (_, [one]) => Some(one.clone()),
                // A layer that leaves a directory on a directory changes nothing.
                (_, []) => device,
                _ => None,
            };
        }
        let below = form.kind();
        let (Form::Directory(directory) | Form::Pool { directory, .. }) = form else {
            return Err(ShapeError::NoDirectory { below }.into());
        };
        // What lies below it, such as the file system of a loop file, stays mounted.
        let top = |mounted: &&Remount| mounted.directory() == directory;
        let remount = context.mounted.iter().rev().find(top).cloned();
        Ok(Made { directory, device, remount })
    }
}

const WIPEFS: Need = Need::Program { name: "wipefs", package: "util-linux" };

/// Removes the signatures that an earlier stack left, so that no tool takes the
/// devices for members of what no longer exists. wipefs refuses a device that
/// is in use.
fn wipe(devices: &[PathBuf], context: &LayerContext<'_>) -> Result<(), StackError> {
    if devices.is_empty() || context.drives_are_zero {
        return Ok(());
    }
    let paths = devices.iter().map(PathBuf::as_path).collect::<Vec<&Path>>();
    context.run("stack", &Invocation::new("wipefs").arg("--all").args(paths)).map(|_| ())
}

/// What to do where a layer needs several devices and the one below makes one of all.
fn groups_instead(why: &ShapeError, below: &LayerSpec) -> Option<String> {
    let ShapeError::TooFew { got: 1, .. } = why else { return None };
    let has_width = |kind: &LayerKind| kind.options.iter().any(|(name, _)| *name == "width");
    let several = find_layer(&below.name).is_some_and(has_width) && below.name.starts_with("md-");
    let example = format!("{}[width=4]", below.name);
    several.then(|| format!("; {example} makes an array of each four devices"))
}

/// # Errors
/// [`SourceError`] at the first option that this kind of layer does not have.
fn check_options(kind: &LayerKind, layer: &LayerSpec) -> Result<(), SourceError> {
    if kind.options.iter().any(|(name, _)| *name == LayerKind::ANY_OPTION) {
        return Ok(());
    }
    let known = kind.options.iter().map(|(name, _)| *name);
    for (option, _) in &layer.options {
        if !known.clone().any(|name| name == option) {
            let expected = if kind.options.is_empty() {
                "it has none".to_owned()
            } else {
                format!("expected {}", one_of(known.clone()))
            };
            return Err(layer.error(format!(
                "'{option}' is not an option of {}{}; {expected}",
                kind.name,
                did_you_mean(option, known.clone()),
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
