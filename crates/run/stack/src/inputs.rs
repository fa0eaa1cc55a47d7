//! What a layer is built on besides its data.

use disklab_units::Bytes;

use crate::{ShapeError, Volume};

/// An input that a kind of layer has: a line of its table.
#[derive(Debug)]
pub struct InputKind {
    /// Its name in a study, such as `log`.
    pub name: &'static str,
    /// What it is for.
    pub summary: &'static str,
    /// The most devices.
    pub most: usize,
    /// What happens if its devices die.
    pub if_lost: &'static str,
}

impl InputKind {
    /// What it is for, how many devices it takes and what their loss means, in words.
    pub fn words(&self) -> String {
        let count =
            if self.most == 1 { "one device".to_owned() } else { format!("up to {}", self.most) };
        format!("{} ({count}). If lost: {}", self.summary, self.if_lost)
    }
}

/// Devices by input.
#[derive(Debug, Clone, PartialEq)]
pub struct Inputs<T>(Vec<(&'static str, Vec<T>)>);

impl<T> Default for Inputs<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Inputs<T> {
    /// Adds those of an input.
    pub(crate) fn add(&mut self, name: &'static str, devices: Vec<T>) {
        self.0.push((name, devices));
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The devices of an input.
    pub fn get(&self, name: &str) -> &[T] {
        self.0.iter().find(|(known, _)| *known == name).map_or(&[], |(_, devices)| devices)
    }

    /// All devices, input by input.
    pub fn all(&self) -> impl Iterator<Item = &T> {
        self.0.iter().flat_map(|(_, devices)| devices)
    }

    /// Those of each input.
    pub fn each(&self) -> impl Iterator<Item = (&'static str, &[T])> {
        self.0.iter().map(|(name, devices)| (*name, devices.as_slice()))
    }

    /// The same inputs with other devices in their place.
    pub(crate) fn with(&self, devices: impl IntoIterator<Item = T>) -> Self {
        let mut devices = devices.into_iter();
        let same = |(name, old): &(&'static str, Vec<T>)| {
            (*name, devices.by_ref().take(old.len()).collect())
        };
        Self(self.0.iter().map(same).collect())
    }
}

impl Inputs<Volume> {
    /// # Errors
    /// [`ShapeError::InputTooSmall`] if a device of this input has less than `least`.
    pub(crate) fn check_size(
        &self,
        layer: &'static str,
        input: &'static str,
        least: Bytes,
    ) -> Result<(), ShapeError> {
        match self.get(input).iter().map(|volume| volume.size).min() {
            Some(got) if got < least => Err(ShapeError::InputTooSmall { layer, input, least, got }),
            _ => Ok(()),
        }
    }
}
