//! Checking what was written.

use super::spec::{Chapter, flag, option};
use crate::bytes::pattern;
use crate::job::Checksum;

/// fio takes no smaller interval: twice its header (options.c).
const SMALLEST_INTERVAL: u64 = 80;
/// fio takes no smaller offset of the header: its length (options.c).
const SMALLEST_OFFSET: u64 = 40;

pub(super) const CHAPTER: Chapter = Chapter {
    title: "Checking what was written",
    options: &[
        option("verify_async", "from 0", "No effect: each clone checks its own blocks", |_, g| {
            g.from(0)?;
            Ok(())
        }),
        option(
            "verify",
            "0, crc32c, crc32, crc64, crc16, crc7, md5, sha1, sha256, sha512, sha3-224, sha3-256, \
             sha3-384, sha3-512, xxhash, meta, pattern or null",
            "What is stored with each block, and checked when it is read (0)",
            |d, g| {
                d.checksum = g.word(&CHECKSUMS)?;
                Ok(())
            },
        )
        .differs(
            "fio and disklab check each other's files, but for sha256 and sha512: fio stores other \
             bytes than the standard's",
        ),
        flag("do_verify", "A job that writes reads all back at its end (1)", |d, g| {
            d.verify.do_verify = g.flag()?;
            Ok(())
        })
        .differs("these reads are told apart; fio counts them as the job's, with their latencies"),
        flag("verify_fatal", "The first wrong block ends the job (0)", |d, g| {
            d.verify.fatal = g.flag()?;
            Ok(())
        }),
        option(
            "verify_interval",
            "a size from 80",
            "Bytes from one stored check to the next (the block)",
            |d, g| {
                d.verify.interval = Some(g.from(SMALLEST_INTERVAL)?);
                Ok(())
            },
        ),
        option(
            "verify_offset",
            "a size from 40",
            "Bytes of data before the stored check in its block (0)",
            |d, g| {
                d.verify.offset = g.from(SMALLEST_OFFSET)?;
                Ok(())
            },
        ),
        option(
            "verify_backlog",
            "from 0",
            "What was written is checked after so many blocks",
            |d, g| {
                d.verify.backlog = Some(g.from(0)?).filter(|n| *n > 0);
                Ok(())
            },
        ),
        option(
            "verify_backlog_batch",
            "from 0",
            "So many blocks are checked at a time (`verify_backlog`)",
            |d, g| {
                d.verify.backlog_batch = Some(g.from(0)?).filter(|n| *n > 0);
                Ok(())
            },
        )
        .differs("no effect: always all of them"),
        option(
            "verify_pattern",
            "as `buffer_pattern`, and `%o`",
            "These bytes fill the blocks, behind the stored check; `%o` is the block's offset",
            |d, g| {
                d.verify.pattern = pattern(g.text, true)?;
                Ok(())
            },
        )
        .differs("no files in '' in a study"),
        flag("verify_dump", "A wrong block is written to files (0)", |d, g| {
            d.verify.dump = g.flag()?;
            Ok(())
        })
        .differs("no effect: the error tells the file, the place and what was expected"),
    ],
};

/// fio's words for what is stored with a block. Its crc32c is the same with and without the
/// processor's help.
const CHECKSUMS: [(&str, Option<Checksum>); 20] = [
    ("0", None),
    ("crc32c", Some(Checksum::Crc32c)),
    ("crc32c-intel", Some(Checksum::Crc32c)),
    ("crc32c-arm64", Some(Checksum::Crc32c)),
    ("crc32", Some(Checksum::Crc32)),
    ("crc64", Some(Checksum::Crc64)),
    ("crc16", Some(Checksum::Crc16)),
    ("crc7", Some(Checksum::Crc7)),
    ("md5", Some(Checksum::Md5)),
    ("sha1", Some(Checksum::Sha1)),
    ("sha256", Some(Checksum::Sha256)),
    ("sha512", Some(Checksum::Sha512)),
    ("sha3-224", Some(Checksum::Sha3224)),
    ("sha3-256", Some(Checksum::Sha3256)),
    ("sha3-384", Some(Checksum::Sha3384)),
    ("sha3-512", Some(Checksum::Sha3512)),
    ("xxhash", Some(Checksum::Xxhash)),
    ("meta", Some(Checksum::Meta)),
    ("pattern", Some(Checksum::Pattern)),
    ("null", Some(Checksum::Null)),
];
