//! `disklab lab bench`: how fast the lab is here.

use std::path::PathBuf;

use disklab_lab::processors;
use disklab_lab::{CpuLease, CpuLeases};
use disklab_speed::{AgainstOptions, Program, SpeedFigure, SpeedOptions, SpeedTarget, measure};
use disklab_units::significant;
use serde_json::{Value, json};

use super::{against, build};
use crate::cli::BenchArgs;
use crate::exit::{DONE, Failure};
use crate::printing::{aligned, print, print_json};
use crate::signals;

/// Measures the lab's speed and shows it, with what it should be. A target that is
/// missed is told, and is no failure: the machine may be busy.
pub fn bench(args: &BenchArgs, as_json: bool) -> Result<u8, Failure> {
    let interrupt = signals::interrupt()?;
    let cores = processors().map_err(Failure::failed)?;
    if let Some(core) = args.core.filter(|core| !cores.contains(core)) {
        return Err(Failure::usage_error(format!(
            "--core {core}: disklab may run on the processors {cores:?}"
        )));
    }
    let among = args.core.as_ref().map_or(cores.as_slice(), std::slice::from_ref);
    // Kept until all is measured, so that others run elsewhere.
    let lease = CpuLeases::of_user().take(among, 0);
    let core = lease.as_ref().map_or(0, CpuLease::core);
    let kernel = match build::named(args.kernel.as_deref(), args.linux)? {
        Some(named) => named.kernel,
        None => build::find_or_build(args.linux, &interrupt)?,
    };
    let directory = Directory::new()?;
    if let Some(other) = &args.against {
        let other = Program { path: other.clone(), kernel: args.against_kernel.clone() };
        let path = std::env::current_exe().map_err(Failure::no_own_program)?;
        let this = Program { path, kernel: Some(kernel) };
        let directory = directory.0.clone();
        let options = AgainstOptions { this, other, core, rounds: args.repeats, directory };
        return against::compare(&options, &interrupt, as_json);
    }
    let options = SpeedOptions {
        kernel,
        kernel_arguments: args.linux.unwrap_or_default().arguments(),
        program: disklab_guest::guest_program().map_err(Failure::no_own_program)?,
        directory: directory.0.clone(),
        core,
        other_core: cores.into_iter().find(|other| *other != core),
        repeats: args.repeats,
        interrupt: interrupt.clone(),
    };
    let figures = measure(&options, &mut |what| eprintln!("{what}"));
    if interrupt.is_raised() {
        return Err(Failure::interrupted("interrupted; nothing is left"));
    }
    let figures = figures.map_err(Failure::failed)?;
    if as_json {
        print_json(&json!({
            "core": core,
            "repeats": args.repeats,
            "figures": figures.iter().map(value).collect::<Vec<_>>(),
        }))?;
    } else {
        print(&table(&figures))?;
    }
    Ok(DONE)
}

fn value(figure: &SpeedFigure) -> Value {
    let target = figure.target.map(|target| match target {
        SpeedTarget::AtMost(limit) => json!({ "at_most": limit }),
        SpeedTarget::AtLeast(limit) => json!({ "at_least": limit }),
    });
    json!({
        "key": figure.key,
        "name": figure.name,
        "unit": figure.unit,
        "median": figure.median(),
        "values": figure.values,
        "target": target,
        "met": figure.is_met(),
    })
}

/// Names, medians with their units, spreads, targets.
fn table(figures: &[SpeedFigure]) -> String {
    aligned(&figures.iter().filter_map(row).collect::<Vec<_>>())
}

fn row(figure: &SpeedFigure) -> Option<[String; 4]> {
    let number = |value: f64| significant(value, 3);
    let (low, high) = figure.spread()?;
    let median = format!("{} {}", number(figure.median()?), figure.unit);
    let target = figure.target.map(|target| match target {
        SpeedTarget::AtMost(limit) => format!("target: at most {limit}"),
        SpeedTarget::AtLeast(limit) => format!("target: at least {limit}"),
    });
    let status = figure.is_met().map(|is_met| if is_met { ", met" } else { ", missed" });
    Some([
        figure.name.to_owned(),
        median.trim_end().to_owned(),
        format!("({} to {})", number(low), number(high)),
        format!("{}{}", target.unwrap_or_default(), status.unwrap_or_default()),
    ])
}

/// A directory for the labs, which goes when this does.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Result<Self, Failure> {
        let path = std::env::temp_dir().join(format!("disklab-bench-{}", std::process::id()));
        std::fs::create_dir(&path).map_err(|e| {
            Failure::failed(format!("cannot create directory '{}': {e}", path.display()))
        })?;
        Ok(Self(path))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_says_what_was_missed() {
        let figure = |name, unit, target, values: &[f64]| SpeedFigure {
            key: "key",
            name,
            unit,
            target,
            values: values.to_vec(),
        };
        let figures = [
            figure("reads", "RT", Some(SpeedTarget::AtMost(8.0)), &[9.0, 8.5, 7.0]),
            figure("a longer name", "", None, &[1234.5]),
            figure("nothing", "", None, &[]),
        ];
        let text = table(&figures);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2, "{text}");
        assert!(lines[0].contains("8.50 RT  (7.00 to 9.00)  target: at most 8, missed"), "{text}");
        assert!(lines[1].starts_with("a longer name"), "{text}");
        assert_eq!(value(&figures[0])["met"], false);
        assert_eq!(value(&figures[2])["median"], Value::Null);
    }
}
