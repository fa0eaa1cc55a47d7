//! The shape of a fileset: which directories and files there are, and how large.

use crate::random::{Uniform, below, gamma};
use crate::{Attribute, Fileset};

/// Most files, and most empty directories, of a fileset: 16 times upstream's
/// 1,048,576. Each file takes 12 bytes of memory, with its state in [`Picks`]
/// less than 17.
///
/// [`Picks`]: crate::Picks
pub const MAX_ENTRIES: u64 = 1 << 24;
/// Most directories.
const MAX_DIRECTORIES: usize = 1 << 24;
/// Directories are never deeper: a path of 9 bytes for each stays well below
/// PATH_MAX (4096).
const MAX_DEPTH: u32 = 255;

/// A directory with files or directories in it.
#[derive(Debug, Clone, Copy)]
struct Directory {
    /// The directory it is in; the root's own number for the root.
    parent: u32,
    /// Its number in there, from 1: its name.
    serial: u32,
    /// Its first file, of as many as follow in a row.
    first_file: u32,
    /// Its first empty directory, and the number that names it.
    first_leaf: u32,
    first_leaf_serial: u32,
}

#[derive(Debug, Clone)]
enum Sizes {
    Same(u64),
    Each(Vec<u64>),
}

/// The directories and files of a fileset, drawn once.
///
/// As in Filebench (`fileset_populate` of `fileset.c`): the root holds as many
/// trees as it takes for all entries. Each directory draws a depth and a width; one
/// as deep as its draw is filled with files, any other with directories. Names are
/// numbers, `%08d`, from 1 in each directory, so a single file is
/// `00000001/00000001`.
///
/// One difference: a directory that gets files and empty directories numbers them
/// on; upstream gives both the same names, and then cannot make one of them.
#[derive(Debug, Clone)]
pub struct FilesetTree {
    directories: Vec<Directory>,
    file_parents: Vec<u32>,
    leaf_parents: Vec<u32>,
    sizes: Sizes,
    bytes: u64,
}

/// A directory that is being filled.
struct Frame {
    directory: u32,
    depth: u32,
    width: f64,
    leaf: bool,
    /// Files come first, then empty directories.
    second: bool,
    /// Children of this round.
    made: f64,
    /// Children of both rounds.
    serial: u32,
}

/// Why a fileset's tree cannot be drawn.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    /// More files or empty directories than fit.
    #[error("the fileset '{fileset}' has {drawn} {what}; at most {MAX_ENTRIES} are possible")]
    Entries {
        /// Its name.
        fileset: String,
        /// As many were drawn.
        drawn: u64,
        /// Of which attribute.
        what: &'static str,
    },
    /// More directories than fit.
    #[error(
        "the fileset '{fileset}' would have more than {MAX_DIRECTORIES} directories; a larger \
         'dirwidth' makes fewer"
    )]
    Directories {
        /// Its name.
        fileset: String,
    },
}

impl FilesetTree {
    /// Draws a tree. The same generator in the same state gives the same tree.
    ///
    /// # Errors
    /// [`TreeError`] if the draws ask for more than fits.
    pub fn build(fileset: &Fileset, rng: &mut impl Uniform) -> Result<Self, TreeError> {
        let entries = fileset.entries.draw(rng);
        let leafdirs = fileset.leafdirs.draw(rng);
        for (n, what) in [(entries, "entries"), (leafdirs, "leafdirs")] {
            if n > MAX_ENTRIES {
                return Err(TreeError::Entries { fileset: fileset.name.clone(), drawn: n, what });
            }
        }
        // Both fit: MAX_ENTRIES is below 2^32.
        let mut growth = Growth {
            fileset,
            mean_width: match &fileset.dir_width {
                Attribute::Random(variable) => variable.mean.trunc(),
                value => value.draw(rng) as f64,
            },
            mean_depth: 0.0,
            entries: entries as usize,
            leafdirs: leafdirs as usize,
            tree: Self {
                directories: Vec::new(),
                file_parents: Vec::with_capacity(entries as usize),
                leaf_parents: Vec::with_capacity(leafdirs as usize),
                sizes: Sizes::Same(0),
                bytes: 0,
            },
        };
        growth.mean_depth = ((entries + leafdirs) as f64).ln() / growth.mean_width.ln();
        growth.grow(rng)?;
        let mut tree = growth.tree;
        tree.draw_sizes(fileset, rng);
        Ok(tree)
    }

