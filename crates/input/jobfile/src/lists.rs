//! Values that are lists: sizes and zones with their shares.

use crate::error::{ChoiceError, ListError, NumberError, NumberSet, ValueError};
use crate::given::{percent, word};
use crate::job::{BlockShare, Distribution, FileOrder, MemoryPolicy, SteadyFigure, Zone, ZoneSize};
use crate::value::{KbBase, real, shown, size};

/// fio takes no more sizes (BSSPLIT_MAX in thread_options.h).
const MOST_SHARES: usize = 64;
/// fio takes no more zones (ZONESPLIT_MAX in thread_options.h).
const MOST_ZONES: usize = 256;
/// Zipf's theta where none is given (FIO_DEF_ZIPF in options.c).
const DEFAULT_THETA: f64 = 1.1;
/// Pareto's power where none is given (FIO_DEF_PARETO in options.c).
const DEFAULT_POWER: f64 = 0.2;

/// `4k/10:64k/50:32k/40`; sizes without a share have what is left in equal parts.
pub(crate) fn block_split(text: &str, base: KbBase) -> Result<Vec<BlockShare>, ValueError> {
    let entries: Vec<&str> = text.split(':').map(str::trim).collect();
    if entries.len() > MOST_SHARES {
        return Err(ListError::TooManySizes { most: MOST_SHARES }.into());
    }
    let mut shares = Vec::with_capacity(entries.len());
    for entry in entries {
        let (bytes, share) = entry.split_once('/').unwrap_or((entry, ""));
        let bytes = match size(bytes, base)? {
            0 => return Err(ChoiceError::EmptyBlock.into()),
            bytes => bytes,
        };
        let share = if share.trim().is_empty() { None } else { Some(percent(share)?) };
        shares.push((bytes, share));
    }
    let given: u32 = shares.iter().filter_map(|(_, share)| share.map(u32::from)).sum();
    let missing = shares.iter().filter(|(_, share)| share.is_none()).count() as u32;
    if given > 100 || (missing == 0 && given < 100) {
        return Err(ListError::ShareSum { percent: given }.into());
    }
    // What does not divide goes to the last ones, so that all add up to 100.
    let mut left = 100 - given;
    let mut takers = missing;
    Ok(shares
        .into_iter()
        .map(|(bytes, share)| {
            let percent = share.unwrap_or_else(|| {
                let part = left / takers.max(1);
                left -= part;
                takers = takers.saturating_sub(1);
                // At most 100.
                part as u8
            });
            BlockShare { bytes, percent }
        })
        .collect())
}

/// What each zone gets whose size is empty: equal parts of what the others leave, as in fio
/// (zone_split_ddir in options.c).
fn left_for_empty_sizes(entries: &[&str]) -> Result<u8, NumberError> {
    let sizes = || entries.iter().filter_map(|entry| entry.split_once('/')).map(|(_, s)| s.trim());
    let empty = sizes().filter(|size| size.is_empty()).count() as u32;
    let given = sizes().filter(|size| !size.is_empty()).map(|size| percent(size).map(u32::from));
    let given = given.sum::<Result<u32, NumberError>>()?;
    let left = 100_u32.saturating_sub(given).checked_div(empty).unwrap_or(0);
    // At most 100.
    Ok(left as u8)
}

/// `60/10:30/20:10/70`, or sizes in bytes behind the '/'.
fn zones(text: &str, absolute: bool, base: KbBase) -> Result<Vec<Zone>, ValueError> {
    let entries: Vec<&str> = text.split(':').map(str::trim).collect();
    if entries.len() > MOST_ZONES {
        return Err(ListError::TooManyZones { most: MOST_ZONES }.into());
    }
    let mut zones = Vec::with_capacity(entries.len());
    let left = if absolute { 0 } else { left_for_empty_sizes(&entries)? };
    let mut last_empty = None;
    for entry in entries {
        let form = || ListError::ZoneForm { found: shown(entry) };
        let (access, length) = entry.split_once('/').ok_or_else(form)?;
        let length = length.trim();
        let length = if absolute {
            ZoneSize::Bytes(match size(length, base)? {
                0 => return Err(ListError::EmptyZone.into()),
                bytes => bytes,
            })
        } else if length.is_empty() {
            last_empty = Some(zones.len());
            ZoneSize::Percent(left)
        } else {
            ZoneSize::Percent(percent(length)?)
        };
        zones.push(Zone { access_percent: percent(access)?, size: length });
    }
    let accesses: u32 = zones.iter().map(|z| u32::from(z.access_percent)).sum();
    if accesses != 100 {
        return Err(ListError::AccessSum { percent: accesses }.into());
    }
    let lengths: u32 = zones
        .iter()
        .map(|z| match z.size {
            ZoneSize::Percent(percent) => u32::from(percent),
            ZoneSize::Bytes(_) => 0,
        })
        .sum();
    // What does not divide goes to the last one.
    if let (Some(at), 1..100) = (last_empty, lengths) {
        zones[at].size = ZoneSize::Percent(left.saturating_add(100 - lengths as u8));
    } else if !absolute && lengths != 100 {
        return Err(ListError::ZoneSum { percent: lengths }.into());
    }
    let empty = |z: &Zone| z.size == ZoneSize::Percent(0) && z.access_percent > 0;
    if zones.iter().any(empty) {
        return Err(ListError::NoRoomInZone.into());
    }
    Ok(zones)
}

