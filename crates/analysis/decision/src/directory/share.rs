//! A share of another machine: what of its figures is the network's, as far as that is seen from
//! here.

use disklab_sample::NetworkShare;
use disklab_study::Measure;
use disklab_units::{BytesPerSecond, show_nanoseconds};

use super::figures::{OwnFigure, here};
use super::words::{begun, part};

/// Payload of TCP over Ethernet with frames of 1,500 bytes: 1,448 of 1,538 bytes on the wire
/// (IEEE 802.3: preamble, header, checksum, gap; IP and TCP with time stamps).
const PAYLOAD: f64 = 1448.0 / 1538.0;
/// From this share of the link on, the link is what limits.
const FULL: f64 = 0.8;
/// A link does not carry more than this share of it.
const BEYOND: f64 = 1.05;
/// From this share of a request's time on, it is mostly the network's.
const MOSTLY: f64 = 0.5;

/// The verdict, and the figures.
pub(super) fn sentences(share: &NetworkShare, figures: &[OwnFigure<'_>]) -> Vec<String> {
    let mut parts = streams(share, figures);
    parts.extend(requests(share, figures));
    if parts.is_empty() {
        parts.push("how much of it is due to the network cannot be seen from here".to_owned());
    }
    let server = &share.server;
    vec![
        begun(&format!("{}.", parts.join("; "))),
        here(figures),
        format!(
            "Reads may come from the memory of {server}, as the files were just written. For what \
             its drives do, run this study on {server}."
        ),
    ]
}

/// What streams have of the link.
fn streams(share: &NetworkShare, figures: &[OwnFigure<'_>]) -> Vec<String> {
    let streams = || figures.iter().filter(|own| own.answer.measure == Measure::Throughput);
    let Some(link) = share.link.as_ref().filter(|_| streams().next().is_some()) else {
        return Vec::new();
    };
    let Some(megabits) = link.megabits else {
        let why =
            if link.is_wireless { "is wireless, so its speed changes" } else { "reports no speed" };
        return vec![format!("what the network carries is not known: {} {why}", link.name)];
    };
    let most = megabits as f64 * 1e6 / 8.0 * PAYLOAD;
    let carries = format!("{} carries {} at most", link.name, BytesPerSecond(most).si());
    let each = streams().map(|own| {
        let of_link = own.point.estimate.centre / most;
        let what = if of_link > BEYOND {
            "are faster than the network: this machine's memory answers them".to_owned()
        } else if of_link >= FULL {
            "are as fast as the network".to_owned()
        } else {
            format!(
                "have {} of the network's speed: the server limits them, or something in between",
                part(of_link)
            )
        };
        format!("{} {what}", own.noun)
    });
    let mut all: Vec<String> = each.collect();
    if let Some(first) = all.first_mut() {
        first.push_str(&format!(" ({carries})"));
    }
    all
}

/// What a request that needs no drive has of the time of others.
fn requests(share: &NetworkShare, figures: &[OwnFigure<'_>]) -> Vec<String> {
    let Some(round_trip) = share.round_trip_ns else { return Vec::new() };
    let single = figures.iter().filter(|own| own.answer.measure == Measure::Iops);
    let each = single.map(|own| {
        // Above 0, as all figures are of which there is an estimate.
        let takes = 1e9 / own.point.estimate.centre;
        let of_network = (round_trip as f64 / takes).min(1.0);
        let whose = if of_network >= MOSTLY { ", most of it" } else { "" };
        format!(
            "of the {} of {} the network and the server's answer take {}{whose}",
            show_nanoseconds(takes),
            one(&own.noun),
            show_nanoseconds(round_trip as f64)
        )
    });
    each.collect()
}

/// 'a small synchronous write' of 'small synchronous writes'.
fn one(noun: &str) -> String {
    format!("a {}", noun.strip_suffix('s').unwrap_or(noun))
}
