//! Hostile texts: none panics, and no figure is made up.

use std::sync::Arc;

use disklab_source::Source;
use proptest::prelude::*;

use super::{FORMATS, detect};

/// A sound text of each format.
const SOUND: [(&str, &str); 15] = [
    (
        "fio-json",
        "{\"fio version\":\"fio-3.33\",\"jobs\":[{\"jobname\":\"a\",\"error\":0,\"job options\":{\"rw\":\"read\"},\
         \"read\":{\"io_bytes\":8192,\"io_kbytes\":8,\"bw_bytes\":4096,\"bw\":4,\"iops\":1.5,\"runtime\":2000,\
         \"total_ios\":2,\"clat_ns\":{\"min\":1,\"max\":9,\"mean\":5.0,\"stddev\":1.0,\"N\":2,\
         \"percentile\":{\"50.000000\":5}}},\"usr_cpu\":1.0}]}\n",
    ),
    (
        "fio-text",
        "a: (g=0): rw=read, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=1\n\
         fio-3.33\na: (groupid=0, jobs=1): err= 0: pid=7: Sun Nov 22 00:00:00 2026\n  read: IOPS=100, \
         BW=400KiB/s (410kB/s)(800KiB/2000msec)\n    clat (usec): min=1, max=9, avg=5.00, stdev= 1.00\n    \
         clat percentiles (usec):\n     |  1.00th=[    1], 50.00th=[    5]\n     issued rwts: total=200,0,0,0 \
         short=0,0,0,0 dropped=0,0,0,0\n\nRun status group 0 (all jobs):\n   READ: bw=400KiB/s (410kB/s), \
         400KiB/s-400KiB/s (410kB/s-410kB/s), io=800KiB (819kB), run=2000-2000msec\n\nDisk stats (read/write):\n  \
         sda: ios=200/0, sectors=1600/0, merge=0/0\n",
    ),
    (
        "fio-terse",
        "3;fio-3.33;a;0;0;800;400;100;2000;0;0;0.0;0.0;1;9;5.0;1.0;1.000000%=1;50.000000%=5;1;9;5.0;1.0;0;0;0.0%;\
         0.0;0.0;0;0;0;0;0;0;0.0;0.0;0;0;0.0;0.0;0%=0;0%=0;0;0;0.0;0.0;0;0;0.0%;0.0;0.0;1.0%;2.0%;3;0;1\n",
    ),
    (
        "hyperfine-json",
        "{\"results\":[{\"command\":\"cp a b\",\"times\":[0.1,0.2],\"user\":0.1}]}\n",
    ),
    (
        "phoronix",
        "<PhoronixTestSuite><Result><Title>T</Title><Scale>MB/s</Scale><Data><Entry>\
         <Identifier>a</Identifier><Value>1</Value><RawString>1:2</RawString></Entry></Data></Result>\
         </PhoronixTestSuite>\n",
    ),
    (
        "elbencho-csv",
        "operation,time ms [first],time ms [last],IOPS [last],MiB/s [last],IO lat us [min]\nREAD,1,2,3,4,5\n",
    ),
    (
        "bonnie++",
        "1.97,1.97,nas,1,1,8G,,486,45,99,9,12,10,770,42,11,9,250.5,3,16,,,,,826,4,+++++,+++\n\
         Version 1.97 ------Sequential Output------\nMachine Size K/sec %CP\n\
         nas 300M 48 99 6224 75 1782 37 124 99 2874 26 100.4 5\nLatency 348ms 428ms\n",
    ),
    (
        "diskmark",
        "KDiskMark (3.0.0): x\n[Read]\nRandom 4 KiB (Q= 32, T= 1): 354.658 MB/s [ 88664.6 IOPS] < 352.37 us>\n\
         Test: 1 GiB (x5)\n",
    ),
    (
        "diskspd",
        "block size: 4KiB\nResults for timespan 1:\nactual test time:\t10.00s\nRead IO\nthread |       bytes     |     \
         I/Os     |    MiB/s   |  I/O per s |  AvgLat  |  file\ntotal: 40960000 | 10000 | 3.91 | 1000.00 | 8.000\n\
         %-ile |  Read (ms) | Write (ms) | Total (ms)\nmin | 0.1 | N/A | 0.1\n50th | 8.0 | N/A | 8.0\nmax | 9.0 | N/A | 9.0\n",
    ),
    (
        "iozone",
        "\tRecord Size 16 kB\n              kB  reclen    write  rewrite    read    reread\n            8192      16   \
         215593   375053\n\tChildren see throughput for  2 readers \t= 4303526.00 kB/sec\n",
    ),
    (
        "sysbench",
        "sysbench 1.0.20\nBlock size 16KiB\nDoing random r/w test\nreads/s: 60.0\nwrites/s: 40.0\n\
         read, MiB/s: 0.94\ntotal time: 2.0s\n",
    ),
    (
        "filebench",
        "1: File-server Version 3.0 personality successfully loaded\n\
         a 10ops 1ops/s 0.1mb/s 1.0ms/op [0.1ms - 2.0ms]\n\
         2: IO Summary: 10 ops 1.0 ops/s 1/2 rd/wr 0.1mb/s 1.0ms/op\n",
    ),
    ("hdparm", "/dev/sda:\n Timing cached reads: 500 MB in  3.00 seconds = 166.53 MB/sec\n"),
    (
        "dd",
        "$ dd if=/dev/zero of=x bs=1M count=1\n1+0 records in\n1+0 records out\n\
         1048576 bytes (1.0 MB) copied, 0.5 s, 2.1 MB/s\n",
    ),
    ("time", "\nreal\t0m9.500s\nuser\t0m0.250s\nsys\t0m1.500s\n"),
];