/// The words of `random_distribution`.
#[derive(Clone, Copy)]
enum Shape {
    Uniform,
    Zipf,
    Pareto,
    Normal,
    Zoned,
    ZonedAbsolute,
}

/// `random_distribution`: for reads, and for writes where it tells them apart.
pub(crate) fn distribution(
    text: &str,
    base: KbBase,
) -> Result<(Distribution, Distribution), ValueError> {
    let (name, rest) = text.split_once(':').map_or((text, None), |(n, r)| (n, Some(r)));
    let shape = word(
        name.trim(),
        &[
            ("random", Shape::Uniform),
            ("zipf", Shape::Zipf),
            ("pareto", Shape::Pareto),
            ("normal", Shape::Normal),
            ("zoned", Shape::Zoned),
            ("zoned_abs", Shape::ZonedAbsolute),
        ],
    )?;
    if let Shape::Zoned | Shape::ZonedAbsolute = shape {
        let absolute = matches!(shape, Shape::ZonedAbsolute);
        let list = rest.ok_or(ListError::NoZones)?;
        let sets: Vec<Vec<Zone>> =
            list.split(',').map(|part| zones(part, absolute, base)).collect::<Result<_, _>>()?;
        return match sets.as_slice() {
            [both] => Ok((Distribution::Zoned(both.clone()), Distribution::Zoned(both.clone()))),
            [reads, writes] | [reads, writes, _] => {
                Ok((Distribution::Zoned(reads.clone()), Distribution::Zoned(writes.clone())))
            }
            _ => Err(ListError::TooManyZoneLists.into()),
        };
    }
    let mut numbers = rest.map(|r| r.split(':')).into_iter().flatten();
    let first = numbers.next().map(real).transpose()?;
    let center = numbers.next().map(real).transpose()?;
    if numbers.next().is_some() {
        return Err(ListError::TooManyNumbers.into());
    }
    if center.is_some_and(|c| !(0.0..=1.0).contains(&c)) {
        return Err(ListError::Center.into());
    }
    let both = match shape {
        Shape::Zipf => Distribution::Zipf { theta: theta(first)?, center },
        Shape::Pareto => Distribution::Pareto { power: power(first)?, center },
        Shape::Normal => Distribution::Normal { deviation: deviation(first)?, center },
        _ if first.is_some() => return Err(ListError::NumberOfUniform.into()),
        _ => Distribution::Uniform,
    };
    Ok((both.clone(), both))
}

fn theta(given: Option<f64>) -> Result<f64, ListError> {
    match given.unwrap_or(DEFAULT_THETA) {
        theta if theta > 0.0 && theta != 1.0 && theta <= 100.0 => Ok(theta),
        _ => Err(ListError::Theta),
    }
}

fn power(given: Option<f64>) -> Result<f64, ListError> {
    match given.unwrap_or(DEFAULT_POWER) {
        power if power > 0.0 && power < 1.0 => Ok(power),
        _ => Err(ListError::Power),
    }
}

fn deviation(given: Option<f64>) -> Result<f64, ListError> {
    match given.ok_or(ListError::NoDeviation)? {
        deviation if (0.0..100.0).contains(&deviation) => Ok(deviation),
        _ => Err(ListError::Deviation),
    }
}

