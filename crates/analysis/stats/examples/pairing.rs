//! Draws docs/method/method-pairing.svg: what pairing over blocks sees that heaps hide.
//!
//! `cargo run -p disklab-stats --example pairing > docs/method/method-pairing.svg`

use disklab_stats::{Interval, paired_ratio, unpaired_ratio};

/// Operations per second of Filebench's file server with 50 and with 16 threads in three
/// blocks on a virtual machine: the case of the tests.
const BLOCKS: [(f64, f64); 3] =
    [(171_092.0, 140_902.0), (107_767.0, 78_532.0), (66_649.0, 56_740.0)];
const WIDTH: f64 = 640.0;
const STYLE: &str = "text{font:13px sans-serif;fill:#333}.a{fill:#1f6fb2}.b{fill:#d9822b}\
                     line{stroke:#333;stroke-width:1}.n{stroke:#bbb}.i{stroke-width:3}";

fn main() {
    let (a, b): (Vec<f64>, Vec<f64>) = BLOCKS.into_iter().unzip();
    println!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} 250\" role=\"img\">\n\
         <style>{STYLE}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>"
    );
    println!("<text x=\"10\" y=\"18\">operations per second, in thousands</text>");
    for (index, pair) in BLOCKS.iter().enumerate() {
        let x = 60.0 + 190.0 * index as f64;
        for (value, class, at) in [(pair.0, "a", x), (pair.1, "b", x + 50.0)] {
            let height = value / 1600.0;
            println!(
                "<rect class=\"{class}\" x=\"{at}\" y=\"{:.1}\" width=\"40\" height=\"{height:.1}\"/>\
                 <text x=\"{}\" y=\"{:.1}\">{:.0}</text>",
                145.0 - height,
                at + 8.0,
                140.0 - height,
                value / 1000.0
            );
        }
        println!(
            "<text x=\"{x}\" y=\"162\">block {}: {:.2} times</text>",
            index + 1,
            pair.0 / pair.1
        );
    }
    let unpaired = unpaired_ratio(&a, &b).and_then(|r| r.interval);
    let paired = paired_ratio(&BLOCKS).and_then(|r| r.interval);
    for (y, name, interval) in
        [(195.0, "as two heaps", unpaired), (220.0, "block by block", paired)]
    {
        println!("<text x=\"10\" y=\"{}\">{name}</text>", y + 4.0);
        if let Some(Interval { low, high, .. }) = interval {
            println!(
                "<line class=\"i\" x1=\"{:.1}\" y1=\"{y}\" x2=\"{:.1}\" y2=\"{y}\"/>\
                 <text x=\"{:.1}\" y=\"{}\">{low:.2} to {high:.2}</text>",
                at(low),
                at(high),
                at(high) + 8.0,
                y + 4.0
            );
        }
    }
    println!(
        "<line class=\"n\" x1=\"{0:.1}\" y1=\"180\" x2=\"{0:.1}\" y2=\"232\"/>\
         <text x=\"{1:.1}\" y=\"246\">no difference (ratio 1)</text>\n</svg>",
        at(1.0),
        at(1.0) - 60.0
    );
}

/// Where a ratio is drawn: 0.4 to 4, by logarithm.
fn at(ratio: f64) -> f64 {
    120.0 + 400.0 * (ratio / 0.4).ln() / 10.0_f64.ln()
}
