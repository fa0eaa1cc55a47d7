//! The lines of fio's text for people: each form in which they were printed since version 1.5x.

use disklab_sample::Direction;
use disklab_units::Bytes;

use super::amounts::{BINARY, FioAmount, THOUSAND};
use super::work::section_name;

/// A job as it is announced: `a: (g=0): rw=read, bs=(R) 4096B-4096B, …, ioengine=psync, iodepth=1`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FioHead {
    pub name: String,
    pub group: u64,
    /// The size of reads, writes and trims, if it is always the same.
    pub sizes: [Option<u64>; 3],
    /// As lines of a job file.
    pub options: Vec<String>,
}

pub(super) fn head(line: &str) -> Option<FioHead> {
    let (name, rest) = line.split_once(": (g=")?;
    let (group, rest) = rest.split_once("): ")?;
    let value = |key: &str| {
        let (_, value) = rest.split_once(key)?;
        value.split(',').next().map(str::trim)
    };
    let rw = value("rw=")?;
    let (_, sizes) = rest.split_once("bs")?;
    let sizes = sizes.split_once('=')?.1;
    let sizes = &sizes[..sizes.find("ioengine").unwrap_or(sizes.len())];
    let ranges: Vec<(Option<u64>, Option<u64>)> = sizes
        .split([',', '/'])
        .map(|part| part.trim().trim_start_matches(['(', ')', 'R', 'W', 'T', ' ']))
        .filter_map(|part| part.split_once('-'))
        .map(|(low, high)| (size(low), size(high)))
        .collect();
    let short = |n: &Option<u64>| n.map_or_else(|| "?".to_owned(), |n| Bytes(n).short());
    let mut texts: Vec<String> = ranges
        .iter()
        .map(|(low, high)| match low == high {
            true => short(low),
            false => format!("{}-{}", short(low), short(high)),
        })
        .collect();
    texts.dedup();
    let key = if ranges.iter().all(|(low, high)| low == high) { "bs" } else { "bsrange" };
    let mut options = vec![format!("{key}={}\n", texts.join(","))];
    for key in ["ioengine", "iodepth"] {
        let found = value(&format!("{key}=")).filter(|value| !value.is_empty());
        options.extend(found.map(|value| format!("{key}={value}\n")));
    }
    options.push(format!("rw={rw}\n"));
    let of = |side: usize| {
        let (low, high) = *ranges.get(side)?;
        low.filter(|_| low == high)
    };
    Some(FioHead {
        name: section_name(name),
        group: group.parse().ok()?,
        sizes: [of(0), of(1), of(2)],
        options,
    })
}

/// A size that is exact as it is printed: `4096B`, `128KiB`, and `4K` before version 2.17.
fn size(text: &str) -> Option<u64> {
    let text = text.trim();
    let in_thousands = text.ends_with("kB") || text.ends_with("MB") || text.ends_with("GB");
    let amount = FioAmount::read(text, BINARY).filter(|_| !in_thousands)?;
    (amount.value.fract() == 0.0).then_some(amount.value as u64)
}

/// A job's result: `a: (groupid=0, jobs=1): err= 0: pid=7: Sun …`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FioResult {
    pub name: String,
    pub group: u64,
    pub members: u64,
    pub process: Option<u64>,
    pub failure: Option<String>,
}

pub(super) fn result(line: &str) -> Option<FioResult> {
    let (name, rest) = line.split_once(": (groupid=")?;
    let (group, rest) = rest.split_once(", jobs=")?;
    let (members, rest) = rest.split_once("): err=")?;
    // What fio shows of its progress may be in the same line.
    let name = name.rsplit("[eta ").next().unwrap_or(name);
    let name = name.rsplit(']').next().filter(|name| !name.is_empty()).unwrap_or(name);
    let rest = rest.trim_start();
    let error = &rest[..rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(rest.len())];
    let process = rest.split_once("pid=").map(|(_, pid)| pid);
    let process = process.and_then(|pid| pid.split(':').next()?.trim().parse().ok());
    let name = section_name(name);
    let why = rest.split_once("error=").and_then(|(_, why)| why.split(')').next());
    let why = why.map_or_else(String::new, |why| format!(": {why}"));
    let failure = (error.trim_start_matches('-') != "0")
        .then(|| format!("fio's job '{name}' ended with error {error}{why}"));
    Some(FioResult {
        group: group.parse().ok()?,
        members: members.parse().ok()?,
        process,
        failure,
        name,
    })
}

