use std::collections::HashMap;

use proptest::prelude::*;

use super::*;
use crate::Job;
use crate::check::jobs;
use crate::testing::place;

/// Files and variables as a test has them.
#[derive(Default)]
struct Around(HashMap<&'static str, &'static str>);

impl Around {
    fn new(pairs: &[(&'static str, &'static str)]) -> Self {
        Self(pairs.iter().copied().collect())
    }

    fn get(&self, name: &str) -> Result<String, String> {
        self.0.get(name).map(|text| (*text).to_owned()).ok_or_else(|| "there is none".to_owned())
    }
}

impl Surroundings for Around {
    fn variable(&self, name: &str) -> Result<String, String> {
        self.get(name)
    }

    fn machine(&self, name: &str) -> Result<String, String> {
        self.get(name)
    }

    fn include(&self, name: &str, _: &Source) -> Result<Arc<Source>, String> {
        Ok(Arc::new(Source { name: name.to_owned(), text: self.get(name)? }))
    }

    fn content(&self, name: &str, most: usize) -> Result<Vec<u8>, String> {
        Ok(self.get(name)?.bytes().take(most).collect())
    }
}

fn joined(text: &str, around: &Around) -> Result<JoinedText, SourceError> {
    join(text, &place(text), around)
}

fn read(text: &str, around: &Around) -> Result<Vec<Job>, SourceError> {
    let locate = place(text);
    let joined = join(text, &locate, around)?;
    jobs(&joined.sections(
        &locate(0..0),
        &locate,
        Policy { directory: true, ..Policy::default() },
    )?)
}

#[test]
fn what_is_included_stands_where_it_is_named() {
    let around = Around::new(&[
        ("common.inc", "bs=8k\ninclude deeper.inc\n"),
        ("deeper.inc", "# a comment\niodepth=4"),
    ]);
    let text = "[global]\nrw=read\n  include common.inc ; here\nsize=1m\n[a]\nbs=4k\n[b]\n";
    let done = joined(text, &around).expect("joined");
    assert_eq!(
        done.text,
        "[global]\nrw=read\nbs=8k\n# a comment\niodepth=4\nsize=1m\n[a]\nbs=4k\n[b]\n"
    );
    assert_eq!(done.included, ["common.inc", "deeper.inc"]);
    let jobs = read(text, &around).expect("valid");
    assert_eq!((jobs[0].blocks.min(), jobs[1].blocks.min()), (4096, 8192));
    assert_eq!(
        (jobs[0].depth.depth, jobs[1].place.span.clone()),
        (4, text.len() - 4..text.len() - 1)
    );
    // What comes of it says all by itself.
    assert_eq!(joined(&done.text, &Around::default()).expect("whole").text, done.text);
}

#[test]
fn variables_and_properties_of_the_machine_are_filled_in() {
    let around =
        Around::new(&[("SIZE", "1m"), ("F", "x y"), ("ncpus", "4"), ("RW", "rw=randread")]);
    let text = "[a]\nsize=${SIZE}; ${NONE}\n filename=${F}.${SIZE}\n${RW}\nnumjobs=2*$ncpus-1\n\
                filename_format=$jobname.$filenum\n";
    let done = joined(text, &around).expect("joined");
    assert_eq!(
        done.text,
        "[a]\nsize=1m\nfilename=x y.1m\nrw=randread\nnumjobs=7\nfilename_format=$jobname.$filenum\n"
    );
    let known: Vec<&str> = done.variables.keys().map(String::as_str).collect();
    assert_eq!(known, ["F", "RW", "SIZE", "ncpus"]);
    let job = read(text, &around).expect("valid").remove(0);
    assert!(job.pattern.access.random && job.process.clones == 7);
}

