use disklab_sample::{
    Direction, LabOutcome, LabReference, NetworkLink, NetworkShare, Reference, ReferenceFigure,
};

use super::words::part;
use crate::testing::{RunFixture, figure, step};

const QUESTIONS: &str = r#"
[[questions]]
ask = "How fast are large files written?"
workloads = "buffered"
measure = "throughput"

[[questions]]
ask = "How many small writes are durable each second?"
workloads = "dd-4k"
measure = "iops"
"#;

/// A directory that writes 100 MB/s, and does 250 synchronous writes of 4 KiB a second.
fn summary(reference: Reference) -> Vec<String> {
    summary_of(reference, &[100e6, 101e6, 99e6])
}

fn summary_of(reference: Reference, large: &[f64]) -> Vec<String> {
    let mut run = RunFixture::new(QUESTIONS);
    run.info.reference = Some(reference);
    run.repeats("single/ext4", "buffered", large);
    let small = 250.0 * 4096.0;
    run.repeats("single/ext4", "dd-4k", &[small, small * 1.01, small * 0.99]);
    run.analyse().summary
}

fn lab(large: f64, small: f64) -> Reference {
    let figure =
        |ask: &str, value| ReferenceFigure { ask: ask.to_owned(), figure: String::new(), value };
    let figures = vec![
        figure("How fast are large files written?", large),
        figure("How many small writes are durable each second?", small),
    ];
    let lab = LabReference {
        stack: "partition/ext4".to_owned(),
        drives: "1 × st4000vn006 (4 TB)".to_owned(),
        figures,
        ..LabReference::default()
    };
    let lies_on = "ext4 on ST4000VN006".to_owned();
    Reference { lies_on, share: None, lab: LabOutcome::Figures(lab) }
}

#[test]
fn a_directory_is_as_it_should_be_or_not() {
    let all = summary(lab(110e6, 240.0));
    assert_eq!(all[0], "As it should be: large writes and small synchronous writes.");
    assert!(all[1].contains("large writes 100 MB/s [") && all[1].contains("the lab 110 MB/s"));
    assert_eq!(all[3], "The directory is on ext4 on ST4000VN006.");
    let all = summary(lab(110e6, 750.0));
    assert_eq!(
        all[0],
        "As it should be: large writes; small synchronous writes have a third of the lab's speed: \
         barriers (flushes that reach the medium), or a busy drive."
    );
    let all = summary(lab(110e6, 25.0));
    assert!(
        all[0].contains("small synchronous writes have 10 times the lab's speed"),
        "{}",
        all[0]
    );
}

#[test]
fn repeats_that_differ_too_much_decide_nothing() {
    let all = summary_of(lab(300e6, 250.0), &[10e6, 100e6, 1000e6]);
    assert!(all[0].ends_with("repeats differ too much to say it of large writes."), "{}", all[0]);
}

#[test]
fn without_a_reference_it_says_why() {
    let why = "vda is a virtual disk".to_owned();
    let lab = LabOutcome::Unknown(why);
    let all = summary(Reference { lies_on: "ext4".into(), share: None, lab });
    let beginning =
        "There is nothing to compare it with: vda is a virtual disk. Here: large writes";
    assert!(all[0].starts_with(beginning), "{}", all[0]);
}

#[test]
fn a_share_is_compared_with_its_network() {
    let share = |megabits, round_trip_ns| Reference {
        share: Some(NetworkShare {
            protocol: "SMB".into(),
            server: "nas".into(),
            link: Some(NetworkLink {
                name: "eth0".into(),
                megabits,
                is_wireless: megabits.is_none(),
            }),
            round_trip_ns,
        }),
        ..Reference::default()
    };
    let all = summary(share(Some(1000), Some(400_000)));
    assert_eq!(
        all[0],
        "Large writes are as fast as the network (eth0 carries 118 MB/s at most); of the 4.00 ms of a \
         small synchronous write the network and the server's answer take 400 µs."
    );
    let all = summary(share(Some(10_000), Some(3_000_000)));
    assert!(
        all[0].starts_with("Large writes have a tenth of the network's speed: the server"),
        "{}",
        all[0]
    );
    assert!(all[0].ends_with("take 3.00 ms, most of it."), "{}", all[0]);
    let all = summary(share(None, None));
    assert!(all[0].contains("eth0 is wireless"), "{}", all[0]);
    let all = summary(share(Some(100), None));
    assert!(all[0].contains("faster than the network"), "{}", all[0]);
}

#[test]
fn shares_of_a_speed_have_their_words() {
    let words = [0.66, 0.5, 0.34, 0.24, 0.19, 0.1, 0.031].map(part);
    assert_eq!(
        words,
        ["three fifths", "half", "a third", "a quarter", "a fifth", "a tenth", "3 %"]
    );
}

#[test]
fn what_is_hardly_known_is_not_called_as_it_should_be() {
    let all = summary_of(lab(100e6, 250.0), &[10e6, 100e6, 1000e6]);
    assert_eq!(
        all[0],
        "As it should be: small synchronous writes; repeats differ too much to say it of large \
         writes."
    );
}

#[test]
fn times_that_are_too_short_are_not_compared() {
    let ask = "How long does it take to delete them?";
    let question =
        format!("[[questions]]\nask = \"{ask}\"\nworkloads = \"copy:rm\"\nmeasure = \"elapsed\"\n");
    let verdict = |own: f64, lab_seconds: f64| {
        let mut reference = lab(1.0, 1.0);
        if let LabOutcome::Figures(lab) = &mut reference.lab {
            lab.figures[0].ask = ask.to_owned();
            lab.figures[0].value = lab_seconds;
        }
        let mut run = RunFixture::new(&question);
        run.info.reference = Some(reference);
        for block in 0..3 {
            let seconds = own * (1.0 + f64::from(block) / 100.0);
            let removed = step("rm", vec![figure(Direction::Write, 0, seconds)]);
            run.sample("single/ext4", "copy", block, vec![removed]);
        }
        run.analyse().summary.swap_remove(0)
    };
    assert_eq!(verdict(0.0537, 0.00524), "Deletions: too short a time to compare.");
    assert_eq!(verdict(0.0537, 0.05), "As it should be: deletions.");
    assert!(verdict(5.37, 0.524).contains("Deletions have a tenth of the lab's speed"));
}
