//! Stacks in a guest with all layers, which runs this very program.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use disklab_cell::parse_layers;
use disklab_config::{Node, Value};
use disklab_lab::{DiskOptions, LabOptions};
use disklab_lab_kernel::{ZFS_HOST, cache_directory, find_zfs};
use disklab_source::{Location, Source};
use disklab_stack::Stack;
use disklab_study::StackSpec;

use super::{Outcome, kernel, run};

/// A kernel with all layers but ZFS, or with it.
#[derive(Clone)]
pub struct StackKernel {
    kernel: PathBuf,
    /// A directory with the programs of ZFS.
    zfs: Option<PathBuf>,
}

/// The kernel with ZFS, or `None`, said on standard error.
pub fn zfs() -> Option<StackKernel> {
    let found = find_zfs(&cache_directory());
    if found.is_none() {
        eprintln!("skipped: needs the lab's ZFS kernel (disklab lab build --zfs)");
    }
    found.map(|found| StackKernel { kernel: found.kernel, zfs: Some(found.programs) })
}

/// A kernel that has the layers of these stacks, or `None`, said on standard error.
pub fn kernel_for<'a>(mut stacks: impl Iterator<Item = &'a str>) -> Option<StackKernel> {
    if stacks.any(|stack| stack.contains("zfs")) {
        return zfs();
    }
    kernel().map(|kernel| StackKernel { kernel, zfs: None })
}

/// Boots a guest in which `script` runs.
pub fn boot(
    kernel: StackKernel,
    script: &str,
    disks: Vec<DiskOptions>,
    adjust: impl FnOnce(&mut LabOptions),
) -> Outcome {
    // Another directory of this machine may be hidden in the guest.
    let programs = kernel.zfs.map_or_else(String::new, |programs| {
        format!(
            "mkdir -p /run/programs
            mount -t hostfs -o {} none /run/programs
            export PATH=/run/programs:$PATH
            ",
            programs.display()
        )
    });
    let host = (!programs.is_empty()).then(|| ZFS_HOST.to_owned());
    run(kernel.kernel, &format!("{programs}{script}"), disks, |options: &mut LabOptions| {
        options.memory_bytes = 1 << 30;
        options.kernel_arguments.extend(host);
        options.real_limit = Some(Duration::from_secs(600));
        adjust(options);
    })
}

/// Boots a guest in which `script` can have a test of this program run: `self MODULE::TEST`.
pub fn boot_with_self(
    kernel: StackKernel,
    script: &str,
    disks: Vec<DiskOptions>,
    adjust: impl FnOnce(&mut LabOptions),
) -> Outcome {
    let program = std::env::current_exe().unwrap();
    let (directory, name) = (program.parent().unwrap(), program.file_name().unwrap());
    let script = format!(
        "mkdir -p /run/self /dev/shm
        mount -t tmpfs tmp /dev/shm
        mount -t hostfs -o {} none /run/self
        self() {{ /run/self/{} --exact \"$1\" --nocapture 2>&1; }}
        {script}",
        directory.display(),
        name.display()
    );
    boot(kernel, &script, disks, adjust)
}

/// A stack on so many drives.
pub fn parse(text: &str, drives: usize) -> Stack {
    let source = Arc::new(Source { name: "test.toml".to_owned(), text: text.to_owned() });
    let place = Location { source, span: 0..text.len() };
    let node = Node { value: Value::Text(text.to_owned()), place: place.clone() };
    let layers = parse_layers(&node).unwrap();
    let spec = StackSpec {
        id: "test".to_owned(),
        layout: "test".to_owned(),
        file_system: String::new(),
        layers,
        drives: (0..drives).collect(),
        write_cache: None,
        host_cache: None,
        place,
    };
    Stack::parse(&spec).unwrap()
}
