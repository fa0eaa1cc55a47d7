//! How fast data are made and looked at, on one processor:
//! `cargo run --release -p disklab-content --example speed`.

use std::hint::black_box;
use std::time::{Duration, Instant};

use disklab_content::{Content, Measurement, Repeats, Share, Spec, SpecError};

fn main() -> Result<(), SpecError> {
    let half = Share::percent(50);
    let set = Repeats::WorkingSet { blocks: 1000, streams: 1 };
    let specs = [
        ("random", Spec::random()),
        ("zeros", Spec::zeros()),
        ("pattern of 7 bytes", Spec::pattern(*b"disklab")),
        ("half compresses, chunks of 512", Spec::random().with_compress(half, 512)),
        ("half compresses, chunks of 4096", Spec::random().with_compress(half, 4096)),
        ("half repeats", Spec::random().with_duplicates(half, 4096, Repeats::Last)),
        ("half repeats a working set", Spec::random().with_duplicates(half, 4096, set)),
        ("both", Spec::random().with_compress(half, 512).with_duplicates(half, 4096, set)),
        ("pool", Spec::pool()),
    ];
    for buffer in [4096, 1 << 20] {
        println!("buffers of {buffer} bytes:");
        for (name, spec) in &specs {
            let content = Content::new(spec.clone(), 1)?;
            let mut bytes = vec![0; buffer];
            let mut index = 0;
            let rate = rate(buffer, || {
                content.fill_block(1, index, black_box(&mut bytes));
                index += 1;
            });
            println!("  {rate:6.2} GB/s  {name}");
        }
    }
    println!("looked at, pages and all:");
    for (name, spec) in &specs {
        let content = Content::new(spec.clone(), 1)?;
        let mut bytes = vec![0; 1 << 20];
        content.fill_at(1, 0, &mut bytes);
        let mut measurement = Measurement::new(&[4096]);
        let rate = rate(bytes.len(), || measurement.add(black_box(&bytes)));
        println!("  {rate:6.2} GB/s  {name}");
    }
    Ok(())
}

/// Bytes in units of 10^9 per second, the best of five parts of a second.
fn rate(bytes: usize, mut work: impl FnMut()) -> f64 {
    let one = |work: &mut dyn FnMut()| {
        let began = Instant::now();
        let mut times = 0_u32;
        while began.elapsed() < Duration::from_millis(100) {
            (0..16).for_each(|_| work());
            times += 16;
        }
        f64::from(times) * bytes as f64 / began.elapsed().as_secs_f64() / 1e9
    };
    (0..5).map(|_| one(&mut work)).fold(0.0, f64::max)
}
