//! Capacities of the drive models that come with disklab, for drives of a study without a
//! `size`.
//!
//! The models themselves are described downstream, in `drives/*.toml`; a test there writes this
//! table from them (`UPDATE=1 cargo test -p disklab-drive studies_know`).

use disklab_units::Bytes;

/// Ids and other names of the models, and their bytes.
pub(crate) const MODEL_SIZES: &[(&str, u64)] = &[
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
    ("st16000nm001g", 16_000_900_661_248),
    ("exos-x16-16tb", 16_000_900_661_248),
    ("st14000nm001g", 14_000_519_643_136),
    ("exos-x16-14tb", 14_000_519_643_136),
    ("st12000nm001g", 12_000_138_625_024),
    ("exos-x16-12tb", 12_000_138_625_024),
    ("st18000nm000j", 18_000_207_937_536),
    ("exos-x18-18tb", 18_000_207_937_536),
    ("st20000nm007d", 20_000_588_955_648),
    ("exos-x20-20tb", 20_000_588_955_648),
    ("st24000nm002h", 24_000_277_250_048),
    ("exos-x24-24tb", 24_000_277_250_048),
    ("st30000nm004k", 30_000_346_562_560),
    ("exos-m-30tb", 30_000_346_562_560),
    ("st8000vn004", 8_001_563_222_016),
    ("ironwolf-8tb", 8_001_563_222_016),
    ("st6000vn001", 6_001_175_126_016),
    ("ironwolf-6tb", 6_001_175_126_016),
    ("st4000vn006", 4_000_787_030_016),
    ("ironwolf-4tb", 4_000_787_030_016),
    ("st12000vn0008", 12_000_138_625_024),
    ("ironwolf-12tb", 12_000_138_625_024),
    ("st16000ne000", 16_000_900_661_248),
    ("ironwolf-pro-16tb", 16_000_900_661_248),
    ("st20000nt001", 20_000_588_955_648),
    ("ironwolf-pro-20tb", 20_000_588_955_648),
    ("st30000nt011", 30_000_346_562_560),
    ("ironwolf-pro-30tb", 30_000_346_562_560),
    ("mg08aca16te", 16_000_900_661_248),
    ("mg08-16tb", 16_000_900_661_248),
    ("mg09aca18te", 18_000_207_937_536),
    ("mg09-18tb", 18_000_207_937_536),
    ("mg10aca20te", 20_000_588_955_648),
    ("mg10-20tb", 20_000_588_955_648),
    ("mg10afa22te", 22_000_969_973_760),
    ("mg10-22tb", 22_000_969_973_760),
    ("mg11aca24te", 24_000_277_250_048),
    ("mg11-24tb", 24_000_277_250_048),
    ("hdwg31g", 16_000_900_661_248),
    ("n300-16tb", 16_000_900_661_248),
    ("wuh721818ale6l4", 18_000_207_937_536),
    ("hc550-18tb", 18_000_207_937_536),
    ("wuh721414ale6l4", 14_000_519_643_136),
    ("hc530-14tb", 14_000_519_643_136),
    ("huh721212ale604", 12_000_138_625_024),
    ("hc520-12tb", 12_000_138_625_024),
    ("hus726t4tale6l4", 4_000_787_030_016),
    ("hc310-4tb", 4_000_787_030_016),
    ("wuh722626ale6l4", 26_000_658_268_160),
    ("hc590-26tb", 26_000_658_268_160),
    ("wd241kryz", 24_000_277_250_048),
    ("wd-gold-24tb", 24_000_277_250_048),
    ("wd221kfgx", 22_000_969_973_760),
    ("wd-red-pro-22tb", 22_000_969_973_760),
    ("wd201kfgx", 20_000_588_955_648),
    ("wd-red-pro-20tb", 20_000_588_955_648),
    ("wd161kfgx", 16_000_900_661_248),
    ("wd-red-pro-16tb", 16_000_900_661_248),
    ("wd80efzz", 8_001_563_222_016),
    ("wd-red-plus-8tb", 8_001_563_222_016),
    ("wd40efzx", 4_000_787_030_016),
    ("wd40efpx", 4_000_787_030_016),
    ("wd-red-plus-4tb", 4_000_787_030_016),
    ("st6000as0002", 6_001_175_126_016),
    ("archive-6tb", 6_001_175_126_016),
    ("samsung-870evo-1tb", 1_000_204_886_016),
    ("870-evo", 1_000_204_886_016),
    ("samsung-870qvo-4tb", 4_000_787_030_016),
    ("870-qvo", 4_000_787_030_016),
    ("intel-s4600-960gb", 960_197_124_096),
    ("s4600", 960_197_124_096),
    ("samsung-pm983-960gb", 960_197_124_096),
    ("pm983", 960_197_124_096),
    ("samsung-980-1tb", 1_000_204_886_016),
    ("980-1tb", 1_000_204_886_016),
    ("samsung-990pro-2tb", 2_000_398_934_016),
    ("990-pro", 2_000_398_934_016),
    ("samsung-990pro-4tb", 4_000_787_030_016),
    ("990-pro-4tb", 4_000_787_030_016),
    ("wd-sn580-1tb", 1_000_204_886_016),
    ("sn580", 1_000_204_886_016),
    ("wd-sn770-1tb", 1_000_204_886_016),
    ("sn770", 1_000_204_886_016),
];

