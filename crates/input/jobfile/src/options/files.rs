//! Which files.

use super::spec::{Chapter, Scaled, flag, option};
use crate::error::{ChoiceError, NameError};
use crate::lists::file_order;
use crate::names::{file_names, name_format};
use crate::value::{shown, size};

pub(super) const CHAPTER: Chapter = Chapter {
    title: "Files",
    options: &[
        option(
            "name",
            "a word",
            "The name under which the job is reported, instead of its section's header, from \
             which file names are made all the same; no effect in `[global]`",
            |_, _| Ok(()),
        ),
        option("description", "text", "What the job is for; no effect", |d, g| {
            d.description = Some(g.text.to_owned());
            Ok(())
        }),
        option(
            "filename",
            "NAME or NAME:NAME…",
            "These files, for all clones together. Without it, each clone has its own, called \
             by `filename_format`",
            |d, g| {
                d.file_names = Some(file_names(g.text)?);
                Ok(())
            },
        )
        .differs("in a study, names lie below the measured directory, which takes the place of `/`; no '\\:', no `-`"),
        option(
            "filename_format",
            "text with $jobname, $jobnum and $filenum",
            "How files are called ($jobname.$jobnum.$filenum)",
            |d, g| {
                d.name_format = Some(name_format(g.text)?);
                Ok(())
            },
        )
        .differs("no $clientuid"),
        flag("unique_filename", "No effect: there are no clients", |_, g| { g.flag()?; Ok(()) }),
        option(
            "directory",
            "a directory, or DIRECTORY:DIRECTORY…",
            "Where the files lie; of several, each clone takes the next",
            |d, g| {
                let all = g.text.split(':').map(str::trim).filter(|one| !one.is_empty());
                d.directories = all.map(str::to_owned).collect();
                if d.directories.is_empty() {
                    return Err(NameError::NoDirectory.into());
                }
                Ok(())
            },
        )
        .differs("in a study one only, which lies below the measured directory, and is made"),
        option("nrfiles", "from 1", "How many files each clone has (1)", |d, g| {
            d.file_count = Some(g.from(1)?);
            Ok(())
        })
        .alias(&["nr_files"])
        .differs("0 is an error"),
        option("openfiles", "from 0", "How many of them are open at once (all)", |d, g| {
            d.open_files = Some(g.from(0)?);
            Ok(())
        }),
        option(
            "file_service_type",
            "roundrobin, sequential, random (each with `:N`), zipf, pareto or normal (with `:REAL`)",
            "Which file is next; `:N` I/Os go to one before the next is chosen",
            |d, g| {
                d.file_order = file_order(g.text)?;
                Ok(())
            },
        ),
        option(
            "filesize",
            "SIZE or SIZE-SIZE",
            "How long each file is; drawn evenly where it is a range. Without it, `size` is \
             shared out",
            |d, g| {
                let (from, to) = match g.text.split_once(['-', ':']) {
                    Some((from, to)) => (size(from, g.base)?, size(to, g.base)?),
                    None => (g.size()?, g.size()?),
                };
                if from.min(to) == 0 {
                    return Err(ChoiceError::EmptyFiles.into());
                }
                if from > to {
                    return Err(ChoiceError::SizesBackwards { found: shown(g.text) }.into());
                }
                d.file_size = Some((from, to));
                Ok(())
            },
        )
        .scaled(Scaled::Size),
        option(
            "offset",
            "a size, or PERCENT%",
            "So much at the start of each file is left alone; a percentage is that of the file or \
             device that is there (0)",
            |d, g| {
                d.offset = g.amount()?;
                Ok(())
            },
        )
        .alias(&["fileoffset"])
        .scaled(Scaled::Size)
        .differs("no percentages in a study; no negative ones"),
        option(
            "offset_increment",
            "a size, or PERCENT%",
            "Each clone leaves so much more than the one before (0)",
            |d, g| {
                d.offset_increment = g.amount()?;
                Ok(())
            },
        )
        .scaled(Scaled::Size)
        .differs("no percentages in a study"),
        option(
            "offset_align",
            "a size",
            "Offsets that are percentages are rounded up to a multiple of this (the block)",
            |d, g| {
                d.offset_align = Some(g.size()?).filter(|bytes| *bytes > 0);
                Ok(())
            },
        ),
    ],
};
