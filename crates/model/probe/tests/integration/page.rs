//! docs/generated/probe.md is what the closed loop gives. `UPDATE=1` writes it anew.

use std::fmt::Write as _;
use std::path::Path;

use disklab_drive::SHIPPED;

use crate::closed_loop::{Probed, faults};

const HOW: &str = "UPDATE=1 cargo nextest run -p disklab-probe the_page";
const BEGIN: &str = "<!-- made by the tests of disklab-probe -->\n";

/// The summary and the tables of all drives.
fn page(probed: &[Probed]) -> String {
    let mut text = String::from(BEGIN);
    let _ = writeln!(
        text,
        "\n## In short\n\n| value | drives | largest difference | of |\n|---|--:|--:|---|"
    );
    let mut names: Vec<&str> = Vec::new();
    let rows: Vec<_> =
        probed.iter().flat_map(|p| p.rows().into_iter().map(move |r| (p, r))).collect();
    for (_, row) in &rows {
        if !names.contains(&row.name) {
            names.push(row.name);
        }
    }
    for name in names {
        let of: Vec<_> = rows.iter().filter(|(_, row)| row.name == name).collect();
        let worst = of.iter().max_by(|a, b| a.1.off().abs().total_cmp(&b.1.off().abs()));
        let Some((drive, row)) = worst else { continue };
        let _ = writeln!(
            text,
            "| {name} | {} | {:+.1} % | {} |",
            of.len(),
            row.off() * 100.0,
            drive.file.id
        );
    }
    for drive in probed {
        let _ = writeln!(
            text,
            "\n## {}\n\n{:.0} virtual seconds; all else from {}.\n\n\
             | value | true | measured | 95 % interval | off by |\n|---|--:|--:|---|--:|",
            drive.file.name, drive.seconds, drive.sibling.id
        );
        for row in drive.rows() {
            let show = |value| row.unit.show(value);
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} to {} | {:+.1} % |",
                row.name,
                show(row.truth),
                show(row.found.value),
                show(row.found.low),
                show(row.found.high),
                row.off() * 100.0
            );
        }
        for note in &drive.findings.notes {
            let _ = writeln!(text, "\n- {note}");
        }
    }
    text
}

#[test]
fn the_page_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/generated/probe.md");
    let text = std::fs::read_to_string(&path).expect("docs/generated/probe.md");
    let (above, tables) = text.split_once(BEGIN).expect("the mark of the tables");
    if std::env::var_os("UPDATE").is_some() {
        let all = crate::probed(SHIPPED.iter().map(|(id, _)| *id));
        std::fs::write(&path, format!("{above}{}", page(&all))).expect("written");
        let faults = faults(&all);
        assert!(faults.is_empty(), "{}", faults.join("\n"));
        return;
    }
    // Of the drives that are probed in each run, all that the page says must be so.
    for (drive, section) in
        crate::some().iter().map(|drive| (drive, page(std::slice::from_ref(drive))))
    {
        let own = section.split_once(&format!("\n## {}\n", drive.file.name)).expect("a section").1;
        assert!(
            tables.contains(own),
            "{}: {} is not up to date: {HOW}\n{own}",
            drive.file.id,
            path.display()
        );
    }
    for (id, _) in SHIPPED {
        let name = disklab_drive::shipped(id).expect(id).name;
        assert!(tables.contains(&format!("\n## {name}\n")), "{name} is missing: {HOW}");
    }
}