/// Names that are listed besides the closest.
const LISTED: usize = 5;
/// A longer name is none that was mistyped.
const LONGEST: usize = 100;
/// The likeness of names with the same letters and digits.
const SAME: f64 = 10.0;
/// From this likeness on a name may be meant.
const LIKE: f64 = 0.5;
/// Names that are by so much less alike than the closest are not listed.
const NEXT_TO_IT: f64 = 0.4;

/// Which models a name that is unknown may mean: the closest one, and those that are like it, such
/// as a maker's series; nothing if none is.
pub fn nearest_models(name: &str) -> String {
    if name.len() > LONGEST {
        return String::new();
    }
    let mut near: Vec<(f64, &str)> =
        MODEL_SIZES.iter().map(|(known, _)| (likeness(name, known), *known)).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let best = near.first().map_or(0.0, |(best, _)| *best);
    near.retain(|(like, _)| *like >= LIKE && *like > best - NEXT_TO_IT);
    let mut names = near.into_iter().map(|(_, known)| format!("'{known}'"));
    let Some(closest) = names.next() else { return String::new() };
    let others: Vec<String> = names.take(LISTED).collect();
    if others.is_empty() {
        return format!(" (did you mean {closest}?)");
    }
    format!(" (did you mean {closest}?); like it: {}", others.join(", "))
}

/// How much a name is like a known one: the share of pairs of characters that both have, and more for
/// each word and number that is the same, and where one begins with the other or has it in it.
fn likeness(name: &str, known: &str) -> f64 {
    let plain = |text: &str| -> String {
        let letters = text.chars().filter(char::is_ascii_alphanumeric);
        letters.map(|c| c.to_ascii_lowercase()).collect()
    };
    let (plain_name, plain_known) = (plain(name), plain(known));
    if plain_name.is_empty() {
        return 0.0;
    }
    if plain_name == plain_known {
        return SAME;
    }
    let parts = |text: &str, is_part: fn(char) -> bool| -> Vec<String> {
        let parts = text.split(|c: char| !is_part(c)).filter(|part| !part.is_empty());
        parts.map(str::to_ascii_lowercase).collect()
    };
    let shared = |is_part: fn(char) -> bool| {
        let (wanted, known) = (parts(name, is_part), parts(known, is_part));
        known.into_iter().filter(|part| wanted.contains(part)).collect::<Vec<_>>()
    };
    let is_capacity = |word: &str| word.ends_with("tb") || word.ends_with("gb");
    let words = shared(|c| c.is_ascii_alphanumeric());
    let words = words.iter().filter(|word| word.len() > 1 && !is_capacity(word)).count();
    let numbers = shared(|c| c.is_ascii_digit()).len();
    let contains = plain_name.len() > 3
        && (plain_known.starts_with(&plain_name) || plain_name.contains(&plain_known));
    let more = 0.3 * words as f64 + 0.15 * numbers as f64 + if contains { 0.3 } else { 0.0 };
    strsim::sorensen_dice(&plain_name, &plain_known) + more
}

/// The capacity of a model that comes with disklab.
pub fn model_size(name: &str) -> Option<Bytes> {
    let name = name.to_lowercase();
    MODEL_SIZES.iter().find(|(known, _)| *known == name).map(|(_, bytes)| Bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_models_are_answered_with_their_family() {
        for (name, expected) in [
            ("wd-red-pro-21tb", "did you mean 'wd-red-pro-22tb'?); like it: 'wd-red-pro-20tb'"),
            ("WD Red Plus 4TB", " (did you mean 'wd-red-plus-4tb'?)"),
            ("wdred22", "did you mean 'wd-red-pro-22tb'"),
            ("wd40efrx", "did you mean 'wd40efrx-68n32n0'?); like it: 'wd40efrx-68wt0n0'"),
            ("st4000", "did you mean 'st4000vn006'"),
            ("samsung-990-pro", "did you mean 'samsung-990pro-2tb'"),
            ("seagate-exos-18tb", "did you mean 'exos-x18-18tb'"),
            ("toshiba-n300", "'n300-16tb'"),
            ("Seagate IronWolf Pro 10TB", "'ironwolf-pro-16tb'?); like it: 'ironwolf-pro-20tb'"),
            ("mg08acp16te", "did you mean 'mg08aca16te'"),
            ("st12000nm0008", "'st12000nm001g'"),
            ("WDC WD221KFGX-68B9KN0", "did you mean 'wd221kfgx'"),
        ] {
            let found = nearest_models(name);
            assert!(found.contains(expected), "{name}: {found}");
        }
        for other in ["floppy", "crucial-mx500", "-", "wd-red-pro ".repeat(1000).as_str()] {
            assert_eq!(nearest_models(other), "", "{other}");
        }
        assert_eq!(nearest_models(""), "");
    }
}
