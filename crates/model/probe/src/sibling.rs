//! The shipped drive that is nearest to one that was measured.

use disklab_drive::{DriveFile, Kind, SHIPPED, Transport, shipped};

/// So many letters of a model's name must agree.
const LEAST_LETTERS: usize = 8;

/// Shipped drives among which the nearest is looked for.
#[derive(Debug, Clone)]
pub struct Siblings {
    drives: Vec<DriveFile>,
    names: Vec<String>,
}

/// What tells drives apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Likeness {
    pub(crate) bytes: u64,
    /// Revolutions per minute; 0 if unknown.
    pub(crate) rpm: f64,
    /// Rate at the outer edge or of the link, B/s; 0 if unknown.
    pub(crate) rate: f64,
}

impl Siblings {
    /// All shipped drives; `names` are what the drive and its links call it.
    pub fn of(names: &[String]) -> Self {
        Self::without(names, |_| false)
    }

    /// The same without those that `is_left_out` names.
    pub fn without(names: &[String], is_left_out: impl Fn(&DriveFile) -> bool) -> Self {
        let drives = SHIPPED.iter().filter_map(|(id, _)| shipped(id));
        Self {
            drives: drives.filter(|file| !is_left_out(file)).collect(),
            names: names.iter().map(|name| plain(name)).collect(),
        }
    }

    /// The drive that is called like this one.
    pub fn by_name(&self) -> Option<&DriveFile> {
        self.drives.iter().find(|file| {
            let model = plain(&file.model);
            self.names.iter().any(|name| {
                let short = name.len().min(model.len());
                // The kernel cuts a SATA drive's model; a link's name has more before and behind.
                short >= LEAST_LETTERS
                    && (model.starts_with(name.as_str()) || name.contains(&model))
            })
        })
    }

    /// The drive of this kind with the nearest size, for one whose name is not known.
    pub fn of_class(&self, rotates: bool, transport: Transport, bytes: u64) -> Option<&DriveFile> {
        let like = Likeness { bytes, rpm: 0.0, rate: 0.0 };
        if rotates {
            return self.nearest(like, |file| {
                let Kind::Hdd(p) = &file.kind else { return None };
                let is_usual = p.transport == Transport::Sata;
                is_usual.then_some(Likeness { bytes: p.capacity, ..like })
            });
        }
        self.nearest(like, |file| {
            let Kind::Ssd(p) = &file.kind else { return None };
            let is_same = p.interface.transport == transport;
            is_same.then_some(Likeness { bytes: p.capacity, ..like })
        })
    }

    /// The hard disk of the same name, or else the nearest conventional one.
    pub(crate) fn disk(&self, like: Likeness) -> Option<&DriveFile> {
        self.by_name().filter(|file| file.rotates()).or_else(|| {
            self.nearest(like, |file| {
                let Kind::Hdd(p) = &file.kind else { return None };
                Some(Likeness { bytes: p.capacity, rpm: p.rpm as f64, rate: p.outer_rate })
            })
        })
    }

    /// The solid-state drive of the same name, or else the nearest one.
    pub(crate) fn solid_state(&self, like: Likeness) -> Option<&DriveFile> {
        self.by_name()
            .filter(|file| !file.rotates())
            .or_else(|| self.solid_state_that(like, |_| true))
    }

    /// The nearest solid-state drive of which something is so.
    pub(crate) fn solid_state_that(
        &self,
        like: Likeness,
        fits: impl Fn(&DriveFile) -> bool,
    ) -> Option<&DriveFile> {
        self.nearest(like, |file| {
            let Kind::Ssd(p) = &file.kind else { return None };
            let rate = p.interface.link_rate;
            fits(file).then_some(Likeness { bytes: p.capacity, rpm: 0.0, rate })
        })
    }

    fn nearest(
        &self,
        like: Likeness,
        of: impl Fn(&DriveFile) -> Option<Likeness>,
    ) -> Option<&DriveFile> {
        let far = |file: &&DriveFile| of(file).map(|other| distance(like, other));
        let known = self.drives.iter().filter_map(|file| Some((far(&file)?, file)));
        known.min_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, file)| file)
    }
}

/// Drives of one speed of rotation are more alike than those of one size.
fn distance(a: Likeness, b: Likeness) -> f64 {
    let part = |a: f64, b: f64| if a > 0.0 && b > 0.0 { (a / b).ln().abs() } else { 0.0 };
    part(a.bytes as f64, b.bytes as f64) + 4.0 * part(a.rate, b.rate) + 8.0 * part(a.rpm, b.rpm)
}

/// A name's letters and digits.
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Option<String> {
        Siblings::of(&[name.to_owned()]).by_name().map(|file| file.id.clone())
    }

    #[test]
    fn names_are_found_as_the_kernel_and_links_have_them() {
        assert_eq!(named("TOSHIBA MG08ACA1"), Some("mg08aca16te".to_owned()));
        assert_eq!(named("ata-WDC_WD40EFRX-68N32N0_WD-WCC7"), Some("wd40efrx-68n32n0".to_owned()));
        assert_eq!(named("nvme-Samsung_SSD_980_1TB_S649"), Some("samsung-980-1tb".to_owned()));
        assert_eq!((named("ATA"), named("QEMU HARDDISK")), (None, None));
    }

    #[test]
    fn the_nearest_is_itself() {
        let all = Siblings::of(&[]);
        for (id, _) in SHIPPED {
            let file = shipped(id).unwrap();
            if let Kind::Hdd(p) = &file.kind {
                let like = Likeness { bytes: p.capacity, rpm: p.rpm as f64, rate: p.outer_rate };
                let Some(found) = all.disk(like) else { panic!("{id}") };
                let Kind::Hdd(found) = &found.kind else { panic!("{id}") };
                assert_eq!((found.rpm, found.capacity), (p.rpm, p.capacity), "{id}");
            }
        }
    }
}
