//! What is written.

use super::spec::{Chapter, flag, option, switch};
use crate::bytes::pattern;

pub(super) const CHAPTER: Chapter = Chapter {
    title: "What is written",
    options: &[
        switch("zero_buffers", "Zeros", |d, g| {
            d.zero_buffers = g.flag()?;
            if d.zero_buffers {
                d.buffer_pattern = None;
            }
            Ok(())
        }),
        switch(
            "refill_buffers",
            "New data for each write. Without it, the buffers of the start are written again and \
             again, slightly altered",
            |d, g| {
                d.refill = Some(g.flag()?);
                Ok(())
            },
        ),
        flag(
            "scramble_buffers",
            "Whether they are altered, so that simple deduplication finds nothing (1)",
            |d, g| {
                d.scramble = Some(g.flag()?);
                Ok(())
            },
        ),
        option(
            "buffer_compress_percentage",
            "0 to 100",
            "So many percent of each chunk compress to nothing; implies `refill_buffers` below 100",
            |d, g| {
                d.compress_percent = Some(g.percent()?);
                Ok(())
            },
        )
        .differs(
            "0 is new data for each write; fio 3.33 writes the buffers of the start unaltered then",
        ),
        option("buffer_compress_chunk", "a size", "The length of a chunk (512)", |d, g| {
            let chunk = g.size()?;
            d.compress_chunk = if chunk == 0 { 512 } else { chunk };
            Ok(())
        }),
        option(
            "buffer_pattern",
            "0xHEX, \"TEXT\", 'FILE', a decimal number, or several of them in a row",
            "These bytes, repeated; the compressible part where a part of it is compressible",
            |d, g| {
                d.buffer_pattern = Some(pattern(g.text, false)?);
                d.zero_buffers = false;
                Ok(())
            },
        )
        .differs("no files in '' in a study"),
        option(
            "dedupe_percentage",
            "0 to 100",
            "So many percent of the blocks have been written before; implies `refill_buffers`",
            |d, g| {
                d.dedupe_percent = g.percent()?;
                Ok(())
            },
        ),
        option(
            "dedupe_mode",
            "repeat or working_set",
            "Which block is repeated: the one before, or one drawn from the first ones (repeat)",
            |d, g| {
                d.dedupe_working_set = g.word(&[("repeat", false), ("working_set", true)])?;
                Ok(())
            },
        ),
        option(
            "dedupe_working_set_percentage",
            "0 to 100",
            "How many first ones, as percent of `size` (5)",
            |d, g| {
                d.dedupe_set_percent = g.percent()?;
                Ok(())
            },
        ),
        flag("dedupe_global", "Clones repeat each other's blocks, too (0)", |d, g| {
            d.dedupe_global = g.flag()?;
            Ok(())
        }),
    ],
};
