//! Whether verdicts may be believed: a simulation of campaigns whose truth is known.
//!
//! `cargo run --release -p disklab-decision --example calibration [CAMPAIGNS [SECTION…] [MODEL…]]`
//! prints the tables of docs/validation/calibration.md; the sections are noise, claims, coverage,
//! power, adaptive, choices and precision. All of it is seeded: the same numbers come out
//! everywhere.

mod fixture;
mod measures;
mod noise_models;

use std::error::Error;

use fixture::RunFixture;
use measures::{
    Coverage, Share, adaptive, choices, coverage, equal_called_level, false_claims, power,
    precision,
};
use noise_models::{NOISE_MODELS, NoiseModel};

/// Numbers of blocks in the tables.
const BLOCKS: [u32; 9] = [3, 4, 5, 6, 7, 8, 10, 15, 20];

/// A part of the tables: its name, and what prints it for so many campaigns.
type Section = (&'static str, fn(u32, &[&NoiseModel]) -> Result<(), Box<dyn Error>>);

const SECTIONS: [Section; 7] = [
    ("models", noise_models_reported),
    ("claims", claims),
    ("coverage", coverages),
    ("power", powers),
    ("adaptive", adaptives),
    ("choices", choices_of_stacks),
    ("precision", precisions),
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let campaigns: u32 = match arguments.next() {
        Some(text) => text.parse()?,
        None => 1000,
    };
    let wanted: Vec<String> = arguments.collect();
    let is_named = |name: &str| wanted.iter().any(|w| w == name);
    let mut noise_models: Vec<&NoiseModel> =
        NOISE_MODELS.iter().filter(|noise_model| is_named(noise_model.name)).collect();
    if noise_models.is_empty() {
        noise_models.extend(&NOISE_MODELS);
    }
    let all = !SECTIONS.iter().any(|(name, _)| is_named(name));
    for (name, print) in SECTIONS {
        if all || is_named(name) {
            print(campaigns, &noise_models)?;
        }
    }
    Ok(())
}

fn noise_models_reported(_: u32, noise_models: &[&NoiseModel]) -> Result<(), Box<dyn Error>> {
    println!("## The noise models\n\n| noise model | noise |\n|---|---|");
    for noise_model in noise_models {
        println!("| {} | {} |", noise_model.name, noise_model.about);
    }
    Ok(())
}

fn claims(campaigns: u32, noise_models: &[&NoiseModel]) -> Result<(), Box<dyn Error>> {
    println!("\n## False claims without a difference\n");
    println!(
        "Answers with any claim, in per cent of {campaigns} campaigns of four equal stacks.\n"
    );
    let four = RunFixture::new(4, 1)?;
    table(noise_models, &BLOCKS, |noise_model, n| {
        let got = false_claims(&four, noise_model, 4, n, campaigns);
        // A severe finding would hide claims.
        let doubted = got.doubted.map_or_else(String::new, |audit| format!(" ({audit})"));
        format!("{:.1}{doubted}", got.answers.per_cent())
    });
    println!("\nTen questions each: answers, and summaries, with any claim, in per cent.\n");
    let ten = RunFixture::new(4, 10)?;
    table(noise_models, &[3, 5, 10], |noise_model, n| {
        let got = false_claims(&ten, noise_model, 4, n, campaigns / 2);
        format!("{:.1}, {:.1}", got.answers.per_cent(), got.summaries.per_cent())
    });
    println!("\nEqual stacks called equivalent, in per cent of comparisons.\n");
    table(noise_models, &[6, 12, 20], |noise_model, n| {
        format!("{:.1}", equal_called_level(&four, noise_model, n, campaigns / 10).per_cent())
    });
    Ok(())
}

/// A table's title, and what of a coverage it shows.
type Part = (&'static str, fn(&Coverage) -> Share);

fn coverages(campaigns: u32, noise_models: &[&NoiseModel]) -> Result<(), Box<dyn Error>> {
    let fixture = RunFixture::new(4, 1)?;
    let covered: Vec<Vec<Coverage>> = noise_models
        .iter()
        .map(|noise_model| {
            BLOCKS.iter().map(|n| coverage(&fixture, noise_model, *n, campaigns)).collect()
        })
        .collect();
    println!("\n## Coverage");
    let parts: [Part; 3] = [
        ("Intervals of ratios that contain the truth, in per cent.", |c| c.ratios),
        ("Intervals of single figures that contain the truth, in per cent.", |c| c.figures),
        ("'Equivalent' claimed of stacks that differ by 5.2 %, in per cent.", |c| c.false_levels),
    ];
    for (title, share) in parts {
        println!("\n{title}\n");
        head(&BLOCKS);
        for (noise_model, row) in noise_models.iter().zip(&covered) {
            let cells: Vec<String> =
                row.iter().map(|c| format!("{:.1}", share(c).per_cent())).collect();
            println!("| {} | {} |", noise_model.name, cells.join(" | "));
        }
    }
    Ok(())
}

fn powers(campaigns: u32, noise_models: &[&NoiseModel]) -> Result<(), Box<dyn Error>> {
    println!("\n## Power at the planned size\n");
    println!("| noise model | pilot | blocks planned | found | other false claims | no plan |");
    println!("|---|---|---|---|---|---|");
    let fixture = RunFixture::new(4, 1)?;
    let campaigns = campaigns / 5;
    for noise_model in noise_models {
        for pilot in [3, 6] {
            let got = power(&fixture, noise_model, pilot, campaigns);
            let (found, wrong) = (got.found.per_cent(), got.wrong.per_cent());
            println!(
                "| {} | {pilot} | {} | {found:.1} | {wrong:.1} | {} of {campaigns} |",
                noise_model.name, got.blocks, got.unplanned
            );
        }
    }
    Ok(())
}

fn adaptives(campaigns: u32, noise_models: &[&NoiseModel]) -> Result<(), Box<dyn Error>> {
    println!("\n## Adaptive campaigns\n");
    println!("| noise model | equal stacks: any called worse | wrong best | best named | cells |");
    println!("|---|---|---|---|---|");
    let fixture = RunFixture::new(8, 1)?;
    for noise_model in noise_models {
        let got = adaptive(&fixture, noise_model, campaigns / 2);
        let shares = [got.false_order, got.false_best, got.named, got.cells];
        let cells: Vec<String> = shares.iter().map(|s| format!("{:.1}", s.per_cent())).collect();
        println!("| {} | {} |", noise_model.name, cells.join(" | "));
    }
    Ok(())
}

fn choices_of_stacks(campaigns: u32, noise_models: &[&NoiseModel]) -> Result<(), Box<dyn Error>> {
    println!("\n## The stack to take\n");
    println!("| noise model | 6 % below | 20 % below | equal |\n|---|---|---|---|");
    let mut fixture = RunFixture::new(8, 1)?;
    for noise_model in noise_models {
        let cells: Vec<String> = [1.0 / 1.06, 0.8, 1.0]
            .iter()
            .map(|rate| {
                let got = choices(&mut fixture, noise_model, *rate, campaigns);
                let (wrong, sure) = (got.wrong.per_cent(), got.sure.per_cent());
                format!("{wrong:.1}; {sure:.0} in {}", got.blocks)
            })
            .collect();
        println!("| {} | {} |", noise_model.name, cells.join(" | "));
    }
    Ok(())
}

fn precisions(campaigns: u32, noise_models: &[&NoiseModel]) -> Result<(), Box<dyn Error>> {
    println!("\n## The precision of one stack\n");
    println!("| noise model | 2 % | 5 % | 10 % |\n|---|---|---|---|");
    let fixture = RunFixture::new(1, 1)?;
    for noise_model in noise_models {
        let cells: Vec<String> = [0.02, 0.05, 0.1]
            .iter()
            .map(|share| {
                let got = precision(&fixture, noise_model, *share, campaigns);
                let (covered, known) = (got.covered.per_cent(), got.known.per_cent());
                format!("{covered:.1}; {known:.0} in {}", got.blocks)
            })
            .collect();
        println!("| {} | {} |", noise_model.name, cells.join(" | "));
    }
    Ok(())
}

fn head(blocks: &[u32]) {
    let numbers: Vec<String> = blocks.iter().map(ToString::to_string).collect();
    println!("| blocks | {} |\n|---|{}", numbers.join(" | "), "---|".repeat(blocks.len()));
}

fn table(noise_models: &[&NoiseModel], blocks: &[u32], cell: impl Fn(&NoiseModel, u32) -> String) {
    head(blocks);
    for noise_model in noise_models {
        let cells: Vec<String> = blocks.iter().map(|n| cell(noise_model, *n)).collect();
        println!("| {} | {} |", noise_model.name, cells.join(" | "));
    }
}
