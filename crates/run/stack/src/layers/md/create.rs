//! Making an array with mdadm.

use std::path::{Path, PathBuf};

use disklab_exec::Invocation;

use super::{JOURNAL, Md, Resync, SPARE};
use crate::find::Search;
use crate::layers::partition::device_size;
use crate::md_arrays::{array_uuid, arrays_over, same_uuid};
use crate::udev::kernel_name;
use crate::wait::wait_for_node;
use crate::{LayerContext, StackError, seeded, undo};

/// How mdadm is to make an array.
#[derive(Debug)]
struct Creation<'a> {
    /// Becomes `/dev/md/NAME`.
    name: &'a str,
    /// In the usual form.
    uuid: &'a str,
    assume_clean: bool,
    bitmap: bool,
    members: &'a [PathBuf],
    journal: &'a [PathBuf],
    spares: &'a [PathBuf],
}

impl Md {
    /// Makes the array over `members` and returns its node, `/dev/mdN`.
    ///
    /// # Errors
    /// [`StackError::Program`] if mdadm fails, [`StackError::NoArray`] if no array appears, and
    /// those of waiting for the resync.
    pub(crate) fn create(
        &self,
        members: &[PathBuf],
        context: &mut LayerContext<'_>,
    ) -> Result<PathBuf, StackError> {
        let (name, uuid) = draw(context);
        let resync = self.resync(context.below);
        let assume_clean = self.level.is_redundant() && resync == Resync::Skip;
        let inputs = std::mem::take(&mut context.inputs);
        let all: Vec<PathBuf> = members.iter().chain(inputs.all()).cloned().collect();
        enter(&name, &uuid, &all, inputs.all().count(), context)?;
        let bitmap = self.has_bitmap(members)?;
        let creation = Creation {
            name: &name,
            uuid: &uuid,
            assume_clean,
            bitmap,
            members,
            journal: inputs.get(JOURNAL.name),
            spares: inputs.get(SPARE.name),
        };
        context.run(self.layer, &self.invocation(&creation))?;
        let (array, node) = self.shown(&uuid, members, context)?;
        if self.level.is_redundant() {
            self.agree(&array, resync, context)?;
        }
        self.note_what_was_made(&array, bitmap, context);
        Ok(node)
    }

    /// Starts the array that was created among `devices`, also if not all of its members are there
    /// or in step, and returns its node. The kernel resyncs it meanwhile.
    ///
    /// # Errors
    /// [`StackError::NotFound`] if no device is a member, and as for [`Md::create`].
    pub(crate) fn start_again(
        &self,
        devices: &[PathBuf],
        context: &mut LayerContext<'_>,
    ) -> Result<PathBuf, StackError> {
        let (name, uuid) = draw(context);
        let search = Search { layer: self.layer, what: "the array with the UUID", tag: "UUID" };
        let inputs = std::mem::take(&mut context.inputs);
        let others = inputs.all().filter(|device| !devices.contains(device));
        let devices: Vec<PathBuf> = devices.iter().chain(others).cloned().collect();
        let members = search.all(&devices, &uuid, context)?;
        enter(&name, &uuid, &members, inputs.all().count(), context)?;
        let assemble = Invocation::new("mdadm")
            .arg("--assemble")
            .arg(format!("/dev/md/{name}"))
            .args(["--run", "--config", "none", "--homehost", "any"])
            .args(["--uuid", &mdadm_uuid(&uuid)])
            .args(&members);
        context.run(self.layer, &assemble)?;
        let (array, node) = self.shown(&uuid, &members, context)?;
        self.note_what_was_made(&array, self.has_bitmap(&members)?, context);
        Ok(node)
    }

    /// The array that was just started, with its stripe cache, and its node.
    fn shown(
        &self,
        uuid: &str,
        members: &[PathBuf],
        context: &LayerContext<'_>,
    ) -> Result<(String, PathBuf), StackError> {
        let array = self.find(uuid, members, context)?;
        let node = wait_for_node(context, self.layer, &Path::new("/dev").join(&array))?;
        if let Some(pages) = self.stripe_cache {
            let path = Path::new("/sys/block").join(&array).join("md/stripe_cache_size");
            std::fs::write(&path, pages.to_string())
                .map_err(|e| StackError::io("cannot write", &path, e))?;
        }
        for (name, speed) in [("max", self.speeds.1), ("min", self.speeds.0)] {
            let Some(speed) = speed else { continue };
            let path = Path::new("/sys/block").join(&array).join(format!("md/sync_speed_{name}"));
            let kib = (speed.0 / 1024).max(1).to_string();
            std::fs::write(&path, kib).map_err(|e| StackError::io("cannot write", &path, e))?;
        }
        Ok((array, node))
    }

    /// Whether the array over `members` gets a bitmap.
    fn has_bitmap(&self, members: &[PathBuf]) -> Result<bool, StackError> {
        if let Some(bitmap) = self.bitmap {
            return Ok(bitmap);
        }
        let sizes = members.iter().map(|member| device_size(self.layer, member));
        Ok(self.level.has_bitmap(&sizes.collect::<Result<Vec<_>, _>>()?, self.chunk))
    }