/// What was done in one direction, as fio rounds it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FioSide {
    pub direction: Direction,
    pub bytes: FioAmount,
    pub rate: FioAmount,
    pub iops: Option<FioAmount>,
    pub runtime_ms: f64,
}

/// `read: IOPS=8632, BW=33.7MiB/s (35.4MB/s)(67.9MiB/2013msec)`, and before version 2.17 `read :
/// io=409600KB, bw=40956KB/s, iops=10239, runt= 10001msec`.
pub(super) fn side(line: &str) -> Option<FioSide> {
    let (name, rest) = line.trim().split_once(':')?;
    let direction = direction(name.trim())?;
    let value = |key: &str| {
        let (_, value) = rest.split_once(key)?;
        value.split([',', ' ', '(']).find(|part| !part.is_empty())
    };
    if let Some(rate) = value("BW=") {
        let (amounts, _) = rest.rsplit_once("msec)")?;
        let (bytes, runtime) = amounts.rsplit_once('(')?.1.split_once('/')?;
        return Some(FioSide {
            direction,
            bytes: FioAmount::read(bytes, THOUSAND)?,
            rate: FioAmount::read(rate, THOUSAND)?,
            iops: FioAmount::read(value("IOPS=")?, THOUSAND),
            runtime_ms: runtime.trim().parse().ok()?,
        });
    }
    Some(FioSide {
        direction,
        bytes: FioAmount::read(value("io=")?, BINARY)?,
        rate: FioAmount::read(value("bw=")?, BINARY)?,
        iops: FioAmount::read(value("iops=")?, THOUSAND),
        runtime_ms: value("runt=")?.trim_end_matches("msec").parse().ok()?,
    })
}

/// A line of `Run status group`: `READ: bw=33.7MiB/s (35.4MB/s), …, io=67.9MiB (71.2MB),
/// run=2013-2013msec`, and before version 2.17 `READ: io=…, aggrb=…, …, maxt=10001msec`.
pub(super) fn group_side(line: &str) -> Option<FioSide> {
    let (name, rest) = line.trim().split_once(':')?;
    let direction = ["READ", "WRITE", "TRIM", "MIXED"].contains(&name).then_some(name)?;
    let direction = self::direction(&direction.to_lowercase())?;
    let value = |key: &str| {
        let found = rest.split(',').find_map(|part| part.trim().strip_prefix(key))?;
        found.split([' ', '(']).find(|part| !part.is_empty())
    };
    let (rate, base, runtime) = match value("aggrb=") {
        Some(rate) => (rate, BINARY, value("maxt=")?),
        None => (value("bw=")?, THOUSAND, value("run=")?.rsplit('-').next()?),
    };
    Some(FioSide {
        direction,
        bytes: FioAmount::read(value("io=")?, base)?,
        rate: FioAmount::read(rate, base)?,
        iops: None,
        runtime_ms: runtime.trim_end_matches("msec").parse().ok()?,
    })
}

fn direction(name: &str) -> Option<Direction> {
    super::report::DIRECTIONS.iter().find(|(known, _)| *known == name).map(|(_, found)| *found)
}

/// `clat (usec): min=13, max=122670, avg=811.01, stdev=3883.28`, in nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FioLatency {
    pub completion: bool,
    /// The least, the largest, the mean and the deviation.
    pub moments: [f64; 4],
}

