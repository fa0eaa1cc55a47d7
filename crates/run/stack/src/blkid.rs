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

#[cfg(test)]
mod tests {
    use disklab_exec::find_program;

    use super::*;

    #[test]
    fn what_a_device_has_is_found_and_what_it_lacks_is_not() {
        if let Some(missing) =
            ["blkid", "mkfs.ext4"].into_iter().find(|p| find_program(p).is_none())
        {
            eprintln!("skipped: needs {missing}");
            return;
        }
        let directory = tempfile::tempdir().expect("temp");
        let image = directory.path().join("image");
        std::fs::File::create(&image).and_then(|f| f.set_len(4 << 20)).expect("an image");
        let executor = Executor::default();
        assert_eq!(probe(&image, "UUID", &executor).expect("blkid"), None);
        let uuid = "01234567-89ab-4def-8123-456789abcdef";
        let mkfs = Invocation::new("mkfs.ext4").args(["-q", "-F", "-U", uuid]).arg(&image);
        executor.check(&mkfs).expect("made");
        assert_eq!(probe(&image, "UUID", &executor).expect("blkid").as_deref(), Some(uuid));
        assert_eq!(probe(&image, "LABEL", &executor).expect("blkid"), None);
    }
}
