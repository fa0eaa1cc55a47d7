//! Capacities of the drive models that come with disklab, for drives of a study without a
//! `size`.
//!
//! The models themselves are described downstream, in `drives/*.toml`; a test there compares
//! this table with them.

use disklab_units::Bytes;

/// Ids and other names of the models, and their bytes.
pub const MODEL_SIZES: [(&str, u64); 23] = [
    ("hdn721010ale604", 10_000_831_348_736),
    ("hgst-10tb", 10_000_831_348_736),
    ("wd40efrx-68n32n0", 4_000_787_030_016),
    ("wd-red-4tb", 4_000_787_030_016),
    ("wd40efrx-68wt0n0", 4_000_787_030_016),
    ("st3500418as", 500_107_862_016),
    ("barracuda-500gb", 500_107_862_016),
    ("st8000as0002", 8_001_563_222_016),
    ("archive-8tb", 8_001_563_222_016),
    ("md04aca400", 4_000_787_030_016),
    ("toshiba-4tb", 4_000_787_030_016),
    ("st9300603ss", 300_000_000_000),
    ("savvio-300gb", 300_000_000_000),
    ("generic-3tb", 3_000_592_982_016),
    ("samsung-970pro-512gb", 512_110_190_592),
    ("nvme", 512_110_190_592),
    ("970pro", 512_110_190_592),
    ("generic-nvme-1tb", 1_000_204_886_016),
    ("nvme-tlc", 1_000_204_886_016),
    ("generic-qlc-1tb", 1_000_204_886_016),
    ("nvme-qlc", 1_000_204_886_016),
    ("generic-sata-ssd-500gb", 500_107_862_016),
    ("sata-ssd", 500_107_862_016),
];

/// The capacity of a model that comes with disklab.
pub fn model_size(name: &str) -> Option<Bytes> {
    let name = name.to_lowercase();
    MODEL_SIZES.iter().find(|(known, _)| *known == name).map(|(_, bytes)| Bytes(*bytes))
}
