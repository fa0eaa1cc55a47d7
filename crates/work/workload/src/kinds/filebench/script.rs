//! Where a personality comes from, and what the study changes of it.

use std::sync::Arc;
use std::time::Duration;

use disklab_config::{Fields, Node};
use disklab_source::{Source, SourceError, did_you_mean};
use disklab_units::Bytes;
use disklab_wml::{Attribute, Overrides, PERSONALITIES, Personality, find_personality};

use crate::Context;

/// A single file keeps a size that a file system divides into blocks.
const BLOCK: Bytes = Bytes::kib(4);

/// The script that the study names.
pub(super) fn take(fields: &mut Fields<'_>, context: &Context) -> Result<Arc<Source>, SourceError> {
    let (name, file, text) = (fields.take("personality"), fields.take("file"), fields.take("text"));
    match (name, file, text) {
        (Some(node), None, None) => {
            let name = node.as_text()?;
            let found = find_personality(&name).ok_or_else(|| {
                let near = did_you_mean(&name, PERSONALITIES.iter().map(|p| p.name));
                node.error(format!(
                    "there is no personality '{name}'{near}; `disklab filebench --list` names \
                     them, and `file` takes a script of your own"
                ))
            })?;
            Ok(found.source())
        }
        (None, Some(node), None) => context.files.named(&node.as_text()?, &node.place),
        (None, None, Some(node)) => {
            Ok(Arc::new(Source { name: "text".to_owned(), text: node.as_text()? }))
        }
        // Says that it is missing.
        (None, None, None) => fields
            .require("personality")
            .and_then(|node| Err(node.error("expected a personality's name"))),
        (_, Some(node), _) | (_, _, Some(node)) => {
            Err(node.error("give one of `personality`, `file` and `text`"))
        }
    }
}

/// The personality, scaled. Numbers of files scale and their sizes do not, so that
/// each operation stays what it was; a file that is defined by itself is scaled in
/// size. Returns what was scaled, too.
pub(super) fn personality(
    script: Arc<Source>,
    variables: Vec<(String, String)>,
    run_time: Option<Duration>,
    scale: f64,
    body: &Node,
) -> Result<(Personality, Vec<String>), SourceError> {
    let mut overrides = Overrides { variables, run_time };
    let read = |overrides: &Overrides| {
        Personality::read(&script, overrides).map_err(|e| body.error(e.to_string()))
    };
    let mut personality = read(&overrides)?;
    let mut scaled = Vec::new();
    if scale == 1.0 {
        return Ok((personality, scaled));
    }
    // Counts besides that of the files may follow from it, such as `iters=$nfiles`.
    let given = personality.variables.iter().find(|v| v.name == "nfiles");
    let many = given.and_then(|v| v.value.parse::<u64>().ok()).filter(|n| *n > 1);
    if let Some(many) = many {
        let fewer = Bytes(many).scaled(scale, Bytes(1)).0;
        overrides.variables.retain(|(name, _)| name != "nfiles");
        overrides.variables.push(("nfiles".to_owned(), fewer.to_string()));
        personality = read(&overrides)?;
        scaled.push(format!("nfiles: {many} to {fewer}"));
    }
    for fileset in &mut personality.filesets {
        if fileset.single {
            if let Some(size) = fileset.size.fixed().filter(|size| *size > BLOCK.0) {
                let smaller = Bytes(size).scaled(scale, BLOCK);
                fileset.size = Attribute::Constant(smaller.0);
                scaled.push(format!("size of {}: {} to {smaller}", fileset.name, Bytes(size)));
            }
        } else if many.is_none()
            && let Some(entries) = fileset.entries.fixed().filter(|entries| *entries > 1)
        {
            let fewer = Bytes(entries).scaled(scale, Bytes(1)).0;
            fileset.entries = Attribute::Constant(fewer);
            scaled.push(format!("files of {}: {entries} to {fewer}", fileset.name));
        }
    }
    Ok((personality, scaled))
}