/// The names of errors that fio knows (str2error in options.c), in the order of their
/// numbers from 1.
const ERRORS: &str = "EPERM ENOENT ESRCH EINTR EIO ENXIO E2BIG ENOEXEC EBADF ECHILD EAGAIN \
                      ENOMEM EACCES EFAULT ENOTBLK EBUSY EEXIST EXDEV ENODEV ENOTDIR EISDIR \
                      EINVAL ENFILE EMFILE ENOTTY ETXTBSY EFBIG ENOSPC ESPIPE EROFS EMLINK \
                      EPIPE EDOM ERANGE";

/// The largest number of an error (MAX_ERRNO in include/linux/err.h).
const LARGEST_ERROR: i32 = 4095;

/// `ignore_error`: of reads, of writes, of verification.
pub(crate) fn errors(text: &str) -> Result<[Option<Vec<i32>>; 3], ListError> {
    let one = |name: &str| {
        let by_name = ERRORS.split_whitespace().zip(1..).find(|(known, _)| *known == name);
        let number = by_name.map(|(_, number)| number).or_else(|| name.parse().ok());
        let number = number.filter(|number| (1..=LARGEST_ERROR).contains(number));
        number.ok_or_else(|| ListError::UnknownErrno { found: shown(name) })
    };
    let mut lists = [None, None, None];
    let mut parts = text.split(',');
    for (list, part) in lists.iter_mut().zip(&mut parts) {
        let names = part.split(':').map(str::trim).filter(|name| !name.is_empty());
        let numbers = names.map(one).collect::<Result<Vec<i32>, ListError>>()?;
        *list = Some(numbers).filter(|numbers| !numbers.is_empty());
    }
    if parts.next().is_some() {
        return Err(ListError::TooManyErrorLists);
    }
    if lists.iter().all(Option::is_none) {
        return Err(ListError::NoErrno);
    }
    Ok(lists)
}

/// `steadystate`: the figure, whether its slope counts, the limit, whether in percent.
pub(crate) fn steady(
    text: &str,
    base: KbBase,
) -> Result<(SteadyFigure, bool, f64, bool), ValueError> {
    let (name, limit) = text.split_once(':').ok_or(ListError::NoSteadyLimit)?;
    let (figure, slope) = word(
        name.trim(),
        &[
            ("iops", (SteadyFigure::Iops, false)),
            ("iops_slope", (SteadyFigure::Iops, true)),
            ("bw", (SteadyFigure::Bandwidth, false)),
            ("bw_slope", (SteadyFigure::Bandwidth, true)),
        ],
    )?;
    let limit = limit.trim();
    let (number, percent) = match (limit.strip_suffix('%'), figure) {
        (Some(number), _) => (real(number)?, true),
        (None, SteadyFigure::Iops) => (real(limit)?, false),
        (None, SteadyFigure::Bandwidth) => (size(limit, base)? as f64, false),
    };
    if number <= 0.0 {
        return Err(ListError::SteadyLimit.into());
    }
    Ok((figure, slope, number, percent))
}

/// Numbers of NUMA nodes: `0-1,3`.
pub(crate) fn nodes(text: &str) -> Result<Vec<u32>, ListError> {
    numbers(text, NumberSet::Nodes)
}

/// `numa_mem_policy`.
pub(crate) fn memory_policy(text: &str) -> Result<MemoryPolicy, ListError> {
    let (mode, list) = text.split_once(':').map_or((text, None), |(mode, list)| (mode, Some(list)));
    let listed = list.map(nodes).transpose()?;
    match (mode.trim(), listed) {
        ("default", None) => Ok(MemoryPolicy::Default),
        ("local", None) => Ok(MemoryPolicy::Local),
        ("prefer", Some(nodes)) if nodes.len() == 1 => Ok(MemoryPolicy::Prefer(nodes[0])),
        ("bind", Some(nodes)) => Ok(MemoryPolicy::Bind(nodes)),
        ("interleave", nodes) => Ok(MemoryPolicy::Interleave(nodes.unwrap_or_default())),
        _ => Err(ListError::MemoryPolicy { found: shown(text) }),
    }
}

