//! Shipped drives are probed in virtual time, and give back their parameters.

mod closed_loop;
mod disturbed;
mod hostile;
mod page;
mod writes;

use std::sync::OnceLock;

use disklab_drive::{DriveFile, SHIPPED, shipped};

use closed_loop::Probed;

/// Drives that are probed in every run of the tests; with `UPDATE` set, all are.
const SOME: [&str; 4] = ["mg08aca16te", "st8000as0002", "samsung-980-1tb", "intel-s4600-960gb"];

fn probed(ids: impl Iterator<Item = &'static str>) -> Vec<Probed> {
    let files: Vec<DriveFile> = ids.filter_map(shipped).collect();
    let next = std::sync::Mutex::new(files.into_iter());
    let all = std::sync::Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let file = next.lock().expect("no panic").next();
                    let Some(file) = file else { return };
                    let found = closed_loop::probe(file);
                    all.lock().expect("no panic").push(found);
                }
            });
        }
    });
    let mut all = all.into_inner().expect("no panic");
    let place = |probed: &Probed| SHIPPED.iter().position(|(id, _)| *id == probed.file.id);
    all.sort_by_key(place);
    all
}

fn some() -> &'static [Probed] {
    static ALL: OnceLock<Vec<Probed>> = OnceLock::new();
    ALL.get_or_init(|| probed(SOME.into_iter()))
}
