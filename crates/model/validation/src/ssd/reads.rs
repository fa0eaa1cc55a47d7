//! Rates of a sequential reader.

use super::sequential_read_rate;
use disklab_drive::ssd::Parameters;
use disklab_drive::{DriveFile, Kind};

use crate::{Check, CheckFigure, Outcome};

pub(crate) const CHECK: Check = Check {
    id: "flash-reads",
    title: "Reading in sequence",
    about: "\
Sequential reads of 128 KiB, one at a time, of 2 GiB that were written in sequence and have left the \
SLC cache, if there is one. What is read ahead is in memory when it is asked for: each request takes \
its overhead and the link, and the flash works meanwhile (data sheet of the PM983: 15 µs for a \
sequential read of 4 KiB, 85 µs for a random one). Without read-ahead it waits for the flash as well; \
published tests of drives of these classes lie between the two at depth 2 (kitguru.net: 970 EVO 2 TB, \
2,594 MB/s of 3,402; NV2 1 TB, 2,766 of 3,562). A drive that reads one such request ahead may wait for \
the flash still.",
    by_drive: None,
    run,
};

/// Bytes of a request, and of all.
const REQUEST: u64 = 128 << 10;
const TOTAL: u64 = 2 << 30;

fn run(file: &DriveFile) -> Option<Outcome> {
    let Kind::Ssd(parameters) = &file.kind else { return None };
    if parameters.buffer.read_ahead < REQUEST {
        return None;
    }
    let own = Parameters { slc_cache: None, ..parameters.clone() };
    let mut without = own.clone();
    without.buffer.read_ahead = 0;
    let [own, without] = [own, without].map(|p| sequential_read_rate(&p, REQUEST, 1, TOTAL) / 1e6);
    let interface = &parameters.interface;
    let overhead = (interface.command + interface.large_read_overhead) as f64 * 1e-9;
    let each = overhead + REQUEST as f64 / interface.link_rate;
    let full = REQUEST as f64 / each / 1e6;
    let one = if parameters.buffer.read_ahead < 2 * REQUEST {
        CheckFigure::at_most(
            "one at a time, one ahead, over what overhead and link allow",
            "",
            own / full,
            1.001,
        )
    } else {
        CheckFigure::near("one at a time", "MB/s", own, full, 0.05)
    };
    Some(Outcome {
        figures: vec![
            one,
            CheckFigure::usual("over the same without read-ahead", "", own / without, (1.2, 3.0)),
        ],
        charts: Vec::new(),
    })
}