/// Reads a text in every format; what comes out holds whatever went in.
fn check(text: &str) {
    let source = Arc::new(Source { name: "x".to_owned(), text: text.to_owned() });
    for format in FORMATS {
        match format.read(&source) {
            Ok(readings) => {
                for reading in &readings {
                    assert!(
                        reading.failure.is_some() || !reading.steps.is_empty(),
                        "{}",
                        format.name
                    );
                    assert!(text.get(reading.place.span.clone()).is_some(), "{}", format.name);
                    for figure in reading.steps.iter().flat_map(|s| &s.figures) {
                        let rates = [figure.bytes_per_second, figure.operations_per_second];
                        let sound = |rate: &f64| rate.is_finite() && *rate > 0.0;
                        assert!(rates.iter().flatten().all(sound), "{}: {figure:?}", format.name);
                    }
                }
            }
            Err(error) => {
                assert!(error.line >= 1 && error.column >= 1 && !error.message.is_empty());
                assert!(!error.to_string().is_empty());
            }
        }
    }
    let _ = detect(text);
}

#[test]
fn every_format_has_a_sound_text_that_is_detected() {
    assert_eq!(
        SOUND.map(|(name, _)| name).to_vec(),
        FORMATS.iter().map(|f| f.name).collect::<Vec<_>>()
    );
    for (name, text) in SOUND {
        assert_eq!(detect(text).map(|f| f.name), Some(name), "{text}");
        let source = Arc::new(Source { name: "x".to_owned(), text: text.to_owned() });
        let format = super::find_format(name).expect("it is listed");
        let readings = format.read(&source).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(!readings.is_empty() && !readings[0].steps.is_empty(), "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_changed_character_or_a_cut_is_harmless(
        which in 0..SOUND.len(), at in any::<prop::sample::Index>(), to in any::<char>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut text: Vec<char> = SOUND[which].1.chars().collect();
        let at = at.index(text.len());
        text[at] = to;
        check(&text.iter().collect::<String>());
        text.truncate(cut.index(text.len()));
        check(&text.iter().collect::<String>());
    }

    #[test]
    fn a_changed_number_is_harmless(
        which in 0..SOUND.len(), nth in any::<prop::sample::Index>(),
        number in "-?[0-9]{0,25}([.,][0-9]{1,3})?(e-?[0-9]{1,4})?|nan|inf|\\+\\+\\+",
    ) {
        let text = SOUND[which].1;
        let digits: Vec<usize> =
            text.char_indices().filter(|(_, c)| c.is_ascii_digit()).map(|(i, _)| i).collect();
        let start = digits[nth.index(digits.len())];
        let end = start + text[start..].find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
        check(&format!("{}{number}{}", &text[..start], &text[end..]));
    }

    #[test]
    fn parts_of_all_formats_together_are_harmless(
        parts in prop::collection::vec((0..SOUND.len(), any::<prop::sample::Index>()), 0..8)
    ) {
        let lines = parts.iter().map(|(which, line)| {
            let lines: Vec<&str> = SOUND[*which].1.lines().collect();
            format!("{}\n", lines[line.index(lines.len())])
        });
        check(&lines.collect::<String>());
    }

    #[test]
    fn any_text_is_harmless(text in "(\\PC|\n|\r|\t|[0-9.,]|[{}<>\\[\\]\"=:/]){0,200}") {
        check(&text);
    }
}