    fn draw_sizes(&mut self, fileset: &Fileset, rng: &mut impl Uniform) {
        let n = self.file_parents.len();
        let each: Vec<u64> = match &fileset.size {
            Attribute::Random(variable) => (0..n).map(|_| variable.draw(rng) as u64).collect(),
            value => {
                let mean = value.draw(rng);
                if fileset.size_shape <= 0.0 || mean == 0 {
                    self.bytes = mean.saturating_mul(n as u64);
                    self.sizes = Sizes::Same(mean);
                    return;
                }
                let scale = mean as f64 / fileset.size_shape;
                (0..n).map(|_| gamma(rng, fileset.size_shape, scale) as u64).collect()
            }
        };
        self.bytes = each.iter().fold(0, |sum, size| sum.saturating_add(*size));
        self.sizes = Sizes::Each(each);
    }

    /// Number of files, existing or not.
    pub fn files(&self) -> usize {
        self.file_parents.len()
    }

    /// Number of directories that hold files or directories; number 0 is the root,
    /// the fileset's own directory. Each comes after the one that it is in.
    pub fn directories(&self) -> usize {
        self.directories.len()
    }

    /// Number of directories that stay empty.
    pub fn leaf_directories(&self) -> usize {
        self.leaf_parents.len()
    }

    /// Bytes of all files together.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes of a file as drawn. What is written to it never changes that. 0 for a
    /// number that is too high.
    pub fn file_size(&self, file: usize) -> u64 {
        match &self.sizes {
            Sizes::Same(size) => *size,
            Sizes::Each(each) => each.get(file).copied().unwrap_or_default(),
        }
    }

    /// By index; 0 is the fileset's root.
    pub fn directory_of(&self, file: usize) -> usize {
        self.file_parents.get(file).map_or(0, |parent| *parent as usize)
    }

    /// A file's number in its directory, from 1: its name, with `{:08}`. 0 for a
    /// number that is too high.
    pub fn serial_of(&self, file: usize) -> u32 {
        let Some(parent) = self.file_parents.get(file) else { return 0 };
        let first = self.directories.get(*parent as usize).map_or(0, |d| d.first_file);
        (file as u32).wrapping_sub(first) + 1
    }

    /// The directory that an empty directory is in.
    pub fn directory_of_leaf(&self, leaf: usize) -> usize {
        self.leaf_parents.get(leaf).map_or(0, |parent| *parent as usize)
    }

    /// An empty directory's number in its directory: its name. 0 for a number that is
    /// too high.
    pub fn serial_of_leaf(&self, leaf: usize) -> u32 {
        let Some(parent) = self.leaf_parents.get(leaf) else { return 0 };
        let Some(directory) = self.directories.get(*parent as usize) else { return 0 };
        (leaf as u32).wrapping_sub(directory.first_leaf) + directory.first_leaf_serial
    }

    /// The directory that a directory is in; the root is in itself.
    pub fn directory_of_directory(&self, directory: usize) -> usize {
        self.directories.get(directory).map_or(0, |d| d.parent as usize)
    }

    /// A directory's number in the one that it is in: its name.
    pub fn serial_of_directory(&self, directory: usize) -> u32 {
        self.directories.get(directory).map_or(0, |d| d.serial)
    }

    /// Appends a file's path below the fileset's directory: `00000001/00000007`.
    /// Nothing for a number that is too high.
    pub fn push_file_path(&self, file: usize, path: &mut String) {
        let Some(parent) = self.file_parents.get(file) else { return };
        self.push_directory_path(*parent as usize, path);
        push_name(path, self.serial_of(file));
    }

    /// Appends an empty directory's path.
    pub fn push_leaf_path(&self, leaf: usize, path: &mut String) {
        let Some(parent) = self.leaf_parents.get(leaf) else { return };
        self.push_directory_path(*parent as usize, path);
        push_name(path, self.serial_of_leaf(leaf));
    }

    /// Appends a directory's path; nothing for the root.
    pub fn push_directory_path(&self, directory: usize, path: &mut String) {
        let mut serials = [0; MAX_DEPTH as usize + 2];
        let mut depth = 0;
        let mut at = directory;
        while at != 0
            && let Some(found) = self.directories.get(at)
            && let Some(slot) = serials.get_mut(depth)
        {
            *slot = found.serial;
            depth += 1;
            at = found.parent as usize;
        }
        for serial in serials[..depth].iter().rev() {
            push_name(path, *serial);
        }
    }

    /// Memory that it takes, in bytes.
    pub fn memory(&self) -> usize {
        let sizes = if let Sizes::Each(each) = &self.sizes { each.capacity() * 8 } else { 0 };
        self.directories.capacity() * size_of::<Directory>()
            + (self.file_parents.capacity() + self.leaf_parents.capacity()) * 4
            + sizes
    }
}

