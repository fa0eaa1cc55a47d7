//! The processors that come with disklab.

use crate::{Processor, load};

/// Ids and files of the shipped processors.
pub const SHIPPED: [(&str, &str); 1] =
    [("atom-d2700", include_str!("../../../../processors/atom-d2700.toml"))];

/// The shipped processor with this id, in whatever case.
pub fn by_name(name: &str) -> Option<Processor> {
    let name = name.to_lowercase();
    let (id, text) = SHIPPED.iter().find(|(known, _)| *known == name)?;
    // A test loads every shipped file, so this is never an error.
    load(&format!("processors/{id}.toml"), text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_processor_loads_under_its_id() {
        for (id, text) in SHIPPED {
            let processor = load(id, text).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(processor.id, id);
            assert_eq!(by_name(&id.to_uppercase()), Some(processor));
        }
        assert_eq!(by_name("atom"), None);
    }

    #[test]
    fn every_figure_names_its_source() {
        for (id, text) in SHIPPED {
            let figures = text.lines().skip_while(|line| !line.starts_with('['));
            for line in figures.filter(|line| line.contains(" = ")) {
                assert!(line.contains('#'), "{id}: no source: {line}");
            }
        }
    }
}