#[test]
fn files_in_patterns_are_filled_in() {
    let around = Around::new(&[("f", "\u{1}Z"), ("empty", "")]);
    let text = "[a]\nsize=1m\nbuffer_pattern=\"it's\"'f'\"o'clock\"'empty'12\n";
    let done = joined(text, &around).expect("joined").text;
    assert_eq!(done, "[a]\nsize=1m\nbuffer_pattern=\"it's\"0x015a\"o'clock\"12\n");
    let error = joined("[a]\nverify_pattern='no'", &around).expect_err("no such file");
    assert!(error.message.contains("cannot read the file 'no'"), "{error}");
}

#[test]
fn errors_show_where_it_is_written() {
    let around = Around::new(&[
        ("SIZE", "1q"),
        ("LINE", "a\nb"),
        ("section.inc", "bs=4k\n[x]\n"),
        ("loop.inc", "bs=4k\n  include loop.inc\n"),
        ("bad.inc", "bs=4k\nbs=4q\n"),
    ]);
    for (text, file, line, column, part) in [
        ("[a]\n  size = ${NONE}\n", "t.fio", 2, 10, "there is none"),
        ("[a]\nsize=${SIZE}\n", "t.fio", 2, 1, "invalid size '1q'"),
        ("[a]\nsize=${LINE}\n", "t.fio", 2, 6, "control character"),
        ("[a]\n include no.inc\n", "t.fio", 2, 2, "cannot include 'no.inc': there is none"),
        ("[a]\ninclude\n", "t.fio", 2, 1, "needs the name"),
        ("[a]\ninclude section.inc\n", "section.inc", 2, 1, "no sections"),
        ("[a]\ninclude loop.inc\n", "loop.inc", 2, 3, "includes itself: t.fio → loop.inc"),
        ("[a]\ninclude t.fio\n", "t.fio", 2, 1, "cannot include"),
        ("[a]\nsize=1m\ninclude bad.inc\nrw=read\n", "bad.inc", 2, 4, "`bs`"),
        ("[a]\nsize=1m\ninclude bad.inc\nrw=up\n", "bad.inc", 2, 4, "`bs`"),
        ("include bad.inc\n[a]\n", "t.fio", 1, 1, "no effect outside of a section"),
        ("[a]\nsize=1m*$ncpus\n", "t.fio", 2, 9, "there is none"),
    ] {
        let error = read(text, &around).expect_err(text);
        assert!(error.message.contains(part), "{text}: {error}");
        assert_eq!(
            (error.file.as_str(), error.line, error.column),
            (file, line, column),
            "{error}"
        );
    }
}

#[test]
fn hostile_collections_end() {
    struct Endless;
    impl Surroundings for Endless {
        fn variable(&self, _: &str) -> Result<String, String> {
            Ok("x".repeat(1 << 20))
        }
        fn machine(&self, _: &str) -> Result<String, String> {
            Err(String::new())
        }
        fn include(&self, name: &str, _: &Source) -> Result<Arc<Source>, String> {
            // Each is another file, and includes two more.
            let text = format!("include {name}a\ninclude {name}b\n");
            Ok(Arc::new(Source { name: name.to_owned(), text }))
        }
        fn content(&self, _: &str, most: usize) -> Result<Vec<u8>, String> {
            Ok(vec![7; most])
        }
    }
    for (text, part) in [
        ("[a]\ninclude x\n".to_owned(), "deep"),
        (format!("[a]\n{}", "size=${V}\n".repeat(10)), "longer than"),
        (format!("[a]\n{}", "buffer_pattern='f'\n".repeat(100)), "longer than"),
    ] {
        let error = join(&text, &place(&text), &Endless).expect_err(part);
        assert!(error.message.contains(part), "{error}");
    }
}

proptest! {
    #[test]
    fn no_text_panics(text in "(\\[a\\]\n|include (a|b)?|\\$\\{?(A|é)?\\}?|\\$ncpus|=|\n|;|'|\"|\\PC| ){0,40}") {
        let around = Around::new(&[("a", "bs=4k\n"), ("b", "include a\nx"), ("A", "é"), ("ncpus", "3")]);
        match read(&text, &around) {
            Err(error) => prop_assert!(error.line >= 1 && error.column >= 1),
            Ok(jobs) => prop_assert!(!jobs.is_empty()),
        }
    }
}
