//! The page: sound, complete, in the promised order.

use disklab_report::{Report, ReportFormat, render};

use crate::{support, wellformed};

#[test]
fn the_page_is_sound_and_stands_alone() {
    for (bench, repeats) in [("loop", 3), ("lab", 1)] {
        wellformed::check(&render(&support::report(bench, repeats), ReportFormat::Html));
    }
}

#[test]
fn its_parts_stand_in_order() {
    let report = support::made(2, 2, "loop", 3);
    let html = render(&report, ReportFormat::Html);
    let mut at = 0;
    for part in [
        "<h1>ext4 or Btrfs",
        "files as disks",
        "id=\"summary\"",
        "zeros-compressed",
        "<h2>How fast are large files read?</h2>",
        "<figure",
        "raid0/ext4 is fastest",
        "Exact figures",
        "<h2>What do safe writes cost?</h2>",
        "id=\"absent\"",
        "needs the module zfs in the kernel",
        "id=\"findings\"",
        "id=\"method\"",
        "20181005",
        "1/16",
        "id=\"environment\"",
        "HGST HDN721010ALE604",
        "rw,relatime",
        "id=\"commands\"",
        "mdadm --create",
        "# exit code 32",
        "id=\"study\"",
        "[[workloads]]",
    ] {
        let found = html[at..].find(part);
        at += found.unwrap_or_else(|| panic!("'{part}' is missing or out of order"));
    }
}

#[test]
fn figures_lead_to_the_raw_outputs_of_their_cells() {
    let mut report = support::made(2, 2, "loop", 3);
    let cell = report.cells.iter().find(|r| r.cell.levels.workload == "randread-4K").expect("one");
    let (number, stack) = (cell.cell.number, cell.cell.levels.stack.clone());
    let at = report.info.stacks.iter().position(|s| s.id == stack).expect("its stack");
    assert!(!render(&report, ReportFormat::Html).contains("Raw output"), "there is none");
    report.outputs.insert(number, format!("raw/{number:05}-x"));
    let html = render(&report, ReportFormat::Html);
    let matrix = &html[html.find("<table class=\"matrix").expect("the matrix")..];
    let to_stack = format!("<a class=\"tip\" href=\"#cells-{at}\" data-tip=\"");
    assert!(matrix.contains(&to_stack), "{to_stack}");
    assert!(matrix.contains("3 repeats of "), "the tip");
    assert!(html.contains(&format!("<a href=\"raw/{number:05}-x/\">")), "the directory");
    // From the exact figures to the workload's own fold.
    let place = html.find(&format!("<a href=\"#cells-{at}-")).expect("a link");
    let name = html[place..].split('"').nth(1).expect("a link").trim_start_matches('#');
    assert!(html.contains(&format!("id=\"{name}\"")), "{name}");
}

#[test]
fn a_lab_figure_is_labelled_and_a_real_one_is_not() {
    let lab = support::made(1, 1, "lab", 1);
    let real = support::made(1, 1, "loop", 1);
    for format in [ReportFormat::Html, ReportFormat::Markdown, ReportFormat::Json] {
        assert!(render(&lab, format).to_lowercase().contains("simulated"), "{format:?}");
    }
    assert!(render(&lab, ReportFormat::Html).contains("<span class=\"badge simulated\">simulated"));
    assert!(!render(&real, ReportFormat::Html).contains(">simulated"));
    assert!(!render(&real, ReportFormat::Markdown).contains("imulated"));
}

#[test]
fn every_figure_has_its_interval_or_the_word_once() {
    let once = render(&support::made(2, 2, "loop", 1), ReportFormat::Html);
    let thrice = render(&support::made(2, 2, "loop", 3), ReportFormat::Html);
    let bars = |html: &str| html.matches("class=\"value\"").count();
    assert_eq!(once.matches("<small>once</small>").count(), bars(&once));
    assert_eq!(thrice.matches("<small>once</small>").count(), 0);
    assert_eq!(thrice.matches("line class=\"whisker\"").count(), 3 * bars(&thrice));
}

#[test]
fn a_run_without_results_has_a_report() {
    let mut report = support::made(1, 1, "loop", 1);
    report.analysis = disklab_decision::Analysis::default();
    report.cells.clear();
    report.sessions.clear();
    report.facts = disklab_report::Facts::default();
    wellformed::check(&render(&report, ReportFormat::Html));
    assert!(render(&report, ReportFormat::Markdown).contains("disklab run"));
    assert_eq!(render(&report, ReportFormat::Csv).lines().count(), 1);
}

