//! Which I/O comes next.

use super::spec::{Chapter, flag, option, switch};
use crate::error::{ChoiceError, ValueError};
use crate::given::{percent, set, word};
use crate::job::{Access, Generator, PerDirection, Sequence, Sequencer};
use crate::lists::distribution;
use crate::value::{shown, size};

pub(super) const CHAPTER: Chapter = Chapter {
    title: "Kind of I/O",
    options: &[
        option(
            "rw",
            "read, write, randread, randwrite, rw, readwrite or randrw, each with `:N`",
            "Reads or writes, sequential or at random offsets. `:N`: for sequential I/O, bytes \
             skipped after each (negative goes backwards); for random I/O, how many I/Os follow \
             one offset (see `rw_sequencer`)",
            |d, g| {
                (d.access, d.sequence) = access(g.text, g.base)?;
                Ok(())
            },
        )
        .alias(&["readwrite"])
        .differs("trims are an error, since jobs work on files"),
        option(
            "rw_sequencer",
            "sequential or identical",
            "What the I/Os of `rw=rand…:N` do after the first: continue sequentially, or repeat it",
            |d, g| {
                d.sequencer = g.word(&[
                    ("sequential", Sequencer::Sequential),
                    ("identical", Sequencer::Identical),
                ])?;
                Ok(())
            },
        ),
        option(
            "rwmixread",
            "0 to 100",
            "Percent of I/Os that are reads, if it does both (50)",
            |d, g| {
                d.read_percent = g.percent()?;
                Ok(())
            },
        ),
        option(
            "rwmixwrite",
            "0 to 100",
            "Percent of I/Os that are writes; the last one of this and `rwmixread` wins",
            |d, g| {
                d.read_percent = 100 - g.percent()?;
                Ok(())
            },
        ),
        option(
            "percentage_random",
            "0 to 100, by direction",
            "Percent of a random job's I/Os at random offsets; the others are sequential (100)",
            |d, g| {
                set(&mut d.random_percent, g.directions(percent)?);
                Ok(())
            },
        ),
        option(
            "random_distribution",
            "random, zipf:THETA[:CENTER], pareto:POWER[:CENTER], normal:PERCENT[:CENTER], \
             zoned:SHARE/LENGTH:…, zoned_abs:SHARE/SIZE:…",
            "How random offsets are distributed. All but `random` forget which blocks have been \
             visited. The favoured blocks are spread over the whole file; CENTER only shifts \
             them. Zones follow each other",
            |d, g| {
                let (read, write) = distribution(g.text, g.base)?;
                d.distribution = PerDirection { read, write };
                Ok(())
            },
        )
        .differs(
            "shares of `zoned` must be written out, and their lengths add up to 100; theta must \
             be over 0",
        ),
        switch(
            "norandommap",
            "Random offsets are drawn without recording which blocks have been visited; otherwise \
             each is visited once",
            |d, g| {
                d.no_random_map = g.flag()?;
                Ok(())
            },
        ),
        flag(
            "softrandommap",
            "Continue without the map of visited blocks if there is no memory for it",
            |d, g| {
                d.soft_random_map = g.flag()?;
                Ok(())
            },
        )
        .differs("no effect: a map of up to 32 MiB is kept for each file, and blocks beyond are permuted without one"),
        option(
            "random_generator",
            "tausworthe, tausworthe64 or lfsr",
            "Source of random numbers",
            |d, g| {
                d.generator = g.word(&[
                    ("tausworthe", Generator::Tausworthe),
                    ("tausworthe64", Generator::Tausworthe64),
                    ("lfsr", Generator::Lfsr),
                ])?;
                Ok(())
            },
        )
        .differs(
            "no effect: the native engine has one generator of its own, so random offsets \
             differ from fio's, with the same distribution",
        ),
        flag("randrepeat", "The same random offsets in each run (1)", |d, g| {
            d.repeatable = g.flag()?;
            Ok(())
        })
        .differs(
            "no effect: without `randseed` the seed is the run's, which a study draws for each \
             repeat and records; `disklab fio` has one seed, as fio",
        ),
        flag("allrandrepeat", "The same for everything else that is random (0)", |d, g| {
            d.all_repeatable = g.flag()?;
            Ok(())
        })
        .differs("as `randrepeat`"),
        option("randseed", "an integer", "The seed of random offsets", |d, g| {
            d.seed = Some(g.from(0)?);
            Ok(())
        })
        .differs("other offsets than fio's from the same seed"),
    ],
};

/// `rw`, with an optional `:N` behind it.
fn access(text: &str, base: crate::value::KbBase) -> Result<(Access, Sequence), ValueError> {
    const WORDS: [(&str, (bool, bool, bool)); 7] = [
        ("read", (true, false, false)),
        ("write", (false, true, false)),
        ("randread", (true, false, true)),
        ("randwrite", (false, true, true)),
        ("rw", (true, true, false)),
        ("readwrite", (true, true, false)),
        ("randrw", (true, true, true)),
    ];
    let (name, number) = text.split_once(':').map_or((text, None), |(n, r)| (n, Some(r.trim())));
    let name = name.trim();
    if matches!(name, "trim" | "randtrim" | "trimwrite" | "randtrimwrite") {
        return Err(ChoiceError::Discard.into());
    }
    let (reads, writes, random) = word(name, &WORDS)?;
    let access = Access { reads, writes, random };
    let sequence = match number {
        None => Sequence::None,
        Some(number) if random => match number.parse::<u32>() {
            Ok(0 | 1) => Sequence::None,
            Ok(run) => Sequence::Run(run),
            Err(_) => {
                return Err(ChoiceError::Run { found: shown(number) }.into());
            }
        },
        Some(number) => {
            let (negative, digits) =
                number.strip_prefix('-').map_or((false, number), |digits| (true, digits));
            // At most `i64::MAX`.
            let bytes = size(digits, base)? as i64;
            match bytes {
                0 => Sequence::None,
                bytes => Sequence::Skip(if negative { -bytes } else { bytes }),
            }
        }
    };
    Ok((access, sequence))
}
