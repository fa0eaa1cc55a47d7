//! What a kernel's program says of itself, without booting.

use std::path::Path;
use std::time::Duration;

use disklab_exec::{Executor, Invocation};

use crate::ConfinementSupport;
use crate::confinement::Confinement;

/// A kernel that is asked answers at once.
const PATIENCE: Duration = Duration::from_secs(30);

/// Its configuration (`--showconfig` of User-Mode Linux). None if the program fails.
pub fn printed_configuration(kernel: &Path, executor: &Executor) -> Option<String> {
    ask(kernel, "--showconfig", executor)
}

/// As uname(2) in its guest would have it.
pub fn printed_release(kernel: &Path, executor: &Executor) -> Option<String> {
    ask(kernel, "--version", executor).map(|text| text.trim().to_owned())
}

/// What a kernel prints. It is confined as it is in the lab, and more: it writes nothing, and
/// talks to nobody.
#[allow(unsafe_code)]
fn ask(kernel: &Path, option: &str, executor: &Executor) -> Option<String> {
    let question = Invocation::new(kernel.display().to_string()).arg(option).timeout(PATIENCE);
    let mut confinement = Confinement::alone(ConfinementSupport::of_this_system()).ok()?;
    // SAFETY: `confine` allocates nothing.
    let answer = unsafe { executor.check_confined(&question, move || Ok(confinement.confine()?)) };
    Some(answer.ok()?.text())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn kernel_that_says_its_configuration_does_nothing_else() {
        let support = ConfinementSupport::of_this_system();
        if !support.missing().is_empty() {
            eprintln!("skipped: needs full confinement: {}", support.missing().join("; "));
            return;
        }
        let directory = tempfile::tempdir().expect("temp");
        let (path, new) = (directory.path().join("linux"), directory.path().join("new"));
        let harm = format!(
            "#!/bin/sh\n(echo x >{0} || mkdir {0} || kill -0 {1}) && echo CONFIG_HARM=y\n\
             echo CONFIG_UML=y",
            new.display(),
            std::process::id()
        );
        let say = |text: &str| {
            std::fs::write(&path, text).expect("written");
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("made");
            printed_configuration(&path, &Executor::default())
        };
        let harmless = say("#!/bin/sh\necho CONFIG_UML=y");
        assert!(harmless.is_some());
        assert_eq!(say(&harm), harmless);
        assert!(!new.exists());
    }
}
