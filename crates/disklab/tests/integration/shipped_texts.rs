//! A reader of a shipped run's page, post and terminal screen refutes none of their sentences with
//! the run's own samples.

use std::path::Path;

use crate::command_support::disklab;

#[path = "../../../output/report/tests/integration/reader/mod.rs"]
mod reader;

use reader::{Card, Medium, refute};

fn written(home: &Path, format: &str) -> String {
    let mut command = disklab(home);
    command.args(["report", "shown", "--format", format, "--out", "-"]);
    if format == "text" {
        command.arg("--verbose");
    }
    String::from_utf8(command.assert().success().get_output().stdout.clone()).expect("text")
}

#[test]
fn shipped_pages_posts_and_screens_hold() {
    let temp = tempfile::tempdir().expect("temp");
    let home = temp.path();
    disklab(home).args(["shipped", "--out", "shown"]).assert().success();
    let json = written(home, "json");
    let media = [(Medium::Page, "html"), (Medium::Post, "md"), (Medium::Terminal, "text")];
    let texts = media.map(|(medium, format)| (medium, written(home, format)));
    for (medium, text) in &texts {
        let cards: Vec<Card> = medium.cards(text);
        assert!(cards.len() >= 5, "{medium:?}: {cards:#?}");
    }
    let texts: Vec<(Medium, &str)> = texts.iter().map(|(m, text)| (*m, text.as_str())).collect();
    let wrong = refute(&json, &texts);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
