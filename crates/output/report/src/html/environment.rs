//! The surroundings: machine, tools, drives, mounts.

use disklab_cell::PlannedLayer;
use disklab_comparisons::Quantity;
use disklab_sample::DriveState;
use disklab_units::{Bytes, significant};
use maud::{Markup, html};

use crate::Report;
use crate::view::{smart_lines, tool};

pub(crate) fn section(report: &Report) -> Markup {
    let environment = &report.info.environment;
    let facts = &report.facts;
    html! {
        (super::fold("environment", "Environment", false, &html! {
            dl {
                (entry("Kernel", &facts.kernels.join("; ")))
                (entry("Distribution", environment.distribution.as_deref().unwrap_or_default()))
                (entry("Processor", &processor(report)))
                @if environment.memory_bytes > 0 {
                    (entry("Memory", &Bytes(environment.memory_bytes).iec()))
                }
                (entry("Virtual machine", environment.virtual_machine.as_deref().unwrap_or_default()))
                @if let Some(load) = facts.load {
                    (entry("Load before the cells", &format!(
                        "{} median, {} worst (1-minute average)",
                        significant(load.median, 3), significant(load.worst, 3)
                    )))
                }
                @if let Some(background) = facts.background_bytes {
                    (entry("Background I/O", &format!(
                        "{} median, {} worst per cell, on devices outside the stack",
                        Quantity::Size.show(background.median), Quantity::Size.show(background.worst)
                    )))
                }
            }
            @if !environment.extra.is_empty() {
                details {
                    summary { "Settings of the kernel and other surroundings" }
                    dl { @for (name, value) in &environment.extra { (entry(name, value)) } }
                }
            }
            @if !facts.tools.is_empty() {
                h3 { "Programs" }
                ul.tools {
                    @for one in &facts.tools { li { (tool(one)) } }
                }
            }
            (drives(&facts.drives))
            (mounts(report))
            (stacks(report))
        }))
    }
}

fn entry(name: &str, value: &str) -> Markup {
    html! { @if !value.is_empty() { dt { (name) } dd { (value) } } }
}

fn processor(report: &Report) -> String {
    let environment = &report.info.environment;
    let name = environment.processor.as_deref().unwrap_or_default();
    match environment.processors {
        0 => name.to_owned(),
        n => format!("{name} ({n} online)").trim_start().to_owned(),
    }
}

/// A column of the table of drives: its head and what it says of a drive.
type Column = (&'static str, fn(&DriveState) -> String);

const COLUMNS: [Column; 10] = [
    ("device", device),
    ("model", |d| d.model.clone().unwrap_or_default()),
    ("serial number", |d| joined([&d.serial, &d.wwid])),
    ("firmware", |d| d.firmware.clone().unwrap_or_default()),
    // Of drives that an import names, it is not known.
    ("size", |d| if d.size_bytes > 0 { Bytes(d.size_bytes).si() } else { String::new() }),
    ("sectors", sectors),
    ("kind", kind),
    ("scheduler", |d| d.scheduler.clone().unwrap_or_default()),
    ("write cache", |d| d.write_cache.clone().unwrap_or_default()),
    ("SMART", |d| d.smart.as_ref().map(smart_lines).unwrap_or_default().join("; ")),
];

fn drives(drives: &[DriveState]) -> Markup {
    // What no drive tells needs no column.
    let listed = COLUMNS.iter().filter(|(_, show)| drives.iter().any(|d| !show(d).is_empty()));
    let columns: Vec<&Column> = listed.collect();
    html! {
        @if !drives.is_empty() {
            h3 { "Drives" }
            div.scroll role="region" tabindex="0" aria-label="Drives" {
                table {
                    thead {
                        tr {
                            th scope="col" { "drive" }
                            @for (name, _) in &columns { th scope="col" { (name) } }
                        }
                    }
                    tbody {
                        @for drive in drives {
                            tr {
                                th scope="row" { (drive.drive) }
                                @for (_, show) in &columns { td { (or_dash(show(drive))) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn or_dash(text: String) -> String {
    if text.is_empty() { "–".to_owned() } else { text }
}

fn joined<const N: usize>(parts: [&Option<String>; N]) -> String {
    parts.into_iter().flatten().cloned().collect::<Vec<_>>().join(", ")
}

fn device(drive: &DriveState) -> String {
    match &drive.backing_file {
        Some(file) => format!("{} ({file})", drive.device),
        None => drive.device.clone(),
    }
}

fn sectors(drive: &DriveState) -> String {
    drive.sectors.map_or_else(String::new, |(logical, physical)| {
        format!("{logical} B logical, {physical} B physical")
    })
}

fn kind(drive: &DriveState) -> String {
    let rotates = drive.rotational.map(|r| if r { "rotating" } else { "not rotating" }.to_owned());
    joined([&rotates, &drive.zoned, &drive.link_speed])
}

fn mounts(report: &Report) -> Markup {
    html! {
        @if !report.facts.mounts.is_empty() {
            details {
                summary { "Mounts, as the kernel reported them" }
                dl.mounts {
                    @for stack in &report.facts.mounts {
                        dt { (stack.stack) }
                        @for mount in &stack.mounts { dd { code { (mount) } } }
                    }
                }
            }
        }
    }
}

fn stacks(report: &Report) -> Markup {
    let stacks = &report.info.stacks;
    html! {
        @if !stacks.is_empty() {
            details {
                summary { "Stacks: layers and drives" }
                div.scroll role="region" tabindex="0" aria-label="Stacks" {
                    table {
                        thead {
                            tr {
                                th scope="col" { "stack" }
                                th scope="col" { "layers, bottom-up" }
                                th scope="col" { "drives" }
                                th.n scope="col" { "usable, predicted" }
                                th.n scope="col" { "drives that may fail" }
                            }
                        }
                        tbody {
                            @for stack in stacks {
                                tr {
                                    th scope="row" { (stack.id) }
                                    td { code { (PlannedLayer::notation(&stack.layers)) } }
                                    td { (stack.drive_words()) }
                                    td.n { (Bytes(stack.capacity).si()) }
                                    td.n { (stack.tolerates) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
