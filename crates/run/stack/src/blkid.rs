//! What blkid knows of a device.

use std::path::Path;

use disklab_exec::{ExecError, Executor, Invocation};

use crate::StackError;

/// What blkid finds on a device itself, past its cache, under this tag, such as
/// `UUID`; nothing where there is no such thing, or more than one.
pub(crate) fn probe(
    device: &Path,
    tag: &str,
    executor: &Executor,
) -> Result<Option<String>, StackError> {
    let blkid = Invocation::new("blkid")
        .args(["--probe", "--output", "value", "--match-tag", tag])
        .arg(device)
        .uninterruptible();
    let failed = |source: ExecError| StackError::Program { layer: "blkid".to_owned(), source };
    let done = executor.run(&blkid).map_err(failed)?;
    let text = done.text().trim().to_owned();
    // blkid(8): 2 where nothing was found, 8 where it is ambivalent.
    Ok((done.code == 0 && !text.is_empty()).then_some(text))
}
