//! A host, as the table `[lab.host]` of a study describes it.

use disklab_config::{Fields, Node};
use disklab_source::{SourceError, one_of};
use disklab_units::{Bytes, parse_nanoseconds};

use crate::CacheMode;

/// Bytes of a page of memory.
pub(crate) const PAGE: u64 = 4096;

/// QEMU's pool of threads for requests (`posix-aio-compat.c` since 0.11,
/// `util/thread-pool.c` today): 64 at most.
const THREADS: u64 = 64;
/// Linux's window for reading ahead (`VM_MAX_READAHEAD`, `VM_READAHEAD_PAGES`).
const READ_AHEAD: Bytes = Bytes::kib(128);
/// One request's way through QEMU's main thread. Recalled: before its data plane, QEMU
/// was measured at some 140,000 requests per second of one guest (Huynh and Hajnoczi,
/// LinuxCon 2012), and one thread has them all.
const REQUEST_NS: u64 = 7_000;
/// Between the page cache and the guest's memory. Inferred: one processor copies from 4
/// to 10 GB/s of memory that is in none of its caches.
const COPY: f64 = 5e9;

/// The host below a guest.
#[derive(Debug, Clone, PartialEq)]
pub struct HostSettings {
    /// How the virtual disk is opened.
    pub cache: CacheMode,
    /// Memory that the host has for pages of this disk, bytes; 0 where the mode uses none.
    pub memory: u64,
    /// The most that is read ahead at a time, bytes.
    pub read_ahead: u64,
    /// Requests that QEMU carries out at a time.
    pub threads: u64,
    /// Writes that the host lets into the image at a time.
    pub writes_at_once: u64,
    /// What a request takes of QEMU's main thread, ns; one after the other.
    pub request: u64,
    /// At which rate data are copied from and to the page cache, B/s.
    pub copy: f64,
    /// Share of the memory above which dirty pages are written in the background, and
    /// above which writers wait, per cent (`vm.dirty_background_ratio`,
    /// `vm.dirty_ratio`; kernel: Documentation/admin-guide/sysctl/vm.rst).
    pub dirty: (u64, u64),
}

/// Reads a host from a table.
///
/// # Errors
/// Where a field is unknown, missing or impossible; the error shows the place.
pub fn from_node(node: &Node) -> Result<HostSettings, SourceError> {
    with_cache(node, None)
}

/// Reads a host from a table, with another cache mode than its own.
///
/// # Errors
/// As for [`from_node`].
pub fn with_cache(node: &Node, other: Option<CacheMode>) -> Result<HostSettings, SourceError> {
    let mut fields = Fields::new(node, "the host")?;
    let own = fields.choice("cache", &CacheMode::ALL)?;
    let memory = fields.bytes("memory")?;
    let read_ahead = fields.bytes("read-ahead")?.unwrap_or(READ_AHEAD);
    let threads = fields.integer("threads", 1..=1024)?.unwrap_or(THREADS);
    let file = fields.choice("image", &[("file", true), ("device", false)])?.unwrap_or(true);
    let writes_at_once = fields.integer("writes-at-once", 1..=1024)?;
    let request = fields.take("request").map(time).transpose()?.unwrap_or(REQUEST_NS);
    let copy = fields.take("copy").map(rate).transpose()?.unwrap_or(COPY);
    let background = fields.integer("dirty-background", 1..=99)?.unwrap_or(10);
    let limit = fields.integer("dirty-limit", 2..=100)?.unwrap_or(20);
    // A misspelt field is told before the one that is missing for it.
    fields.finish()?;
    let cache = match other.or(own) {
        Some(cache) => cache,
        None => {
            let words = one_of(CacheMode::ALL.iter().map(|(word, _)| *word));
            return Err(node.error(format!("the host needs a field 'cache': {words}")));
        }
    };
    let memory = memory_for(node, cache, memory)?;
    if read_ahead.0 > MOST_READ_AHEAD {
        return Err(node.error(format!(
            "a host that reads {} ahead: expected up to {}",
            read_ahead.iec(),
            Bytes(MOST_READ_AHEAD).iec()
        )));
    }
    if background >= limit {
        return Err(node.error(format!(
            "`dirty-background` of {background} % must be below `dirty-limit` of {limit} %"
        )));
    }
    // A buffered write locks the inode, on all of Linux's file systems; a block device
    // has no such lock (`blkdev_write_iter`, block/fops.c).
    let locked = if file && cache.page_cache { 1 } else { threads };
    Ok(HostSettings {
        cache,
        memory,
        read_ahead: read_ahead.0,
        threads,
        writes_at_once: writes_at_once.unwrap_or(locked),
        request,
        copy,
        dirty: (background, limit),
    })
}

