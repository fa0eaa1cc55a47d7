//! Shipped drives by their names.

use std::sync::OnceLock;

use crate::{DriveFile, SHIPPED, load};

/// The shipped drive with this id or alias, in whatever case.
pub fn by_name(name: &str) -> Option<DriveFile> {
    let name = name.to_lowercase();
    shipped(&name).or_else(|| {
        let mut all = (0..SHIPPED.len()).filter_map(loaded);
        all.find(|drive| drive.aliases.contains(&name)).cloned()
    })
}

/// Read from the file that is compiled in; `None` if no model has this id or alias.
pub fn shipped(id: &str) -> Option<DriveFile> {
    let index = SHIPPED.iter().position(|(known, _)| *known == id)?;
    loaded(index).cloned()
}

/// A file is read once: its ranges are tried at both ends, which takes milliseconds, and a
/// search by alias reads all.
fn loaded(index: usize) -> Option<&'static DriveFile> {
    static LOADED: [OnceLock<Option<DriveFile>>; SHIPPED.len()] =
        [const { OnceLock::new() }; SHIPPED.len()];
    let (id, text) = SHIPPED.get(index)?;
    // A test loads every shipped file, so this is never an error.
    LOADED.get(index)?.get_or_init(|| load(&format!("drives/{id}.toml"), text).ok()).as_ref()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_drive_loads_under_its_id() {
        let errors = SHIPPED.iter().filter_map(|(id, text)| load(id, text).err());
        let errors: Vec<String> = errors.map(|e| e.to_string()).collect();
        assert!(errors.is_empty(), "{}", errors.join("\n"));
        for (id, text) in SHIPPED {
            let file = load(id, text).unwrap();
            assert_eq!(file.id, id);
            assert_eq!(shipped(id), Some(file));
        }
        assert_eq!(shipped("no-such-drive"), None);
    }

    #[test]
    fn every_name_belongs_to_one_drive() {
        let mut seen = std::collections::BTreeSet::new();
        for (id, _) in SHIPPED {
            let file = shipped(id).unwrap();
            for name in file.aliases.iter().chain([&file.id]) {
                assert!(seen.insert(name.clone()), "'{name}' is the name of two drives");
                assert_eq!(*name, name.to_lowercase());
                assert_eq!(by_name(&name.to_uppercase()).as_ref(), Some(&file));
            }
        }
        assert_eq!(by_name("hgst-10tb").unwrap().id, "hdn721010ale604");
        assert_eq!(by_name("hgst"), None);
    }

    /// By its manual it waits 3.0 ms for a sector on average, and goes at 67 to 124 MB/s.
    #[test]
    fn the_sas_drive_is_as_servers_have_it() {
        let drive = by_name("savvio-300gb").unwrap();
        let p = drive.mechanics().unwrap();
        assert_eq!((p.revolution(), p.inner_rate, p.outer_rate), (6_000_000, 67e6, 124e6));
        assert!(!p.write_cache);
        assert_eq!(drive.queue_depth(), 128);
        assert!(drive.note.contains("SAS"), "{}", drive.note);
    }

    #[test]
    fn the_shingled_drive_names_the_basis_of_its_model() {
        let drive = shipped("st8000as0002").unwrap();
        assert!(matches!(drive.kind, crate::Kind::Smr(_)));
        assert!(drive.note.contains("measured from outside"), "{}", drive.note);
    }

    /// The table of sizes is upstream, where studies need it; it is written from the drives.
    #[test]
    fn studies_know_the_sizes_of_all_models() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../input/study/src/model_sizes.rs");
        let text = std::fs::read_to_string(path).expect(path);
        let (before, rest) = text.split_once("&[\n").expect("the table");
        let (_, after) = rest.split_once("];\n").expect("its end");
        let mut table = String::new();
        for (id, _) in SHIPPED {
            let drive = shipped(id).expect(id);
            for name in std::iter::once(id).chain(drive.aliases.iter().map(String::as_str)) {
                let bytes = grouped(drive.capacity());
                table.push_str(&format!("    (\"{name}\", {bytes}),\n"));
            }
        }
        let wanted = format!("{before}&[\n{table}];\n{after}");
        if std::env::var_os("UPDATE").is_some() && text != wanted {
            std::fs::write(path, wanted).expect("written");
            return;
        }
        assert_eq!(text, wanted, "UPDATE=1 cargo test -p disklab-drive studies_know");
        let size = |name| disklab_study::model_size(name).map(|size| size.0);
        assert_eq!(size("HGST-10TB"), Some(shipped("hdn721010ale604").unwrap().capacity()));
        assert_eq!(size("no-such-drive"), None);
    }

    /// `10_000_831_348_736`.
    fn grouped(number: u64) -> String {
        let digits = number.to_string();
        let groups: Vec<&[u8]> = digits.as_bytes().rchunks(3).rev().collect();
        groups.iter().map(|g| String::from_utf8_lossy(g)).collect::<Vec<_>>().join("_")
    }
}