    fn invocation(&self, creation: &Creation<'_>) -> Invocation {
        let mut invocation = Invocation::new("mdadm")
            .arg("--create")
            .arg(format!("/dev/md/{}", creation.name))
            // No question is asked, and no file of this machine has a say.
            .args(["--run", "--config", "none", "--homehost", "any", "--metadata", "1.2"])
            .args(["--name", creation.name])
            .args(["--uuid", &mdadm_uuid(creation.uuid)])
            .args(["--level", self.level.word()])
            .args(["--raid-devices", &creation.members.len().to_string()]);
        if !creation.spares.is_empty() {
            invocation = invocation.args(["--spare-devices", &creation.spares.len().to_string()]);
        }
        if let Some(chunk) = self.chunk {
            invocation = invocation.args(["--chunk", &format!("{}K", chunk.0 / 1024)]);
        }
        if let Some(layout) = self.layout {
            invocation = invocation.args(["--layout", layout]);
        }
        if let [journal] = creation.journal {
            invocation = invocation.arg("--write-journal").arg(journal);
        } else if self.level.is_redundant() {
            // Said always: mdadm's default differs between versions, and some ask.
            let bitmap = if creation.bitmap { "internal" } else { "none" };
            invocation = invocation.args(["--bitmap", bitmap]);
        }
        if creation.assume_clean {
            invocation = invocation.arg("--assume-clean");
        }
        invocation.args(creation.members).args(creation.spares)
    }

    /// The kernel's name of the array that now holds `members`: with or without
    /// udev, `/sys` knows it.
    fn find(
        &self,
        uuid: &str,
        members: &[PathBuf],
        context: &LayerContext<'_>,
    ) -> Result<String, StackError> {
        let names: Vec<String> = members.iter().filter_map(|m| kernel_name(m)).collect();
        let is_it = |array: &String| {
            array_uuid(array, context.executor).is_some_and(|found| same_uuid(&found, uuid))
        };
        arrays_over(&names).into_iter().find(is_it).ok_or_else(|| StackError::NoArray {
            layer: self.layer.to_owned(),
            uuid: uuid.to_owned(),
        })
    }

    fn note_what_was_made(&self, array: &str, bitmap: bool, context: &mut LayerContext<'_>) {
        let read = |name: &str| {
            let path = format!("/sys/block/{array}/md/{name}");
            std::fs::read_to_string(path).map(|text| text.trim().to_owned()).unwrap_or_default()
        };
        let mut words = Vec::new();
        if self.level.has_chunks()
            && let Ok(chunk) = read("chunk_size").parse()
        {
            words.push(format!("chunk {}", disklab_units::Bytes(chunk)));
        }
        if read("consistency_policy") == JOURNAL.name {
            words.push("write journal".to_owned());
        } else if self.level.is_redundant() {
            words.push(if bitmap { "internal bitmap" } else { "no bitmap" }.to_owned());
        }
        if self.level.has_parity() {
            words.push(format!("stripe cache of {} pages", read("stripe_cache_size")));
        }
        if !words.is_empty() {
            context.note(self.layer, words.join(", "));
        }
    }
}

/// The name and the UUID of the next array.
fn draw(context: &LayerContext<'_>) -> (String, String) {
    let number = context.number();
    (context.name(number), seeded::uuid(context, &format!("md {number}")))
}

fn enter(
    name: &str,
    uuid: &str,
    members: &[PathBuf],
    others: usize,
    context: &mut LayerContext<'_>,
) -> Result<(), StackError> {
    let (name, uuid, members) = (name.to_owned(), uuid.to_owned(), members.to_vec());
    context.enter(undo::StopArray { name, uuid, members, others })
}

/// As mdadm reads it: four groups of eight digits.
fn mdadm_uuid(uuid: &str) -> String {
    let digits: String = uuid.chars().filter(|c| *c != '-').collect();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && index % 8 == 0 {
            text.push(':');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use disklab_units::Bytes;

    use super::*;
    use crate::layers::md::Level;

    #[test]
    fn command_lines() {
        let members = ["/dev/sda", "/dev/sdb", "/dev/sdc"].map(PathBuf::from);
        let creation = Creation {
            name: "disklab-a1-0",
            uuid: "00112233-4455-6677-8899-aabbccddeeff",
            assume_clean: true,
            bitmap: false,
            members: &members,
            journal: &[],
            spares: &[],
        };
        let mut md = Md {
            layer: "md-raid5",
            level: Level::Raid5,
            chunk: Some(Bytes::kib(64)),
            layout: Some("left-symmetric"),
            width: None,
            bitmap: None,
            resync: None,
            stripe_cache: None,
            speeds: (None, None),
        };
        assert_eq!(
            md.invocation(&creation).command_line(),
            "mdadm --create /dev/md/disklab-a1-0 --run --config none --homehost any \
             --metadata 1.2 --name disklab-a1-0 --uuid 00112233:44556677:8899aabb:ccddeeff \
             --level raid5 --raid-devices 3 --chunk 64K --layout left-symmetric --bitmap none \
             --assume-clean /dev/sda /dev/sdb /dev/sdc"
        );
        md.bitmap = Some(false);
        assert!(!md.has_bitmap(&members).expect("as it was asked for"));
        (md.level, md.chunk, md.layout) = (Level::Raid0, None, None);
        let line = md.invocation(&Creation { assume_clean: false, ..creation }).command_line();
        assert!(line.ends_with("--level raid0 --raid-devices 3 /dev/sda /dev/sdb /dev/sdc"));
    }
}
