//! What a job file of the user's may refer to: as in fio, the environment and any file.

use std::path::Path;
use std::sync::Arc;

use disklab_exec::{LARGEST_TEXT, read_file, read_start};
use disklab_jobfile::Surroundings;
use disklab_source::Source;
use rustix::param::page_size;
use rustix::system::sysinfo;

/// What the user who types the command sees.
pub struct UserSurroundings;

impl Surroundings for UserSurroundings {
    fn variable(&self, name: &str) -> Result<String, String> {
        match std::env::var(name) {
            Ok(value) => Ok(value),
            Err(std::env::VarError::NotPresent) => Err(format!(
                "${{{name}}} has no value: the environment has no '{name}'; set it, as in \
                 {name}=… disklab fio …"
            )),
            Err(error) => Err(format!("${{{name}}}: {error}")),
        }
    }

    fn machine(&self, name: &str) -> Result<String, String> {
        Ok(match name {
            "ncpus" => processors().to_string(),
            "mb_memory" => {
                let info = sysinfo();
                let bytes = info.totalram.saturating_mul(u64::from(info.mem_unit));
                (bytes >> 20).to_string()
            }
            _ => page_size().to_string(),
        })
    }

    /// As in fio, names are those of the working directory, or else of the including file's.
    fn include(&self, name: &str, including: &Source) -> Result<Arc<Source>, String> {
        let path = Path::new(name);
        let sibling = Path::new(&including.name).parent().map(|directory| directory.join(path));
        let path = match sibling {
            Some(sibling) if !path.exists() => sibling,
            _ => path.to_owned(),
        };
        let bytes = read_file(&path, LARGEST_TEXT).map_err(|e| e.to_string())?;
        Source::from_bytes(path.display().to_string(), bytes)
            .map(Arc::new)
            .map_err(|e| e.to_string())
    }

    fn content(&self, name: &str, most: usize) -> Result<Vec<u8>, String> {
        read_start(Path::new(name), most).map_err(|e| e.to_string())
    }
}

/// The processors that the kernel is configured for, as fio counts them.
fn processors() -> usize {
    let is_one = |name: &str| {
        let number = name.strip_prefix("cpu");
        number.is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let found = std::fs::read_dir("/sys/devices/system/cpu").map_or(0, |entries| {
        entries.flatten().filter(|entry| entry.file_name().to_str().is_some_and(is_one)).count()
    });
    found.max(1)
}
