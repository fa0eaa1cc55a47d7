//! The surroundings: machine, tools, drives, mounts.

use disklab_measure::DriveState;
use disklab_units::{Bytes, significant};
use maud::{Markup, html};

use crate::Report;
use crate::quantity::Quantity;
use crate::view::{smart_lines, tool};

/// The section.
pub(crate) fn section(report: &Report) -> Markup {
    let environment = &report.info.environment;
    let facts = &report.facts;
    html! {
        section id="environment" {
            h2 { "Environment" }
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
                @if let Some(foreign) = facts.foreign_bytes {
                    (entry("Foreign I/O", &format!(
                        "{} median, {} worst per cell, on devices outside the stack",
                        Quantity::Size.show(foreign.median), Quantity::Size.show(foreign.worst)
                    )))
                }
                @for (name, value) in &environment.extra { (entry(name, value)) }
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
        }
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

fn drives(drives: &[DriveState]) -> Markup {
    html! {
        @if !drives.is_empty() {
            h3 { "Drives" }
            div.scroll role="region" tabindex="0" aria-label="Drives" {
                table {
                    thead {
                        tr {
                            @for name in [
                                "drive", "device", "model", "serial", "firmware", "size", "sectors",
                                "kind", "scheduler", "write cache", "SMART",
                            ] { th scope="col" { (name) } }
                        }
                    }
                    tbody { @for drive in drives { (drive_row(drive)) } }
                }
            }
        }
    }
}

fn drive_row(drive: &DriveState) -> Markup {
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "–".to_owned());
    let mut kind = match drive.rotational {
        Some(true) => "rotating",
        Some(false) => "not rotating",
        None => "–",
    }
    .to_owned();
    for more in [&drive.zoned, &drive.link_speed].into_iter().flatten() {
        kind = format!("{kind}, {more}");
    }
    let sectors = drive.sectors.map_or_else(
        || "–".to_owned(),
        |(logical, physical)| format!("{logical} B logical, {physical} B physical"),
    );
    let device = match &drive.backing_file {
        Some(file) => format!("{} ({file})", drive.device),
        None => drive.device.clone(),
    };
    let smart = drive.smart.as_ref().map(smart_lines).unwrap_or_default();
    html! {
        tr {
            th scope="row" { (drive.drive) }
            td { (device) }
            td { (text(&drive.model)) }
            td { (text(&drive.serial)) @if let Some(wwid) = &drive.wwid { " " small { (wwid) } } }
            td { (text(&drive.firmware)) }
            td { (Bytes(drive.size_bytes).si()) }
            td { (sectors) }
            td { (kind) }
            td { (text(&drive.scheduler)) }
            td { (text(&drive.write_cache)) }
            td { @if smart.is_empty() { "–" } @else { (smart.join("; ")) } }
        }
    }
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
                                    td { code { (stack.layers) } }
                                    td { (stack.drives.join(", ")) }
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
