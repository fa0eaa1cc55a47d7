//! What a personality says of its files.

use disklab_source::Location;

use crate::Attribute;

/// Number of a fileset in [`Personality::filesets`](crate::Personality::filesets).
pub type FilesetId = usize;

/// A tree of files, or (`define file`) a single one.
#[derive(Debug, Clone)]
pub struct Fileset {
    /// Its name: one component of a path, never `.` or `..`, unique.
    pub name: String,
    /// `path`: the directory that the script wants it in, variables replaced. A
    /// runner need not obey: it knows where its files belong.
    pub path: String,
    /// Whether it is a single file (`define file`): one entry in one directory.
    pub single: bool,
    /// `entries`: number of files, existing or not.
    pub entries: Attribute,
    /// `leafdirs`: number of directories that stay empty, for `makedir` and
    /// `removedir`.
    pub leafdirs: Attribute,
    /// `size`: bytes of a file, drawn once per file and never changed by what is
    /// written to it.
    pub size: Attribute,
    /// `filesizegamma`/1000, of old scripts: where above 0, a constant `size` is
    /// the mean of a gamma distribution of this shape.
    pub size_shape: f64,
    /// `dirwidth`: mean number of entries of a directory; 0 counts as 1.
    pub dir_width: Attribute,
    /// `dirgamma`/1000: shape of the gamma distribution of depths and widths; 0
    /// makes them exact.
    pub dir_shape: f64,
    /// `dirdepthrv`: draws the depth of each directory, in place of the mean that
    /// follows from entries and width.
    pub dir_depth: Option<Attribute>,
    /// `prealloc`: the share of the entries, in percent (0 to 100), that exist
    /// before the run.
    pub prealloc: Attribute,
    /// `paralloc`: they may be made by several threads (upstream: one per file,
    /// at most 32 at once).
    pub paralloc: bool,
    /// `reuse`: a tree that is there already is kept: equal size kept, larger
    /// truncated, smaller written anew.
    pub reuse: bool,
    /// `trusttree`: with `reuse`, nothing is looked at.
    pub trust_tree: bool,
    /// `readonly`: files are opened for reading only.
    pub read_only: bool,
    /// `writeonly`: files are opened for writing only.
    pub write_only: bool,
    /// Where it is defined.
    pub place: Location,
}

impl Fileset {
    /// Bytes of all files, on average over all draws; what is appended comes on top.
    pub fn expected_bytes(&self) -> f64 {
        self.entries.mean() * self.size.mean()
    }

    /// Bytes of the files that exist before the run, on average.
    pub fn expected_bytes_before(&self) -> f64 {
        self.expected_bytes() * self.prealloc.mean() / 100.0
    }
}
