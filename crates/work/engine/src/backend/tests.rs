use std::fs::File;
use std::os::fd::AsRawFd;

use super::aio::LinuxAio;
use super::uring::Uring;
use super::*;
use crate::memory::Memory;
use crate::testing::job;

fn operation(
    kind: RequestKind,
    file: &File,
    memory: &mut Memory,
    slot: u32,
    offset: u64,
) -> IoOperation {
    IoOperation {
        kind,
        fd: file.as_raw_fd(),
        file: 0,
        slot,
        buffer: memory.slot(slot as usize).as_mut_ptr(),
        length: 4096,
        offset,
    }
}

/// Writes four blocks, flushes, and reads them back into other slots.
fn carries_data(backend: &mut dyn Backend, file: &File, memory: &mut Memory) {
    let mut ends = Vec::new();
    for slot in 0..4_u32 {
        memory.slot(slot as usize).fill(slot as u8 + 1);
        let op = operation(RequestKind::Write, file, memory, slot, u64::from(3 - slot) * 4096);
        backend.queue(&op).expect("room");
    }
    backend.submit().expect("submitted");
    while ends.len() < 4 {
        backend.reap(1, 4, None, &mut ends).expect("reaped");
    }
    assert!(ends.iter().all(|end| end.result == 4096), "{ends:?}");
    ends.clear();
    for (slot, kind) in [(0, RequestKind::Sync), (1, RequestKind::DataSync)] {
        backend.queue(&operation(kind, file, memory, slot, 0)).expect("room");
    }
    for slot in 4..8 {
        let op = operation(RequestKind::Read, file, memory, slot, u64::from(slot - 4) * 4096);
        backend.queue(&op).expect("room");
    }
    // Nothing was submitted: reaping does.
    while ends.len() < 6 {
        backend.reap(6 - ends.len(), 2, None, &mut ends).expect("reaped");
    }
    ends.sort_by_key(|end| end.slot);
    let results: Vec<i64> = ends.iter().map(|end| end.result).collect();
    assert_eq!(results, [0, 0, 4096, 4096, 4096, 4096]);
    for slot in 4..8 {
        assert!(memory.slot(slot).iter().all(|b| *b == 8 - slot as u8), "slot {slot}");
    }
    ends.clear();
    backend.reap(1, 8, Some(Duration::from_millis(1)), &mut ends).expect("nothing to wait for");
    assert_eq!(ends, []);
    let mut wrong = operation(RequestKind::Read, file, memory, 5, 0);
    (wrong.fd, wrong.file) = (-1, 99);
    backend.queue(&wrong).expect("room");
    backend.submit().expect("what is wrong with one is told at its end");
    backend.reap(1, 8, None, &mut ends).expect("reaped");
    assert_eq!(ends, [IoCompletion { slot: 5, result: -i64::from(libc::EBADF) }]);
}

#[test]
fn aio() {
    let file = tempfile::tempfile().expect("temp");
    let mut memory = Memory::new(8, 4096).expect("memory");
    match LinuxAio::new(8) {
        Ok(mut context) => carries_data(&mut context, &file, &mut memory),
        Err(error) => eprintln!("skipped: needs Linux AIO ({error})"),
    }
}

#[test]
fn aio_waits_for_a_flush_itself() {
    let file = tempfile::tempfile().expect("temp");
    let mut memory = Memory::new(2, 4096).expect("memory");
    let Ok(mut context) = LinuxAio::new(2) else {
        eprintln!("skipped: needs Linux AIO");
        return;
    };
    // Old kernels take no flush by io_submit: it has ended before anything is submitted.
    context.queue(&operation(RequestKind::Sync, &file, &mut memory, 1, 0)).expect("room");
    assert!(context.ended() == [IoCompletion { slot: 1, result: 0 }]);
}

#[test]
fn io_uring() {
    let file = tempfile::tempfile().expect("temp");
    let mut memory = Memory::new(8, 4096).expect("memory");
    match Uring::new(8, &[file.as_raw_fd()], &mut memory) {
        Ok(mut ring) => carries_data(&mut ring, &file, &mut memory),
        Err(error) => eprintln!("skipped: needs io_uring ({error})"),
    }
}

#[test]
fn io_uring_without_registered_files() {
    let file = tempfile::tempfile().expect("temp");
    let mut memory = Memory::new(8, 4096).expect("memory");
    // Descriptor -2 cannot be registered.
    match Uring::new(8, &[-2], &mut memory) {
        Ok(mut ring) => carries_data(&mut ring, &file, &mut memory),
        Err(error) => eprintln!("skipped: needs io_uring ({error})"),
    }
}

#[test]
fn calls() {
    let file = tempfile::tempfile().expect("temp");
    let mut memory = Memory::new(2, 4096).expect("memory");
    for (byte, call) in (1..).zip([Call::Seek, Call::Positioned, Call::Vector, Call::Vector2]) {
        memory.slot(0).fill(byte);
        let write = operation(RequestKind::Write, &file, &mut memory, 0, 8192);
        assert_eq!(call.perform(&write), 4096);
        assert_eq!(call.perform(&IoOperation { kind: RequestKind::Sync, ..write }), 0);
        assert_eq!(call.perform(&IoOperation { kind: RequestKind::DataSync, ..write }), 0);
        let read = operation(RequestKind::Read, &file, &mut memory, 1, 8192);
        assert_eq!(call.perform(&read), 4096);
        assert!(memory.slot(1).iter().all(|b| *b == byte));
        assert_eq!(call.perform(&IoOperation { fd: -1, ..read }), -i64::from(libc::EBADF));
        let far = IoOperation { offset: u64::MAX, ..read };
        assert_eq!(call.perform(&far), -i64::from(libc::EFBIG));
    }
}

#[test]
fn an_engine_that_is_missing_gives_way() {
    let mut memory = Memory::new(2, 4096).expect("memory");
    let mut choose = |engine| choose(engine, &job("size=1m\niodepth=2").depth, &[], &mut memory);
    let (chosen, note) = choose(disklab_jobfile::Engine::Psync);
    assert!(matches!(chosen, Chosen::Synchronous(Call::Positioned)) && note.is_none());
    let (chosen, note) = choose(disklab_jobfile::Engine::Posixaio);
    assert!(note.is_some_and(|note| note.starts_with("posixaio asked for; ")));
    if let Chosen::Asynchronous(backend) = chosen {
        assert!(["io_uring", "libaio"].contains(&backend.name()));
    }
}
