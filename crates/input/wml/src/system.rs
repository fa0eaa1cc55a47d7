//! `system` lines: recognised, never executed.

/// What a part of a `system` line stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SystemStep {
    /// `sync`: dirty pages are written. A runner syncs the file system under test
    /// only.
    Sync,
    /// `echo 3 > /proc/sys/vm/drop_caches` and its like, with the number (1 to 3).
    DropCaches(u8),
    /// `sleep`, in whole seconds.
    Sleep(u64),
    /// Changes nothing that matters here (`echo`, `date`, `mkdir -p`, `true`).
    Nothing(String),
    /// Anything else: a runner must not execute it, and says so or refuses.
    Unknown(String),
}

/// Programs whose lines change nothing: their output is not shown either.
const HARMLESS: &[&str] = &["echo", "date", "uptime", "uname", "true", ":", "df", "free", "vmstat"];

impl SystemStep {
    /// The steps of a line, split at `;`, `&&` and line ends.
    pub fn classify(line: &str) -> Vec<Self> {
        let parts = line.split(&[';', '\n'][..]).flat_map(|part| part.split("&&"));
        parts.map(str::trim).filter(|p| !p.is_empty()).map(Self::one).collect()
    }

    fn one(part: &str) -> Self {
        // `>` may stand without spaces around it.
        let spaced = part.replace('>', " > ").replace(['"', '\''], " ");
        let mut words: Vec<&str> = spaced.split_whitespace().collect();
        while matches!(
            words.first(),
            Some(&("sudo" | "/bin/sync" | "/usr/bin/sync" | "/sbin/sysctl"))
        ) {
            match words[0] {
                "sudo" => drop(words.remove(0)),
                path => words[0] = path.rsplit('/').next().unwrap_or(path),
            }
        }
        let level = |text: &str| text.parse().ok().filter(|n: &u8| (1..=3).contains(n));
        match words.as_slice() {
            ["sync"] => Self::Sync,
            ["echo", n, ">", "/proc/sys/vm/drop_caches"] if level(n).is_some() => {
                Self::DropCaches(level(n).unwrap_or(3))
            }
            ["sysctl", rest @ ..] => {
                let assignment: String =
                    rest.iter().filter(|w| **w != "-w" && **w != "-q").copied().collect();
                let number = assignment.strip_prefix("vm.drop_caches=").and_then(level);
                number.map_or_else(|| Self::Unknown(part.to_owned()), Self::DropCaches)
            }
            ["sleep", n] if n.parse::<u64>().is_ok() => Self::Sleep(n.parse().unwrap_or_default()),
            ["mkdir", "-p", _] => Self::Nothing(part.to_owned()),
            // A redirection or a pipe may write anywhere.
            [program, ..]
                if HARMLESS.contains(program) && !part.contains(['>', '|', '`', '$', '&']) =>
            {
                Self::Nothing(part.to_owned())
            }
            _ => Self::Unknown(part.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_idioms_are_known() {
        use SystemStep::{DropCaches, Nothing, Sleep, Sync, Unknown};
        for (line, steps) in [
            ("sync", vec![Sync]),
            ("sync; echo 3 >/proc/sys/vm/drop_caches", vec![Sync, DropCaches(3)]),
            ("sync && echo 1 > /proc/sys/vm/drop_caches;", vec![Sync, DropCaches(1)]),
            ("echo '3'>/proc/sys/vm/drop_caches", vec![DropCaches(3)]),
            ("sudo sysctl -w vm.drop_caches=3", vec![DropCaches(3)]),
            ("/sbin/sysctl vm.drop_caches = 2", vec![DropCaches(2)]),
            ("sleep 5", vec![Sleep(5)]),
            ("echo hello", vec![Nothing("echo hello".to_owned())]),
            ("echo hello > /etc/passwd", vec![Unknown("echo hello > /etc/passwd".to_owned())]),
            ("echo `rm -rf /`", vec![Unknown("echo `rm -rf /`".to_owned())]),
            (
                "echo 4 > /proc/sys/vm/drop_caches",
                vec![Unknown("echo 4 > /proc/sys/vm/drop_caches".to_owned())],
            ),
            ("rm -rf /mnt/x", vec![Unknown("rm -rf /mnt/x".to_owned())]),
            ("sysctl vm.swappiness=1", vec![Unknown("sysctl vm.swappiness=1".to_owned())]),
            ("  ;; ", vec![]),
        ] {
            assert_eq!(SystemStep::classify(line), steps, "{line}");
        }
    }

    proptest! {
        #[test]
        fn no_line_panics(line in ".*") {
            let _ = SystemStep::classify(&line);
        }
    }
}