/// What a host has for pages of the disk; 0 if it keeps none.
fn memory_for(node: &Node, cache: CacheMode, given: Option<Bytes>) -> Result<u64, SourceError> {
    match given {
        Some(Bytes(memory)) if (LEAST_MEMORY..=MOST_MEMORY).contains(&memory) => Ok(memory),
        Some(memory) => Err(node.error(format!(
            "a host's `memory` of {}: expected what it has for pages of this disk, from {} to {}",
            memory.iec(),
            Bytes(LEAST_MEMORY).iec(),
            Bytes(MOST_MEMORY).iec()
        ))),
        None if !cache.page_cache => Ok(0),
        None => Err(node.error(format!(
            "a host with `cache = \"{}\"` needs a field 'memory': what it has for pages of this \
             disk, such as '4 GiB'",
            cache.word
        ))),
    }
}

/// A page cache must hold more than some requests.
const LEAST_MEMORY: u64 = 64 << 20;
/// No machine has more.
const MOST_MEMORY: u64 = 64 << 40;
/// More is no window any more.
const MOST_READ_AHEAD: u64 = 64 << 20;

impl HostSettings {
    /// What it is, for a sentence: `cache=writeback with 28 GiB of page cache`.
    pub fn about(&self) -> String {
        let memory = if self.cache.page_cache {
            format!(" with {} of page cache", Bytes(self.memory).iec())
        } else {
            String::new()
        };
        let writes = if self.writes_at_once == 1 { ", one write at a time" } else { "" };
        format!("cache={}{memory}{writes}", self.cache.word)
    }

    /// Time to copy so many bytes, ns.
    pub(crate) fn copying(&self, bytes: u64) -> u64 {
        // A rate of 1 MB/s or more, and requests of at most some MiB.
        (bytes as f64 / self.copy * 1e9).round() as u64
    }
}

fn time(node: &Node) -> Result<u64, SourceError> {
    let text = node.as_text()?;
    parse_nanoseconds(&text).filter(|ns| *ns <= 1_000_000_000).ok_or_else(|| {
        node.error(format!(
            "`request`: expected a time from 0 ns to 1 s such as '7 us', found '{text}'"
        ))
    })
}

fn rate(node: &Node) -> Result<f64, SourceError> {
    let text = node.as_text()?;
    let size = text.trim().strip_suffix("/s").and_then(|size| size.trim().parse::<Bytes>().ok());
    size.map(|bytes| bytes.0 as f64).filter(|rate| (1e6..=1e13).contains(rate)).ok_or_else(|| {
        node.error(format!(
            "`copy`: expected a rate from 1 MB/s to 10 TB/s such as '5 GB/s', found '{text}'"
        ))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use disklab_source::Source;
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<HostSettings, String> {
        let source = Arc::new(Source { name: "s.toml".to_owned(), text: text.to_owned() });
        let node = Node::parse(&source).map_err(|e| e.to_string())?;
        from_node(&node).map_err(|e| e.to_string())
    }

    #[test]
    fn a_file_takes_one_buffered_write_at_a_time() {
        let host = read("cache = 'writeback'\nmemory = '28 GiB'").unwrap();
        assert_eq!((host.writes_at_once, host.threads, host.read_ahead), (1, 64, 128 << 10));
        assert_eq!(host.memory, 28 << 30);
        assert!(host.about().contains("cache=writeback with 28 GiB of page cache, one write"));
        assert_eq!(read("cache = 'none'").unwrap().writes_at_once, 64);
        let old = read("cache = 'none'\nwrites-at-once = 1\nrequest = '0 ns'").unwrap();
        assert_eq!((old.writes_at_once, old.request, old.memory), (1, 0, 0));
        let device = read("cache = 'writethrough'\nimage = 'device'\nmemory = '1 GiB'").unwrap();
        assert_eq!(device.writes_at_once, 64);
        assert_eq!(device.copying(5000), 1000);
    }

    #[test]
    fn impossible_hosts_are_refused_at_their_place() {
        for (text, expected) in [
            ("memory = '1 GiB'", "needs a field 'cache': 'none'"),
            ("cache = 'writeback'", "needs a field 'memory'"),
            ("cache = 'write-back'", "did you mean 'writeback'"),
            ("cache = 'writeback'\nmemory = '1 MiB'", "from 64 MiB"),
            ("cache = 'none'\nthreads = 0", "from 1 to 1024"),
            ("cache = 'none'\nread-ahead = '1 GiB'", "up to 64 MiB"),
            ("cache = 'none'\nrequest = '2 s'", "such as '7 us'"),
            ("cache = 'none'\ncopy = '5 GB'", "such as '5 GB/s'"),
            ("cache = 'none'\nimage = 'qcow2'", "'file' or 'device'"),
            ("cache = 'none'\ndirty-background = 30", "must be below"),
            ("cache = 'none'\nreadahead = '1 MiB'", "did you mean 'read-ahead'"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(expected) && error.starts_with("s.toml:"), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn hostile_text_is_refused_or_possible(field in "[a-z-]{1,12}", value in "\\PC{0,12}") {
            for name in [field.as_str(), "memory", "copy", "request", "threads", "dirty-limit"] {
                let text = format!("cache = 'writeback'\n{name} = '''{value}'''");
                if let Ok(host) = read(&text) {
                    prop_assert!(host.memory >= LEAST_MEMORY && host.copy >= 1e6);
                    prop_assert!(host.threads >= 1 && host.writes_at_once >= 1);
                }
            }
        }
    }
}
