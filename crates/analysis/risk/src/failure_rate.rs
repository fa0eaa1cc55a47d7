//! How many drives of a model fail in a year, as published.

use statrs::distribution::{ContinuousCDF, Gamma};

use crate::Uncertain;

/// Failures and drive days of each model and year: Backblaze, 'Drive Stats for 2022', 'for 2023' and
/// 'for 2024' (the tables of the whole year; published on 31 January 2023, 13 February 2024 and 11
/// February 2025), which take as failed a drive that was replaced because it stopped working or was
/// about to.
const PUBLISHED: &str = include_str!("backblaze.csv");

/// The years that the table covers, for people.
pub const PUBLISHED_YEARS: &str = "2022 to 2024";

const DAYS_PER_YEAR: f64 = 365.25;

/// How many drives failed, of how many that ran for how long.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FailureRate {
    /// Drives that failed.
    pub failures: u64,
    /// Years that all drives together ran.
    pub years: f64,
}

impl FailureRate {
    /// Of a model, as drives say theirs: `HGST HUH721212ALE604`; nothing if it is not in the table.
    pub fn of_model(model: &str) -> Option<Self> {
        let is_it =
            |name: &str| model.split_whitespace().any(|word| word.eq_ignore_ascii_case(name));
        let found = Self::sum(rows().filter(|row| is_it(row.model)));
        (found.years > 0.0).then_some(found)
    }

    /// Failures a year of one drive, and its exact Poisson interval (Garwood 1936).
    pub fn per_year(&self) -> Uncertain {
        let n = self.failures as f64;
        let quantile = |shape: f64, share: f64| {
            Gamma::new(shape, 1.0).map_or(f64::NAN, |gamma| gamma.inverse_cdf(share)) / self.years
        };
        let low = if self.failures == 0 { 0.0 } else { quantile(n, 0.025) };
        let high = quantile(n + 1.0, 0.975);
        // Nobody's drive is known never to fail: the half of a failure that was nearly seen.
        let value = n.max(0.5) / self.years;
        Uncertain { value, low: if low > 0.0 { low } else { value / 100.0 }, high }
    }

    /// Of a drive of an unknown model: the mean of all, and between what nineteen of twenty models
    /// lie, those with fewer than 100 failures left out, whose own rates are not known.
    pub fn of_any_model() -> Uncertain {
        let mut models: Vec<&str> = rows().map(|row| row.model).collect();
        models.sort_unstable();
        models.dedup();
        let of = |model: &&str| Self::sum(rows().filter(|row| row.model == *model));
        let known = models.iter().map(of).filter(|rate| rate.failures >= 100);
        let mut rates: Vec<f64> = known.map(|rate| rate.failures as f64 / rate.years).collect();
        rates.sort_by(f64::total_cmp);
        let at = |share: f64| rates[((rates.len() - 1) as f64 * share).round() as usize];
        let all = Self::sum(rows());
        Uncertain { value: all.failures as f64 / all.years, low: at(0.025), high: at(0.975) }
    }

    fn sum(rows: impl Iterator<Item = Row>) -> Self {
        let none = Self { failures: 0, years: 0.0 };
        rows.fold(none, |sum, row| Self {
            failures: sum.failures + row.failures,
            years: sum.years + row.days / DAYS_PER_YEAR,
        })
    }
}

struct Row {
    model: &'static str,
    days: f64,
    failures: u64,
}

fn rows() -> impl Iterator<Item = Row> {
    PUBLISHED.lines().filter(|line| !line.starts_with('#')).skip(1).filter_map(|line| {
        let mut fields = line.split(',').skip(1);
        let model = fields.next()?;
        Some(Row {
            model,
            days: fields.next()?.parse().ok()?,
            failures: fields.next()?.parse().ok()?,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read_and_the_sums_are_the_published_ones() {
        let lines = PUBLISHED.lines().filter(|line| line.starts_with("20")).count();
        assert_eq!((rows().count(), lines), (91, 91));
        for (year, days, failures) in [
            ("2022", 78_760_434.0, 2963),
            ("2023", 89_946_975.0, 4189),
            ("2024", 101_906_290.0, 4372),
        ] {
            let lines = PUBLISHED.lines().filter(|line| line.starts_with(year));
            let fields = lines.map(|line| line.split(',').collect::<Vec<_>>());
            let (d, f) = fields.fold((0.0, 0), |(d, f), row| {
                (
                    d + row[2].parse::<f64>().expect("days"),
                    f + row[3].parse::<u64>().expect("failures"),
                )
            });
            // The sums of the tables, which leave a drive day or two to rounding.
            assert!((d - days).abs() / days < 0.02, "{year}: {d}");
            assert!(f.abs_diff(failures) < 60, "{year}: {f}");
        }
    }

    #[test]
    fn rates_are_those_of_the_tables() {
        let rate = FailureRate::of_model("HGST HUH721212ALE604").expect("in the table");
        assert_eq!(rate.failures, 73 + 125 + 435);
        let per_year = rate.per_year();
        assert!((per_year.value - 0.0161).abs() < 0.0001, "{per_year:?}");
        assert!(per_year.low < per_year.value && per_year.value < per_year.high);
        assert_eq!(FailureRate::of_model("HGST HDN721010ALE604"), None);
        let any = FailureRate::of_any_model();
        assert!((any.value - 0.0155).abs() < 0.0005, "{any:?}");
        assert!(any.low < 0.006 && any.high > 0.04, "{any:?}");
    }

    #[test]
    fn intervals_of_few_failures_are_the_tables_of_poisson() {
        // Garwood's limits of 0, 1 and 10 events.
        for (failures, low, high) in [(0, 0.0, 3.689), (1, 0.0253, 5.572), (10, 4.795, 18.39)] {
            let found = FailureRate { failures, years: 1.0 }.per_year();
            assert!((found.high - high).abs() < 0.005, "{found:?}");
            assert!(failures == 0 || (found.low - low).abs() < 0.005, "{found:?}");
            assert!(found.value > 0.0 && found.low > 0.0 && found.low < found.value);
        }
    }

    #[test]
    fn a_drive_of_any_model_is_as_one_of_nineteen_in_twenty() {
        let any = FailureRate::of_any_model();
        let mut models: Vec<&str> = rows().map(|row| row.model).collect();
        models.sort_unstable();
        models.dedup();
        let rate = |model: &str| FailureRate::of_model(model).expect("in the table");
        let known: Vec<f64> = models
            .iter()
            .map(|model| rate(model))
            .filter(|rate| rate.failures >= 100)
            .map(|rate| rate.per_year().value)
            .collect();
        assert!(known.len() >= 20, "{}", known.len());
        let beyond = known.iter().filter(|rate| **rate < any.low || **rate > any.high).count();
        assert!(beyond <= known.len() / 20, "{beyond} of {}", known.len());
        assert!(known.contains(&any.low) && known.contains(&any.high), "{any:?}");
    }

    #[test]
    fn a_model_is_found_however_its_drive_spells_it() {
        let known = FailureRate::of_model("HUH721212ALE604");
        assert!(known.is_some());
        assert_eq!(FailureRate::of_model("hgst  huh721212ale604"), known);
        // Half as many years, twice the rate, and twice its interval.
        let of = |years| FailureRate { failures: 4, years }.per_year();
        let (few, many) = (of(50.0), of(100.0));
        for (few, many) in [(few.value, many.value), (few.low, many.low), (few.high, many.high)] {
            assert!((few / many - 2.0).abs() < 1e-9, "{few} {many}");
        }
    }
}
