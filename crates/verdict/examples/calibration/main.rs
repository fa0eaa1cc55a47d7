//! Whether verdicts may be believed: a simulation of campaigns whose truth is known.
//!
//! `cargo run --release -p disklab-verdict --example calibration [CAMPAIGNS]` prints the
//! tables of docs/calibration.md. All of it is seeded: the same numbers come out
//! everywhere.

mod bed;
mod measures;
mod worlds;

use std::error::Error;

use bed::Bed;
use measures::{adaptive, coverage, false_claims, power};
use worlds::{WORLDS, World};

fn main() -> Result<(), Box<dyn Error>> {
    let campaigns: u32 = match std::env::args().nth(1) {
        Some(text) => text.parse()?,
        None => 1000,
    };
    println!("## The worlds\n\n| world | noise |\n|---|---|");
    for world in &WORLDS {
        println!("| {} | {} |", world.name, world.about);
    }
    let four = Bed::new(4, 1)?;
    let blocks = [3, 4, 5, 6, 7, 8, 10, 15, 20];
    println!("\n## False claims where nothing differs\n");
    println!(
        "Answers with any claim, in per cent of {campaigns} campaigns of four equal stacks.\n"
    );
    table(&blocks, |world, n| {
        let got = false_claims(&four, world, 4, n, campaigns);
        // A severe finding would hide claims.
        let doubted = got.doubted.map_or_else(String::new, |audit| format!(" ({audit})"));
        format!("{:.1}{doubted}", got.answers.per_cent())
    });
    println!("\nAnswers, and summaries, with any claim, in per cent; ten questions each.\n");
    let ten = Bed::new(4, 10)?;
    table(&[3, 5, 10], |world, n| {
        let got = false_claims(&ten, world, 4, n, campaigns / 2);
        format!("{:.1}, {:.1}", got.answers.per_cent(), got.summaries.per_cent())
    });
    println!("\nThe same, if every second block ran in the reverse order of the one before.\n");
    let mirrored = Bed::new(4, 10)?.mirrored();
    table(&[3, 5, 10], |world, n| {
        let got = false_claims(&mirrored, world, 4, n, campaigns / 2);
        format!("{:.1}, {:.1}", got.answers.per_cent(), got.summaries.per_cent())
    });
    println!("\n## Coverage\n\nIntervals of ratios that hold the truth, in per cent.\n");
    let covered: Vec<Vec<measures::Coverage>> = WORLDS
        .iter()
        .map(|world| blocks.iter().map(|n| coverage(&four, world, *n, campaigns)).collect())
        .collect();
    let of = |share: fn(&measures::Coverage) -> measures::Share| {
        head(&blocks);
        for (world, row) in WORLDS.iter().zip(&covered) {
            let cells: Vec<String> =
                row.iter().map(|c| format!("{:.1}", share(c).per_cent())).collect();
            println!("| {} | {} |", world.name, cells.join(" | "));
        }
    };
    of(|c| c.ratios);
    println!("\nIntervals of single figures that hold the truth, in per cent.\n");
    of(|c| c.figures);
    println!("\n'Level' said of stacks that differ by 5.2 %, in per cent.\n");
    of(|c| c.false_levels);
    let mirrored_four = Bed::new(4, 1)?.mirrored();
    println!("\n## Power at the planned size\n");
    println!(
        "| world | pilot | blocks planned | found | others wrongly told | no plan |\n|---|---|---|---|---|---|"
    );
    for world in &WORLDS {
        for (pilot, bed) in [(3, &four), (6, &four), (6, &mirrored_four)] {
            let got = power(bed, world, pilot, campaigns / 5);
            let order =
                if pilot == 6 && std::ptr::eq(bed, &mirrored_four) { ", mirrored" } else { "" };
            println!(
                "| {} | {pilot}{order} | {} | {:.1} | {:.1} | {} of {} |",
                world.name,
                got.blocks,
                got.found.per_cent(),
                got.wrong.per_cent(),
                got.unplanned,
                campaigns / 5
            );
        }
    }
    println!("\n## Adaptive campaigns\n");
    println!(
        "| world | equal stacks: any called worse | different: wrong best | best named | cells |\n|---|---|---|---|---|"
    );
    let eight = Bed::new(8, 1)?;
    for world in &WORLDS {
        let got = adaptive(&eight, world, campaigns / 2);
        println!(
            "| {} | {:.1} | {:.1} | {:.1} | {:.0} |",
            world.name,
            got.false_order.per_cent(),
            got.false_best.per_cent(),
            got.named.per_cent(),
            got.cells.per_cent()
        );
    }
    Ok(())
}

fn head(blocks: &[u32]) {
    let numbers: Vec<String> = blocks.iter().map(ToString::to_string).collect();
    println!("| blocks | {} |\n|---|{}", numbers.join(" | "), "---|".repeat(blocks.len()));
}

fn table(blocks: &[u32], cell: impl Fn(&World, u32) -> String) {
    head(blocks);
    for world in &WORLDS {
        let cells: Vec<String> = blocks.iter().map(|n| cell(world, *n)).collect();
        println!("| {} | {} |", world.name, cells.join(" | "));
    }
}
