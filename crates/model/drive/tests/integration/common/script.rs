//! Scripts of requests for property tests, and what holds for any drive that is
//! given one.

use disklab_drive::{Completion, Drive, Nanos, Operation, Request};
use proptest::prelude::*;

/// A request, and how long after the last one it comes, ns.
pub type Script = Vec<(u64, Request)>;

/// Operations: these shares of reads and writes, and a few others.
pub fn operation(reads: u32, writes: u32) -> impl Strategy<Value = Operation> + Clone {
    prop_oneof![
        reads => Just(Operation::Read),
        writes => Just(Operation::Write),
        2 => Just(Operation::Flush),
        1 => Just(Operation::Discard),
        1 => Just(Operation::WriteZeroes),
    ]
}

/// From 1 to 119 requests, numbered in order, with these pauses before them.
pub fn script(
    pause: impl Strategy<Value = u64>,
    operation: impl Strategy<Value = Operation>,
    place: impl Strategy<Value = u64>,
    length: impl Strategy<Value = u64>,
) -> impl Strategy<Value = Script> {
    let one = (pause, operation, place, length).prop_map(|(pause, operation, sector, sectors)| {
        (pause, Request { id: 0, operation, sector, sectors })
    });
    prop::collection::vec(one, 1..120).prop_map(|mut script| {
        script.iter_mut().zip(0..).for_each(|((_, request), id)| request.id = id);
        script
    })
}

/// Gives a drive a script, from event to event, and calls `flushed` at each flush's
/// completion with what is still open; all must be done in the end.
pub fn at_each_flush<D: Drive>(
    drive: &mut D,
    script: Script,
    flushed: impl Fn(&D, &Request, &[Request]) -> Result<(), TestCaseError>,
) -> Result<(), TestCaseError> {
    let mut now = 0;
    let mut open: Vec<Request> = Vec::new();
    let mut done: Vec<Completion> = Vec::new();
    let mut script = script.into_iter();
    loop {
        let next = script.next();
        let until = next.as_ref().map_or(u64::MAX, |(pause, _)| now + pause);
        while let Some(event) = drive.next_event().filter(|event| event.0 <= until) {
            drive.advance(event, &mut done);
            for completion in done.drain(..) {
                let index = open.iter().position(|r| r.id == completion.id).expect("it is open");
                let request = open.remove(index);
                if request.operation == Operation::Flush {
                    flushed(drive, &request, &open)?;
                }
            }
        }
        let Some((pause, request)) = next else { break };
        now += pause;
        drive.submit(Nanos(now), request);
        open.push(request);
    }
    prop_assert!(open.is_empty());
    Ok(())
}

/// Whether a request came before a flush and must be on the medium when it is done.
pub fn awaited(request: &Request, flush: &Request) -> bool {
    let writes = matches!(request.operation, Operation::Write | Operation::WriteZeroes);
    let counts = request.operation == Operation::Flush || (writes && request.sectors > 0);
    counts && request.id < flush.id
}
