//! The host between a guest and its drives, as the study has it.

use disklab_cell::LabPlan;
use disklab_host::{CacheMode, HostSettings, HostedDrive, with_cache};
use disklab_lab::DiskOptions;
use disklab_source::{Location, SourceError, did_you_mean, one_of};
use disklab_study::Study;

/// Requests that QEMU's virtual disk takes (`queue-size` of virtio-blk: 128 until 4.2,
/// 256 since then; the pool of threads has 64).
const QUEUE: u64 = 128;
/// What a drive takes that does not say.
const DEPTH: u64 = 32;

/// The host of each of the study's stacks; none where the study has none.
///
/// # Errors
/// [`SourceError`] at the setting of a host that is unknown or invalid.
pub(super) fn hosts(study: &Study) -> Result<Vec<Option<HostSettings>>, SourceError> {
    let Some(node) = &study.lab_host else { return Ok(vec![None; study.stacks.len()]) };
    study
        .stacks
        .iter()
        .map(|stack| {
            let cache = stack.host_cache.as_ref().map(|word| cache_mode(word, &stack.place));
            with_cache(node, cache.transpose()?).map(Some)
        })
        .collect()
}

/// The host of a plan; `None` if guests are directly on their drives.
///
/// # Errors
/// Where its table is not that of a host, or the cache mode is unknown.
pub(crate) fn host_of(plan: &LabPlan) -> Result<Option<HostSettings>, SourceError> {
    let Some(host) = &plan.host else { return Ok(None) };
    let cache = host.cache.as_ref().map(|word| cache_mode(word, &host.table.place));
    with_cache(&host.table, cache.transpose()?).map(Some)
}

/// The cache mode that a stack has instead of the host's own.
fn cache_mode(word: &str, place: &Location) -> Result<CacheMode, SourceError> {
    let known = || CacheMode::ALL.iter().map(|(word, _)| *word);
    CacheMode::by_word(word).ok_or_else(|| {
        let hint = did_you_mean(word, known());
        let expected = one_of(known());
        place.error(format!("`host-cache`: expected {expected}, found '{word}'{hint}"))
    })
}

/// A disk as the guest of such a host sees it: QEMU reports sectors as small as the
/// image allows and a disk that rotates, and takes no discards unless it is configured to.
pub(super) fn virtual_disk(disk: DiskOptions, host: HostSettings) -> DiskOptions {
    let depth = disk.queue_depth.unwrap_or(DEPTH);
    DiskOptions {
        drive: Box::new(HostedDrive::new(disk.drive, depth, host)),
        physical_bytes: disk.logical_bytes,
        discard_bytes: None,
        write_zeroes: false,
        rotates: true,
        queue_depth: Some(QUEUE),
        scheduler: None,
        reports_write_cache: true,
        optimal_bytes: 0,
        ..disk
    }
}

#[cfg(test)]
mod tests {
    use disklab_study::load;

    use super::*;

    fn read(host: &str, layout: &str) -> Result<Vec<Option<HostSettings>>, SourceError> {
        let text = format!(
            "id = 's'\ntitle = 's'\n{host}\n[stacks]\na = {{ layers = 'ext4', drives = 1 }}\n\
             b = {{ layers = 'ext4', drives = 1{layout} }}\n[[drives]]\nmodel = 'hgst-10tb'\n\
             size = '10 TB'\n[[workloads]]\nid = 'w'\nhdparm = {{ device = true }}\n"
        );
        hosts(&load("s.toml", &text)?)
    }

    #[test]
    fn a_stack_has_the_hosts_cache_mode_or_its_own() {
        assert_eq!(read("", "").unwrap(), [None, None]);
        let host = "[lab.host]\ncache = 'none'\nmemory = '1 GiB'";
        let both = read(host, ", host-cache = 'writeback'").unwrap();
        let words: Vec<_> = both.iter().flatten().map(|host| host.cache.word).collect();
        assert_eq!(words, ["none", "writeback"]);
        for (host, layout, expected) in [
            ("", ", host-cache = 'none'", "needs a host"),
            (host, ", host-cache = 'write-back'", "did you mean 'writeback'"),
            ("[lab.host]\ncache = 'none'", ", host-cache = 'writeback'", "'memory'"),
            ("[lab.host]\ncaches = 'none'", "", "did you mean 'cache'"),
        ] {
            let error = read(host, layout).unwrap_err().to_string();
            assert!(error.contains(expected) && error.starts_with("s.toml:"), "{error}");
        }
    }
}
