//! Which drives are written how much, those alike in one line.

use disklab_units::Bytes;

/// Drives that follow each other and are written the same, with how much that is; those that are
/// not written are left out.
pub fn grouped(names: &[String], written: &[Bytes]) -> Vec<(String, Bytes)> {
    let mut groups: Vec<(Vec<&str>, Bytes)> = Vec::new();
    let shown = |bytes: &Bytes| bytes.si().to_string();
    for (name, bytes) in names.iter().zip(written).filter(|(_, bytes)| **bytes > Bytes::ZERO) {
        match groups.last_mut() {
            Some((drives, same)) if shown(same) == shown(bytes) => drives.push(name),
            _ => groups.push((vec![name], *bytes)),
        }
    }
    groups.into_iter().map(|(drives, bytes)| (words(&drives), bytes)).collect()
}

/// `d-1`, or `d-1 to d-64, each`.
fn words(drives: &[&str]) -> String {
    match drives {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first, .., last] => format!("{first} to {last}, each"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drives_alike_share_a_line() {
        let names: Vec<String> = (1..=64).map(|n| format!("d-{n}")).collect();
        let each = [vec![Bytes::gib(4); 32], vec![Bytes(5); 31], vec![Bytes::ZERO]].concat();
        assert_eq!(
            grouped(&names, &each),
            [
                ("d-1 to d-32, each".to_owned(), Bytes::gib(4)),
                ("d-33 to d-63, each".to_owned(), Bytes(5)),
            ]
        );
        let one = grouped(&names[..1], &[Bytes(7)]);
        assert_eq!(one, [("d-1".to_owned(), Bytes(7))]);
        assert_eq!(grouped(&[], &[]), []);
    }
}
