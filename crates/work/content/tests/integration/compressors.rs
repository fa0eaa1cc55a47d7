//! Real compressors save what was asked for, at the record size of Btrfs and ZFS.

use std::io::Write;

use disklab_content::{
    Content, ContentBuffers, Makeup, RECORD_BYTES, Repeats, Share, Spec, measure,
};

const RECORDS: usize = 3;

fn gzip(record: &[u8]) -> usize {
    // Btrfs's default level for zlib is 3 (BTRFS_ZLIB_DEFAULT_LEVEL).
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::new(3));
    encoder.write_all(record).expect("memory");
    encoder.finish().expect("memory").len()
}

fn zstd(record: &[u8], level: i32) -> usize {
    zstd::bulk::compress(record, level).expect("memory").len()
}

fn lz4(record: &[u8]) -> usize {
    lz4_flex::block::compress(record).len()
}

#[test]
fn compressors_save_what_was_asked_for() {
    type Compressor = fn(&[u8]) -> usize;
    let compressors: [(&str, Compressor); 4] = [
        ("lz4", lz4),
        ("zlib", gzip),
        ("zstd -1", |record| zstd(record, 1)),
        ("zstd -3", |record| zstd(record, 3)),
    ];
    for chunk in [512, 65536] {
        for percent in [0, 29, 50, 90, 100] {
            let share = Share::percent(percent);
            let spec = Spec::random().with_compress(share, chunk);
            let content = Content::new(spec, 5).expect("valid");
            for (name, compress) in compressors {
                let mut record = vec![0; RECORD_BYTES];
                let compressed: usize = (0..RECORDS as u64)
                    .map(|index| {
                        content.fill_block(1, index, &mut record);
                        compress(&record)
                    })
                    .sum();
                let left = compressed as f64 / (RECORDS * RECORD_BYTES) as f64;
                let asked = share.rest().part();
                assert!(
                    (left - asked).abs() < 0.025,
                    "{name}, chunks of {chunk}: asked for {asked}, left {left}"
                );
            }
        }
    }
}

fn makeup(spec: Spec, bytes: u64) -> Makeup {
    let buffers = ContentBuffers::new(spec, 11).expect("valid");
    measure(buffers, bytes, &[4096, 16384]).expect("endless")
}

#[test]
fn repeats_are_as_many_as_asked_for_whatever_compresses() {
    for percent in [0, 19, 50, 90, 99] {
        for compressed in [0, 30, 80] {
            let (repeated, saved) = (Share::percent(percent), Share::percent(compressed));
            let set = Repeats::WorkingSet { blocks: 10, streams: 1 };
            for repeats in [Repeats::Last, set] {
                let spec = Spec::random()
                    .with_compress(saved, 512)
                    .with_duplicates(repeated, 4096, repeats);
                let got = makeup(spec, 16 << 20);
                let distinct = got.distinct_share(4096).expect("asked for");
                let asked = repeated.rest().part();
                assert!((distinct - asked).abs() < 0.004, "asked for {asked}, got {distinct}");
                // Where the same page comes again within a record, LZ4 finds it.
                assert!(got.lz4_share < saved.rest().part() + 0.02, "{got:?}");
            }
        }
    }
}

#[test]
fn a_pool_repeats_but_does_not_compress() {
    let got = makeup(Spec::pool(), 16 << 20);
    assert_eq!(got.distinct_share(4096), Some(0.25));
    assert_eq!(got.lz4_share, 1.0);
    assert_eq!(got.zero_share, 0.0);
}

#[test]
fn duplicates_have_the_size_that_was_asked_for() {
    let spec = Spec::random().with_duplicates(Share::percent(50), 16384, Repeats::Last);
    let got = makeup(spec, 16 << 20);
    for block in [4096, 16384] {
        let distinct = got.distinct_share(block).expect("asked for");
        assert!((distinct - 0.5).abs() < 0.004, "{block}: {distinct}");
    }
}
