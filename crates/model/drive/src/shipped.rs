//! The drives that come with disklab.

use std::sync::OnceLock;

use crate::{DriveFile, load};

/// Ids and files of the shipped drives.
pub const SHIPPED: [(&str, &str); 54] = [
    ("hdn721010ale604", include_str!("../../../../drives/hdn721010ale604.toml")),
    ("wd40efrx-68n32n0", include_str!("../../../../drives/wd40efrx-68n32n0.toml")),
    ("wd40efrx-68wt0n0", include_str!("../../../../drives/wd40efrx-68wt0n0.toml")),
    ("st3500418as", include_str!("../../../../drives/st3500418as.toml")),
    ("st8000as0002", include_str!("../../../../drives/st8000as0002.toml")),
    ("md04aca400", include_str!("../../../../drives/md04aca400.toml")),
    ("st9300603ss", include_str!("../../../../drives/st9300603ss.toml")),
    ("generic-3tb", include_str!("../../../../drives/generic-3tb.toml")),
    ("samsung-970pro-512gb", include_str!("../../../../drives/samsung-970pro-512gb.toml")),
    ("generic-nvme-1tb", include_str!("../../../../drives/generic-nvme-1tb.toml")),
    ("generic-qlc-1tb", include_str!("../../../../drives/generic-qlc-1tb.toml")),
    ("generic-sata-ssd-500gb", include_str!("../../../../drives/generic-sata-ssd-500gb.toml")),
    ("st16000nm001g", include_str!("../../../../drives/st16000nm001g.toml")),
    ("st14000nm001g", include_str!("../../../../drives/st14000nm001g.toml")),
    ("st12000nm001g", include_str!("../../../../drives/st12000nm001g.toml")),
    ("st18000nm000j", include_str!("../../../../drives/st18000nm000j.toml")),
    ("st20000nm007d", include_str!("../../../../drives/st20000nm007d.toml")),
    ("st24000nm002h", include_str!("../../../../drives/st24000nm002h.toml")),
    ("st30000nm004k", include_str!("../../../../drives/st30000nm004k.toml")),
    ("st8000vn004", include_str!("../../../../drives/st8000vn004.toml")),
    ("st6000vn001", include_str!("../../../../drives/st6000vn001.toml")),
    ("st4000vn006", include_str!("../../../../drives/st4000vn006.toml")),
    ("st12000vn0008", include_str!("../../../../drives/st12000vn0008.toml")),
    ("st16000ne000", include_str!("../../../../drives/st16000ne000.toml")),
    ("st20000nt001", include_str!("../../../../drives/st20000nt001.toml")),
    ("st30000nt011", include_str!("../../../../drives/st30000nt011.toml")),
    ("mg08aca16te", include_str!("../../../../drives/mg08aca16te.toml")),
    ("mg09aca18te", include_str!("../../../../drives/mg09aca18te.toml")),
    ("mg10aca20te", include_str!("../../../../drives/mg10aca20te.toml")),
    ("mg10afa22te", include_str!("../../../../drives/mg10afa22te.toml")),
    ("mg11aca24te", include_str!("../../../../drives/mg11aca24te.toml")),
    ("hdwg31g", include_str!("../../../../drives/hdwg31g.toml")),
    ("wuh721818ale6l4", include_str!("../../../../drives/wuh721818ale6l4.toml")),
    ("wuh721414ale6l4", include_str!("../../../../drives/wuh721414ale6l4.toml")),
    ("huh721212ale604", include_str!("../../../../drives/huh721212ale604.toml")),
    ("hus726t4tale6l4", include_str!("../../../../drives/hus726t4tale6l4.toml")),
    ("wuh722626ale6l4", include_str!("../../../../drives/wuh722626ale6l4.toml")),
    ("wd241kryz", include_str!("../../../../drives/wd241kryz.toml")),
    ("wd221kfgx", include_str!("../../../../drives/wd221kfgx.toml")),
    ("wd201kfgx", include_str!("../../../../drives/wd201kfgx.toml")),
    ("wd161kfgx", include_str!("../../../../drives/wd161kfgx.toml")),
    ("wd80efzz", include_str!("../../../../drives/wd80efzz.toml")),
    ("wd40efzx", include_str!("../../../../drives/wd40efzx.toml")),
    ("wd40efpx", include_str!("../../../../drives/wd40efpx.toml")),
    ("st6000as0002", include_str!("../../../../drives/st6000as0002.toml")),
    ("samsung-870evo-1tb", include_str!("../../../../drives/samsung-870evo-1tb.toml")),
    ("samsung-870qvo-4tb", include_str!("../../../../drives/samsung-870qvo-4tb.toml")),
    ("intel-s4600-960gb", include_str!("../../../../drives/intel-s4600-960gb.toml")),
    ("samsung-pm983-960gb", include_str!("../../../../drives/samsung-pm983-960gb.toml")),
    ("samsung-980-1tb", include_str!("../../../../drives/samsung-980-1tb.toml")),
    ("samsung-990pro-2tb", include_str!("../../../../drives/samsung-990pro-2tb.toml")),
    ("samsung-990pro-4tb", include_str!("../../../../drives/samsung-990pro-4tb.toml")),
    ("wd-sn580-1tb", include_str!("../../../../drives/wd-sn580-1tb.toml")),
    ("wd-sn770-1tb", include_str!("../../../../drives/wd-sn770-1tb.toml")),
];

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
