//! What a figure measures, in a few words: '4 KiB synchronous writes'.

use disklab_sample::{Direction, Durability, Order, SyncCall, TimeIn};
use disklab_study::{Part, Study};
use disklab_units::Bytes;

use crate::{Group, GroupKey};

/// A figure in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Described {
    /// '4 KiB synchronous writes', or the workload's title in quotes.
    pub noun: String,
    /// Whether the noun is a plural.
    pub plural: bool,
    /// The noun without its size, where it has one: 'synchronous writes'.
    pub sizeless: Option<String>,
    /// The figure's id where it is not the noun already: `dd-4k`, `copy:cp`.
    id: Option<String>,
}

impl Described {
    /// The noun with the id: '4 KiB synchronous writes (dd-4k)'.
    pub fn full(&self) -> String {
        match &self.id {
            Some(id) => format!("{} ({id})", self.noun),
            None => self.noun.clone(),
        }
    }
}

/// Whether the workload has other steps, and this step other directions.
fn siblings(groups: &[Group], key: &GroupKey) -> (bool, bool) {
    let of_workload =
        || groups.iter().map(|g| &g.key).filter(|k| k.levels.workload == key.levels.workload);
    let steps = of_workload().any(|k| k.step != key.step);
    let directions = of_workload().any(|k| k.step == key.step && k.direction != key.direction);
    (steps, directions)
}

/// A figure's id: `dd-4k`; `copy:cp` where the workload has several steps; with
/// the direction behind it, `mix (read)`, where the step has several.
pub fn figure_id(groups: &[Group], key: &GroupKey) -> String {
    let (steps, directions) = siblings(groups, key);
    let mut id = key.levels.workload.clone();
    if steps {
        id = format!("{id}:{}", key.step);
    }
    if directions {
        id = format!("{id} ({})", key.direction.word());
    }
    id
}

/// A group's figure in words: what its requests are, if they are known and alike; else the
/// workload's title is quoted.
pub fn describe(study: &Study, groups: &[Group], key: &GroupKey) -> Described {
    let whole = describe_whole(study, groups, key);
    match key.part {
        Part::Whole => whole,
        Part::Steady => {
            Described { noun: format!("the steady part of {}", whole.noun), plural: false, ..whole }
        }
    }
}

fn describe_whole(study: &Study, groups: &[Group], key: &GroupKey) -> Described {
    let (steps, directions) = siblings(groups, key);
    let id = if steps {
        format!("{}:{}", key.levels.workload, key.step)
    } else {
        key.levels.workload.clone()
    };
    let spec = study.workloads.iter().find(|w| w.id == key.levels.workload);
    let same = |k: &GroupKey| {
        (&k.levels.workload, &k.step, k.direction)
            == (&key.levels.workload, &key.step, key.direction)
    };
    let group = groups.iter().find(|g| same(&g.key) && g.profile.is_some());
    if let Some((size, sizeless)) = group.and_then(by_requests) {
        let noun = format!("{size} {sizeless}");
        return Described { noun, plural: true, sizeless: Some(sizeless), id: Some(id) };
    }
    let title = spec.map_or(key.levels.workload.as_str(), |s| s.title.as_str());
    let mut noun = format!("'{title}'");
    if steps {
        noun = format!("{noun}, step {}", key.step);
    }
    if directions {
        noun = format!("{noun} ({})", key.direction.word());
    }
    let named = title == key.levels.workload;
    Described { noun, plural: false, sizeless: None, id: (!named).then_some(id) }
}

/// Size, and kind of operation in the plural.
fn by_requests(group: &Group) -> Option<(String, String)> {
    let work = match group.key.direction {
        Direction::Read => "reads",
        Direction::Write => "writes",
        Direction::Trim | Direction::Copy | Direction::Remove | Direction::Mixed => return None,
    };
    let profile = group.profile();
    // What waits for its own clock is no matter of requests.
    if profile.time_in == Some(TimeIn::Waiting) {
        return None;
    }
    let requests = group.requests()?;
    // An fsync at the end makes the file safe, not each write.
    let durability = profile.durability.filter(|_| group.key.direction == Direction::Write);
    let manner = match durability {
        Some(Durability::EachWrite(SyncCall::OSync)) => "synchronous ",
        // Its rate is that of commits, and has little to do with that of plain writes.
        Some(Durability::EachWrite(SyncCall::Fsync | SyncCall::Fdatasync)) => "durable ",
        _ if profile.stream && profile.is_direct() => "direct ",
        _ => "",
    };
    let order = if requests.order == Order::Random { "random " } else { "" };
    Some((Bytes(requests.size()?).iec(), format!("{manner}{order}{work}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{RunFixture, figure, step};

    #[test]
    fn fields_or_the_title_say_what_was_measured() {
        let mut fixture = RunFixture::new(
            "[[workloads]]\nid = \"jobs\"\ntitle = \"jobs on one file\"\n[workloads.fio]\n\
             job = \"[global]\\nsize=1G\\ndirect=1\\n[seq]\\nrw=write\\nbs=1M\\nsync=1\\n\
             [rand]\\nrw=randread\\n[mix]\\nrw=randread\\nbsrange=4k-16k\\n[split]\\nrw=randread\\n\
             bssplit=4k/90:1M/10\\n[commit]\\nrw=randwrite\\nfdatasync=1\\n[log]\\nrw=write\\n\
             fsync=32\"",
        );
        let mut add = |workload: &str, steps: &[(&str, Direction)]| {
            let steps = steps.iter().map(|(s, d)| step(s, vec![figure(*d, 1, 1.0)])).collect();
            fixture.sample("single/ext4", workload, 0, steps);
        };
        add("dd-4k", &[("dd-4k", Direction::Write)]);
        add("fio", &[("fio", Direction::Read)]);
        add("copy", &[("cp", Direction::Copy), ("rm", Direction::Remove)]);
        add("hdparm", &[("cached", Direction::Read)]);
        add(
            "jobs",
            &[
                ("seq", Direction::Write),
                ("rand", Direction::Read),
                ("mix", Direction::Read),
                ("split", Direction::Read),
                ("commit", Direction::Write),
                ("log", Direction::Write),
            ],
        );
        let groups = fixture.audited().groups;
        let full: Vec<_> =
            groups.iter().map(|g| describe(&fixture.study, &groups, &g.key).full()).collect();
        assert_eq!(
            full,
            [
                "4 KiB synchronous writes (dd-4k)",
                "4 KiB random reads (fio)",
                "'copy a tree', step cp (copy:cp)",
                "'copy a tree', step rm (copy:rm)",
                "'hdparm'",
                "1 MiB synchronous writes (jobs:seq)",
                "4 KiB random reads (jobs:rand)",
                "'jobs on one file', step mix (jobs:mix)",
                "'jobs on one file', step split (jobs:split)",
                "4 KiB durable random writes (jobs:commit)",
                "4 KiB writes (jobs:log)",
            ]
        );
    }
}
