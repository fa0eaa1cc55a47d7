//! How large I/Os are.

use super::spec::{Chapter, flag, option, switch};
use crate::error::{ChoiceError, ValueError};
use crate::given::{set, set_some};
use crate::lists::block_split;
use crate::value::{KbBase, shown, size};

pub(super) const CHAPTER: Chapter = Chapter {
    title: "Block size",
    options: &[
        option("bs", "a size, by direction", "Bytes of each I/O (4k)", |d, g| {
            set(&mut d.block, g.sizes(1)?);
            Ok(())
        })
        .alias(&["blocksize"]),
        option(
            "bsrange",
            "SIZE-SIZE, by direction",
            "The length of each I/O is drawn evenly between the two, in multiples of the lower \
             one. Holds before `bs`",
            |d, g| {
                // Directions may be told apart by '/', too (HOWTO.rst, irange).
                let text = g.text.replace('/', ",");
                let given = crate::given::directions(&text, |text| range(text, g.base))?;
                set_some(&mut d.block_range, given);
                Ok(())
            },
        )
        .alias(&["blocksize_range"]),
        option(
            "bssplit",
            "SIZE/PERCENT:SIZE/PERCENT…, by direction",
            "The length of each I/O is drawn from these; sizes without a share have equal parts \
             of what is left. Holds before `bsrange`",
            |d, g| {
                let given = g.directions(|text| block_split(text, g.base))?;
                set_some(&mut d.block_split, given);
                Ok(())
            },
        )
        .differs("shares must add up to 100"),
        option(
            "blockalign",
            "a size, by direction",
            "Random offsets are multiples of this (the smallest block). If it is not the block, \
             visited blocks are not remembered",
            |d, g| {
                set_some(&mut d.block_align, g.sizes(1)?);
                Ok(())
            },
        )
        .alias(&["ba"]),
        switch(
            "bs_unaligned",
            "Lengths drawn from `bsrange` may be any number of bytes",
            |d, g| {
                d.unaligned = g.flag()?;
                Ok(())
            },
        )
        .alias(&["blocksize_unaligned"]),
        flag(
            "bs_is_seq_rand",
            "The sizes given for reads and writes hold for I/Os in order and for random ones \
             instead",
            |d, g| {
                d.by_order = g.flag()?;
                Ok(())
            },
        ),
    ],
};

/// `4k-64k` or `4k:64k`, in either order.
pub(super) fn range(text: &str, base: KbBase) -> Result<(u64, u64), ValueError> {
    let (from, to) =
        text.split_once(['-', ':']).ok_or_else(|| ChoiceError::Range { found: shown(text) })?;
    let (from, to) = (size(from, base)?, size(to, base)?);
    if from.min(to) == 0 {
        return Err(ChoiceError::EmptyBlock.into());
    }
    Ok((from.min(to), from.max(to)))
}