#[test]
fn a_name_of_a_file_system_has_one_colour_throughout() {
    let html = render(&support::made(3, 2, "loop", 3), ReportFormat::Html);
    let colour = |name: &str| -> Vec<&str> {
        html.match_indices(&format!("<span class=\"name\">{name}<"))
            .chain(html.match_indices(&format!("<span class=\"name\">{name} <")))
            .filter_map(|(at, _)| html[..at].rsplit("class=\"bar ").next()?.split('"').next())
            .collect()
    };
    for (name, class) in [("ext4", "s0"), ("btrfs", "s1")] {
        let classes = colour(name);
        assert!(!classes.is_empty() && classes.iter().all(|c| *c == class), "{name} {classes:?}");
    }
}

#[test]
fn a_report_moves_between_threads() {
    fn check<T: Send + Sync>() {}
    check::<Report>();
}

#[test]
fn the_answers_come_first_with_space_and_confidence() {
    let page = render(&support::made(2, 2, "loop", 6), ReportFormat::Html);
    let at = page.find("id=\"answers\"").expect("the section");
    assert!(page.find("<h1>").is_some_and(|title| title < at));
    assert!(page.find("id=\"summary\"").is_some_and(|summary| summary > at));
    let answers = &page[at..page[at..]
        .find("Space against")
        .or(page[at..].find(">Speed<"))
        .map_or(page.len(), |end| at + end)];
    let cards: Vec<&str> = answers.split("class=\"answer\"").skip(1).collect();
    assert!(!cards.is_empty(), "{answers}");
    for card in cards {
        assert!(card.contains("30 TB</strong> of 40 TB usable"), "{card}");
        let sure = ["Sure", "Equivalent", "Likely", "A guess", "The only"];
        assert!(sure.iter().any(|word| card.contains(word)), "{card}");
    }
    // One stack has nothing to be recommended over.
    let alone = render(&support::made(1, 1, "loop", 6), ReportFormat::Html);
    assert!(!alone.contains("id=\"answers\"") && !alone.contains("id=\"purposes\""));
}

#[test]
fn it_says_how_long_a_rebuild_takes_and_what_may_be_lost() {
    let report = crate::refuting::run(6, &[[200.0, 100.0]; 6], &[0.001, 0.002, 0.001]);
    let page = render(&report, ReportFormat::Html);
    let cards =
        page.split("class=\"answer\"").skip(1).filter_map(|card| card.split("</div>").next());
    let cards: Vec<&str> = cards.collect();
    let says = |stack: &str, what: &str| {
        let own = cards.iter().filter(|card| card.contains(stack));
        own.clone().count() > 0 && own.clone().all(|card| card.contains(what))
    };
    // RAID 1 was measured, and RAID 6; of RAID 5 only the drive's rate is known.
    assert!(says("RAID 1 · ext4", "rebuilt in 20.0 h"), "{cards:#?}");
    assert!(says("RAID 6 · ext4", "rebuilt in 19.0 h"), "{cards:#?}");
    assert!(says("RAID 5 · ext4", "rebuilt in at least 16 h"), "{cards:#?}");
    for part in
        ["When things go wrong", "0 of 4", "reading from the other drives", "the safest of these"]
    {
        assert!(page.contains(part), "{part}");
    }
    // In a run about that, it is what is drawn, and no speed.
    let mut about = report.clone();
    about.info.options.rebuild = Some(disklab_study::RebuildRequest::default());
    let drawn = render(&about, ReportFormat::Html);
    let title = "Time until redundant again, for whole drives: less is better.";
    assert!(drawn.contains(title) && !drawn.contains("Space against speed"));
    let post = render(&report, ReportFormat::Markdown);
    assert!(
        post.contains("A drive that fails is rebuilt in at least 16 h: RAID 5 · ext4"),
        "{post}"
    );
    let json: serde_json::Value =
        serde_json::from_str(&render(&report, ReportFormat::Json)).expect("JSON");
    let stacks = json["failures"]["stacks"].as_array().expect("stacks");
    assert_eq!(stacks.len(), 6);
    assert_eq!(stacks[1]["rebuild_is_measured"], true);
}

#[test]
fn ratings_are_in_words_and_not_only_colours() {
    let page = render(&support::made(2, 2, "loop", 6), ReportFormat::Html);
    let at = page.find("class=\"matrix ").expect("the table");
    let table = &page[at..page[at..].find("</table>").map_or(page.len(), |end| at + end)];
    let cells: Vec<&str> = table.split("<td class=\"n depth").skip(1).collect();
    assert!(!cells.is_empty(), "{table}");
    for cell in cells {
        let text = cell.split("</").next().and_then(|c| c.rsplit('>').next()).unwrap_or_default();
        assert!(text.ends_with("best") || text.parse::<f64>().is_ok(), "{cell}");
    }
}
