//! What kind of work a figure shows.

use disklab_audits::Group;
use disklab_sample::{Direction, Durability, Order, SyncCall, Task, TimeIn};

/// From this size on a request is part of a stream.
const LARGE: u64 = 256 << 10;

/// The task that a figure shows: the one that its workload names, or that its requests
/// make plain; `None` if it is nothing that a purpose asks for, or not known.
pub(crate) fn task(group: &Group) -> Option<Task> {
    group.profile().task.or_else(|| by_requests(group))
}

/// Whether a sync of its own follows each write: then the write's own time is not that
/// until it is durable.
pub(super) fn is_synced_apart(group: &Group) -> bool {
    let profile = group.profile();
    let by_call = Durability::EachWrite;
    profile.writes.is_some()
        && [by_call(SyncCall::Fsync), by_call(SyncCall::Fdatasync)]
            .map(Some)
            .contains(&profile.durability)
}

fn by_requests(group: &Group) -> Option<Task> {
    let profile = group.profile();
    let into_data = [TimeIn::Reads, TimeIn::Writes, TimeIn::Both].map(Some);
    // Zeros may be compressed away; only writing them in one stream is known for it.
    if !into_data.contains(&profile.time_in) || profile.writes_zeros() && !profile.stream {
        return None;
    }
    let requests = group.requests()?;
    let (small, large) = (requests.are_small(), requests.smallest >= LARGE);
    let each_safe = profile.is_durable_each();
    match (group.key.direction, requests.order) {
        (Direction::Write, Order::Sequential) if each_safe && small => Some(Task::DurableAppend),
        (Direction::Write, _) if each_safe && small => Some(Task::DurableWrite),
        (Direction::Read, Order::Random) if small => Some(Task::RandomRead),
        (Direction::Write, Order::Random) if small => Some(Task::RandomWrite),
        (Direction::Read, Order::Sequential) if large => Some(Task::LargeRead),
        (Direction::Write, Order::Sequential) if large && !each_safe => Some(Task::LargeWrite),
        _ => None,
    }
}
