//! A drive file's fields to a drive.

use disklab_config::{Fields, Node};
use disklab_source::{FileName, SourceError};

use super::kind::Kind;
use super::{DriveFile, class, setting};
use crate::values::choice;
use crate::{hdd, smr, ssd};

type Reader = fn(&Node, &mut Fields<'_>) -> Result<Kind, SourceError>;

/// The kinds' words in drive files, and what reads them.
const KINDS: [(&str, Reader); 3] = [
    ("hdd", |root, fields| Ok(Kind::Hdd(hdd::read(root, fields)?))),
    ("smr", |root, fields| Ok(Kind::Smr(smr::read(root, fields)?))),
    ("ssd", |root, fields| Ok(Kind::Ssd(ssd::read(root, fields)?))),
];

/// The drive, and the table of what is plausible.
pub(super) fn read(root: &Node) -> Result<(DriveFile, Option<&Node>), SourceError> {
    let mut fields = Fields::new(root, "the drive")?;
    let id = id(fields.require("id")?)?;
    let aliases = fields.texts("aliases")?.unwrap_or_default();
    let name = fields.require_text("name")?;
    let model = fields.require_text("model")?;
    let note = fields.text("note")?.unwrap_or_default().trim().to_owned();
    let of_class = fields.texts("of-class")?.unwrap_or_default();
    let read = choice(&mut fields, "kind", &KINDS)?;
    let kind = read(root, &mut fields)?;
    let class = class::read(&mut fields, &kind)?;
    let ranges = fields.take("plausible");
    fields.finish()?;
    let (plausible, changes) = (Vec::new(), Vec::new());
    let like = None;
    for field in &of_class {
        if setting::value(root, field).is_none() {
            return Err(root.error(format!("`of-class`: this file gives no `{field}`")));
        }
    }
    let file = DriveFile {
        id,
        aliases,
        name,
        model,
        note,
        class,
        like,
        of_class,
        kind,
        plausible,
        changes,
    };
    Ok((file, ranges))
}

/// The id, which becomes the name of a page and of a directory of pictures.
fn id(node: &Node) -> Result<String, SourceError> {
    let id = node.as_text()?;
    match FileName::new(&id) {
        Ok(id) => Ok(id.into()),
        Err(why) => Err(node.error(format!("`id`: invalid name '{}': {why}", id.escape_debug()))),
    }
}