pub(super) fn latency(line: &str) -> Option<FioLatency> {
    let (name, rest) = line.trim().split_once(" (")?;
    let completion = match name {
        "clat" => true,
        "lat" => false,
        _ => return None,
    };
    let (unit, rest) = rest.split_once(')')?;
    let unit = nanoseconds(unit)?;
    let value = |key: &str| {
        let found = rest.split([',', ':']).find_map(|part| part.trim().strip_prefix(key))?;
        FioAmount::read(found, THOUSAND).map(|amount| amount.value * unit)
    };
    let moments = [value("min=")?, value("max=")?, value("avg=")?, value("stdev=").unwrap_or(0.0)];
    Some(FioLatency { completion, moments })
}

fn nanoseconds(unit: &str) -> Option<f64> {
    match unit {
        "nsec" => Some(1.0),
        "usec" => Some(1e3),
        "msec" => Some(1e6),
        "sec" => Some(1e9),
        _ => None,
    }
}

/// Whether a line begins a list of percentiles, and of which: `clat percentiles (usec):`. Those of
/// submission, of flushes and of priorities are none.
pub(super) fn percentile_list(line: &str) -> Option<Option<(bool, f64)>> {
    let (name, rest) = line.trim().split_once(" percentiles (")?;
    let unit = rest.split(')').next().and_then(nanoseconds);
    let completion = match name {
        "clat" => Some(true),
        "lat" => Some(false),
        _ => None,
    };
    Some(completion.zip(unit))
}

/// `|  1.00th=[   359],  5.00th=[   383], …`: shares and values.
pub(super) fn percentiles(line: &str) -> Option<Vec<(f64, f64)>> {
    let list = line.trim().strip_prefix('|')?;
    let entry = |part: &str| -> Option<(f64, f64)> {
        let (share, value) = part.trim().split_once("th=[")?;
        let value = value.trim_end_matches([']', ',']).trim();
        let share = decimal(share).filter(|share| *share <= 100.0)?;
        Some((share / 100.0, FioAmount::read(value, THOUSAND)?.value))
    };
    let parts = list.split_inclusive(']').map(|part| part.trim_start_matches([',', ' ']));
    parts.filter(|part| !part.trim().is_empty()).map(entry).collect()
}

fn decimal(text: &str) -> Option<f64> {
    crate::text::decimal(text.trim())
}

/// `issued rwts: total=17378,0,0,0 short=…`, and before version 2.17 `issued    :
/// total=r=17378/w=0/d=0, short=…`: how many operations of each direction.
pub(super) fn issued(line: &str) -> Option<Vec<u64>> {
    let rest = line.trim().strip_prefix("issued")?;
    let (_, totals) = rest.split_once("total=")?;
    let totals = totals.split("short").next()?.trim().trim_end_matches(',');
    totals
        .split([',', '/'])
        .map(|n| n.trim_start_matches(['r', 'w', 'd', '=']).parse().ok())
        .collect()
}

/// A line below 'Disk stats': the drive, its reads, writes, and sectors of each.
pub(super) fn drive(line: &str) -> Option<(&str, [u64; 4])> {
    let (name, rest) = line.trim().split_once(": ios=")?;
    // Of a device that is built on others, those others are reported, too.
    if rest.contains("aggrios=") {
        return None;
    }
    let pair = |text: &str| {
        let (read, written) = text.split(',').next()?.split_once('/')?;
        Some((read.parse().ok()?, written.parse().ok()?))
    };
    let (reads, writes) = pair(rest)?;
    let (read, written) = pair(rest.split_once("sectors=")?.1)?;
    Some((name, [reads, writes, read, written]))
}

/// `fio-3.33`, or `fio 2.0.7`, alone in a line.
pub(super) fn version(line: &str) -> Option<&str> {
    let line = line.trim();
    let rest = line.strip_prefix("fio-").or_else(|| line.strip_prefix("fio "))?;
    let plain = rest.starts_with(|c: char| c.is_ascii_digit()) && !rest.contains([' ', ':']);
    plain.then_some(line)
}