/// `file_service_type`.
pub(crate) fn file_order(text: &str) -> Result<FileOrder, ValueError> {
    #[derive(Clone, Copy)]
    enum Word {
        RoundRobin,
        Sequential,
        Random,
        Zipf,
        Pareto,
        Normal,
    }
    let (name, number) = text.split_once(':').map_or((text, None), |(n, r)| (n, Some(r)));
    let order = word(
        name.trim(),
        &[
            ("roundrobin", Word::RoundRobin),
            ("sequential", Word::Sequential),
            ("random", Word::Random),
            ("zipf", Word::Zipf),
            ("pareto", Word::Pareto),
            ("normal", Word::Normal),
            ("gauss", Word::Normal),
        ],
    )?;
    let every = || match number.map(|n| n.trim().parse::<u32>()) {
        None => Ok(1),
        Some(Ok(n)) if n > 0 => Ok(n),
        Some(_) => Err(ListError::IosPerFile),
    };
    let real = || number.map(real).transpose();
    Ok(match order {
        Word::RoundRobin => FileOrder::RoundRobin { every: every()? },
        // To fio, both go round; only the number that nobody gave differs.
        Word::Sequential if number.is_some() => FileOrder::RoundRobin { every: every()? },
        Word::Sequential => FileOrder::Sequential,
        Word::Random => FileOrder::Random { every: every()? },
        Word::Zipf => FileOrder::Zipf { theta: theta(real()?)? },
        Word::Pareto => FileOrder::Pareto { power: power(real()?)? },
        Word::Normal => FileOrder::Normal { deviation: deviation(real()?)? },
    })
}

/// `0-1,3`: numbers of processors, sorted, none twice.
pub(crate) fn processors(text: &str) -> Result<Vec<u32>, ListError> {
    numbers(text, NumberSet::Processors)
}

fn numbers(text: &str, set: NumberSet) -> Result<Vec<u32>, ListError> {
    /// More than Linux supports on any machine today (CONFIG_NR_CPUS of x86-64).
    const MOST: u32 = 8192;
    let number = |text: &str| match text.trim().parse::<u32>() {
        Ok(n) if n < MOST => Ok(n),
        _ => Err(ListError::NumberSet { set, found: shown(text) }),
    };
    let mut all = Vec::new();
    for part in text.split(',') {
        let (from, to) = match part.split_once('-') {
            Some((from, to)) => (number(from)?, number(to)?),
            None => (number(part)?, number(part)?),
        };
        if from > to {
            return Err(ListError::Backwards { found: shown(part) });
        }
        all.extend(from..=to);
        if all.len() > 4 * MOST as usize {
            return Err(ListError::TooMany { set });
        }
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn shares_add_up() {
        let split = |text: &str| {
            block_split(text, KbBase::Compatible)
                .map(|s| s.iter().map(|s| (s.bytes, s.percent)).collect::<Vec<_>>())
        };
        assert_eq!(split("4k/10:64k/50:32k/40"), Ok(vec![(4096, 10), (65536, 50), (32768, 40)]));
        assert_eq!(split("4k:8k:1k"), Ok(vec![(4096, 33), (8192, 33), (1024, 34)]));
        assert_eq!(split("4k/60:8k/"), Ok(vec![(4096, 60), (8192, 40)]));
        for (text, percent) in [("4k/60:8k/60", 120), ("4k/10", 10)] {
            assert_eq!(split(text), Err(ListError::ShareSum { percent }.into()), "{text}");
        }
        assert_eq!(split("0/50:4k/50"), Err(ChoiceError::EmptyBlock.into()));
        for text in ["4k/101", "", "4k/5:"] {
            assert!(matches!(split(text), Err(ValueError::Number(_))), "{text}");
        }
    }

    #[test]
    fn processors_are_sorted() {
        assert_eq!(processors("3,0-1,1"), Ok(vec![0, 1, 3]));
        for text in ["", "x", "0-", "99999", "-1"] {
            let error = processors(text).expect_err(text);
            assert!(matches!(error, ListError::NumberSet { .. }), "{text}: {error:?}");
        }
        assert_eq!(nodes("1-0"), Err(ListError::Backwards { found: "1-0".to_owned() }));
        let error = nodes("x").expect_err("a letter").to_string();
        assert_eq!(error, "expected nodes such as '0-1,3', found 'x'");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC{0,30}", like in "(zipf|zoned|zoned_abs|normal|random|roundrobin)?(:?[0-9.k/,-]{0,8}){0,4}") {
            for text in [text, like] {
                if let Ok(shares) = block_split(&text, KbBase::Compatible) {
                    prop_assert_eq!(shares.iter().map(|s| u32::from(s.percent)).sum::<u32>(), 100);
                }
                let _ = distribution(&text, KbBase::Standard);
                let _ = file_order(&text);
                let _ = processors(&text);
            }
        }
    }
}
