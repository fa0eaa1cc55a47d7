//! Reading rows and summaries of any Filebench.

/// A row as printed.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedRow {
    /// Name of the flowops.
    pub name: String,
    /// Completed, as far as Filebench counted right.
    pub operations: i64,
    /// Operations per second.
    pub per_second: f64,
    /// 2²⁰ bytes per second.
    pub mb_per_second: f64,
    /// Mean latency in milliseconds.
    pub mean_ms: f64,
    /// CPU time of an operation in microseconds: 1.4.9 only.
    pub processor_us: Option<f64>,
    /// Smallest and largest latency in milliseconds: not in all versions.
    pub range_ms: Option<(f64, f64)>,
    /// Buckets of the latency histogram, where there is one.
    pub histogram: Vec<u64>,
}

/// A summary as printed.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedSummary {
    /// Completed by all flowops together.
    pub operations: i64,
    /// Operations per second.
    pub per_second: f64,
    /// Of all reading flowops.
    pub reads_per_second: f64,
    /// Of all writing flowops.
    pub writes_per_second: f64,
    /// 2²⁰ bytes per second.
    pub mb_per_second: f64,
    /// CPU time of an operation in microseconds: 1.4.9 only.
    pub processor_us: Option<f64>,
    /// Mean latency in milliseconds.
    pub mean_ms: f64,
}

/// What a line says of why a run ended before its time: empty where the reason comes in
/// the lines that follow, as in Filebench's own warning. None where it says nothing of it.
pub fn parse_stop(line: &str) -> Option<&str> {
    let (_, why) = line.split_once("Run stopped early")?;
    Some(why.strip_prefix(':').unwrap_or(why).trim())
}

/// A number before a unit: `12.5` in `12.5mb/s`.
fn before(word: &str, unit: &str) -> Option<f64> {
    word.strip_suffix(unit)?.parse().ok().filter(|n: &f64| n.is_finite())
}

/// A row of the breakdown; none where the line is something else.
pub fn parse_row(line: &str) -> Option<ParsedRow> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let at = words
        .iter()
        .position(|word| word.strip_suffix("ops").is_some_and(|n| n.parse::<i64>().is_ok()))?;
    // The name may hold spaces: it is what stands before.
    let name = line.get(..line.find(words[at])?)?.trim().to_owned();
    let mut rest = words[at..].iter().copied();
    let operations = rest.next()?.strip_suffix("ops")?.parse().ok()?;
    let per_second = before(rest.next()?, "ops/s")?;
    let mb_per_second = before(rest.next()?, "mb/s")?;
    let mean_ms = before(rest.next()?, "ms/op")?;
    let mut rest = rest.peekable();
    let processor_us = rest.peek().and_then(|word| before(word, "us/op-cpu"));
    if processor_us.is_some() {
        rest.next();
    }
    let range_ms =
        rest.peek().and_then(|word| before(word.strip_prefix('[')?, "ms")).and_then(|short| {
            rest.next();
            (rest.next()? == "-").then_some(())?;
            Some((short, before(rest.next()?, "ms]")?))
        });
    let histogram = rest.filter_map(|word| word.parse().ok()).collect();
    (!name.is_empty()).then_some(ParsedRow {
        name,
        operations,
        per_second,
        mb_per_second,
        mean_ms,
        processor_us,
        range_ms,
        histogram,
    })
}

/// A summary; none where the line is something else.
pub fn parse_summary(line: &str) -> Option<ParsedSummary> {
    let (_, rest) = line.split_once("IO Summary:")?;
    let words: Vec<&str> = rest.split_whitespace().map(|word| word.trim_end_matches(',')).collect();
    // 'N ops R ops/s a/b rd/wr' in both; then the old has 'N mb/s, Nus cpu/op, Nms latency'.
    let [operations, "ops", each, "ops/s", mix, "rd/wr" | "r/w)", speed, last @ ..] =
        words.as_slice()
    else {
        return None;
    };
    let (reads, writes) = mix.trim_start_matches('(').split_once('/')?;
    let (processor_us, mean_ms) = match last {
        [mean] => (None, before(mean, "ms/op")?),
        [processor, "cpu/op", mean, "latency"] => {
            (Some(before(processor, "us")?), before(mean, "ms")?)
        }
        _ => return None,
    };
    Some(ParsedSummary {
        operations: operations.parse().ok()?,
        per_second: before(each, "")?,
        reads_per_second: before(reads, "")?,
        writes_per_second: before(writes, "")?,
        mb_per_second: before(speed, "mb/s")?,
        processor_us,
        mean_ms,
    })
}
