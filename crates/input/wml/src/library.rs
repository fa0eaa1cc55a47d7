//! The personalities that disklab brings.

use std::sync::Arc;

use disklab_source::Source;

/// A personality that disklab brings.
#[derive(Debug)]
pub struct BuiltIn {
    /// Its name, such as `fileserver`.
    pub name: &'static str,
    /// Its script.
    pub text: &'static str,
}

impl BuiltIn {
    /// Its script, to give to [`Personality::read`](crate::Personality::read).
    pub fn source(&self) -> Arc<Source> {
        Arc::new(Source { name: format!("{}.f", self.name), text: self.text.to_owned() })
    }

    /// What it models: the first sentence of its first comment.
    pub fn summary(&self) -> String {
        let lines = self.text.lines().map_while(|line| line.strip_prefix('#'));
        let text =
            lines.map(str::trim).take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
        text.split_inclusive(". ")
            .next()
            .unwrap_or_default()
            .trim()
            .trim_end_matches('.')
            .to_owned()
    }
}

macro_rules! personalities {
    ($($name:literal),* $(,)?) => {
        /// All of them, in the order of their names.
        pub static PERSONALITIES: &[BuiltIn] = &[$(BuiltIn {
            name: $name,
            text: include_str!(concat!("../../../../personalities/", $name, ".f")),
        }),*];
    };
}

personalities![
    "copyfiles",
    "createdelete-swing",
    "createfiles",
    "deletefiles",
    "fileserver",
    "fivestreamread",
    "fivestreamwrite",
    "listdirs",
    "makedirs",
    "mongo",
    "netsfs",
    "oltp",
    "openfiles",
    "randomread",
    "randomrw",
    "randomwrite",
    "ratelimcopyfiles",
    "removedirs",
    "singlestreamread",
    "singlestreamwrite",
    "statfile",
    "varmail",
    "videoserver",
    "webproxy",
    "webserver",
];

/// `None` if none of the built-in ones is called so.
pub fn find_personality(name: &str) -> Option<&'static BuiltIn> {
    PERSONALITIES.iter().find(|p| p.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Action, Attribute, Overrides, Personality, Quit, ScriptCommand};

    #[test]
    fn each_is_read_without_notes_and_runs_once() {
        for built_in in PERSONALITIES {
            let personality = Personality::read(&built_in.source(), &Overrides::default())
                .unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(personality.notes, [], "{}", built_in.name);
            let runs = personality.commands.iter().filter(|c| matches!(c, ScriptCommand::Run(_)));
            assert_eq!(runs.count(), 1, "{}", built_in.name);
            let limited = personality.run_time().is_some();
            assert_eq!(limited, personality.quit == Quit::Timeout, "{}", built_in.name);
            assert!(built_in.summary().len() > 15, "{}", built_in.summary());
            assert!(
                personality.variables.iter().any(|v| v.name == "nthreads")
                    || matches!(built_in.name, "oltp" | "createdelete-swing")
            );
        }
        let names: Vec<&str> = PERSONALITIES.iter().map(|p| p.name).collect();
        assert!(names.is_sorted());
        assert!(find_personality("fileserver").is_some() && find_personality("nothing").is_none());
    }

    #[test]
    fn all_files_of_the_directory_are_in_the_table() {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../personalities");
        let mut names: Vec<String> = std::fs::read_dir(directory)
            .expect("directory")
            .filter_map(|entry| entry.expect("entry").file_name().into_string().ok())
            .filter_map(|name| name.strip_suffix(".f").map(str::to_owned))
            .collect();
        names.sort();
        assert_eq!(names, PERSONALITIES.iter().map(|p| p.name).collect::<Vec<_>>());
    }

    #[test]
    fn the_file_server_is_filebenchs() {
        let source = find_personality("fileserver").expect("known").source();
        let given = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let overrides = Overrides {
            variables: vec![given("nfiles", "100000"), given("meanfilesize", "1310720")],
            run_time: Some(std::time::Duration::from_secs(36_000)),
        };
        let personality = Personality::read(&source, &overrides).expect("valid");
        let fileset = &personality.filesets[0];
        assert_eq!(fileset.entries.fixed(), Some(100_000));
        assert_eq!(fileset.size.mean(), 1_310_720.0);
        assert!(matches!(fileset.size, Attribute::Random(_)));
        assert_eq!(fileset.prealloc.fixed(), Some(80));
        assert_eq!(personality.run_time(), overrides.run_time);
        let thread = &personality.processes[0].threads[0];
        assert_eq!(thread.instances.fixed(), Some(50));
        assert_eq!(thread.flowops.len(), 11);
        let Action::WriteWholeFile { io, source } = &thread.flowops[1].action else { panic!() };
        assert_eq!((io.size.fixed(), io.files.slot, *source), (Some(1 << 20), 1, Some(1)));
        assert_eq!(personality.rows.len(), 11);
    }
}