/// Appends `/00000001`, without the slash at the beginning of a text: `%08d`, by
/// hand, as every operation on a file may build its path.
fn push_name(path: &mut String, serial: u32) {
    if !path.is_empty() && !path.ends_with('/') {
        path.push('/');
    }
    let mut digits = [b'0'; 10];
    let mut rest = serial;
    let mut first = digits.len();
    for digit in digits.iter_mut().rev() {
        if rest == 0 {
            break;
        }
        *digit += (rest % 10) as u8;
        rest /= 10;
        first -= 1;
    }
    // At least eight of them.
    for digit in &digits[first.min(2)..] {
        path.push(char::from(*digit));
    }
}

/// Which of `count` entries exist before the run, in the order in which to make
/// them: each with a chance of `percent`, in random order, so that neighbours of
/// the tree are no neighbours on the disk.
pub fn preallocated(count: usize, percent: u64, rng: &mut impl Uniform) -> Vec<u32> {
    let chance = percent.min(100) as f64 / 100.0;
    let exist = |_: &u32| percent >= 100 || rng.unit() < chance;
    let mut order: Vec<u32> = (0..count as u32).filter(exist).collect();
    for i in (1..order.len()).rev() {
        order.swap(i, below(rng, i as u64 + 1) as usize);
    }
    order
}

struct Growth<'a> {
    fileset: &'a Fileset,
    mean_width: f64,
    mean_depth: f64,
    entries: usize,
    leafdirs: usize,
    tree: FilesetTree,
}

impl Growth<'_> {
    /// `fileset_populate_subdir`, without its recursion.
    fn grow(&mut self, rng: &mut impl Uniform) -> Result<(), TreeError> {
        let root = self.directory(0, 0, 1, rng)?;
        let mut stack = vec![root];
        while let Some(frame) = stack.last_mut() {
            let root = frame.directory == 0;
            let (have, want) = if frame.second {
                (self.tree.leaf_parents.len(), self.leafdirs)
            } else {
                (self.tree.file_parents.len(), self.entries)
            };
            if have >= want || (!root && frame.made >= frame.width) {
                if frame.second {
                    stack.pop();
                } else {
                    frame.second = true;
                    frame.made = 0.0;
                    if let Some(directory) = self.tree.directories.get_mut(frame.directory as usize)
                    {
                        directory.first_leaf = self.tree.leaf_parents.len() as u32;
                        directory.first_leaf_serial = frame.serial + 1;
                    }
                }
            } else if frame.leaf && !root {
                // All at once: a width of 2.5 gives 3.
                let n = ((frame.width.ceil()).min(want as f64) as usize).clamp(1, want - have);
                let list = if frame.second {
                    &mut self.tree.leaf_parents
                } else {
                    &mut self.tree.file_parents
                };
                list.resize(have + n, frame.directory);
                frame.made = frame.width;
                frame.serial += n as u32;
            } else {
                frame.made += 1.0;
                frame.serial += 1;
                let (parent, serial, depth) = (frame.directory, frame.serial, frame.depth + 1);
                stack.push(self.directory(parent, serial, depth, rng)?);
            }
        }
        Ok(())
    }

    fn directory(
        &mut self,
        parent: u32,
        serial: u32,
        depth: u32,
        rng: &mut impl Uniform,
    ) -> Result<Frame, TreeError> {
        let number = self.tree.directories.len();
        if number >= MAX_DIRECTORIES {
            return Err(TreeError::Directories { fileset: self.fileset.name.clone() });
        }
        let shape = self.fileset.dir_shape;
        let drawn = match &self.fileset.dir_depth {
            // Its mean is set to the depth that the entries ask for.
            Some(Attribute::Random(variable)) => variable.draw_about(rng, self.mean_depth),
            _ if shape > 0.0 => gamma(rng, shape, self.mean_depth / shape),
            _ => self.mean_depth,
        };
        // The logarithm of a width of 1 is 0, and the depth infinite: upstream's
        // number then overflows, and it makes one level.
        let deepest =
            if drawn.is_finite() { drawn.clamp(1.0, f64::from(MAX_DEPTH)) as u32 } else { 1 };
        let width = match &self.fileset.dir_width {
            Attribute::Random(variable) => variable.draw(rng),
            _ if shape > 0.0 => gamma(rng, shape, self.mean_width / shape),
            _ => self.mean_width,
        };
        self.tree.directories.push(Directory {
            parent,
            serial,
            first_file: self.tree.file_parents.len() as u32,
            first_leaf: 0,
            first_leaf_serial: 1,
        });
        Ok(Frame {
            directory: number as u32,
            depth,
            // Also what is no number.
            width: if width > 0.0 { width } else { 1.0 },
            leaf: depth >= deepest,
            second: false,
            made: 0.0,
            serial: 0,
        })
    }
}

#[cfg(test)]
mod tests;
