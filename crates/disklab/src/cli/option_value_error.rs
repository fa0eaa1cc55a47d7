//! Why the text of an option is not its value.

/// Why the text of an option is not its value. Clap adds which option and which text it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OptionValueError {
    /// Not a seed.
    #[error("expected an integer from 0 to {}", u64::MAX)]
    Seed,
    /// Not a scale, or one that no study can have.
    #[error("expected a factor from above 0 to 1000, such as 1/16 or 0.25")]
    Scale,
    /// Not a time in seconds.
    #[error("expected a number of seconds, such as 60 or 0.5")]
    Seconds,
    /// Not a number of years.
    #[error("expected a number of years from 0.01 to 100")]
    Years,
    /// Not a number of bits.
    #[error("expected a number of bits from 1e9 to 1e30, such as 1e15")]
    Bits,
    /// A time in which nothing is measured.
    #[error("a run of 0 seconds measures nothing; expected more, such as 60")]
    NoTime,
    /// Not a pair of names.
    #[error("'{0}' is not of the form OLD=NEW, such as raid5/ext4=raid5/xfs")]
    Map(String),
    /// Not the name of an audit.
    #[error("there is no audit '{0}'; `disklab list audits` names them")]
    Audit(String),
    /// Not a measure.
    #[error("expected throughput, iops, latency-p50, latency-p99, latency-p999, elapsed or missed")]
    Measure,
    /// Not a time of a calendar.
    #[error("expected a date such as 2026-03-01, or a time such as 2026-03-01T02:00Z")]
    Time,
}
