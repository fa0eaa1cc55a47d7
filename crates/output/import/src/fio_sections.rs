//! Which option has which value in the sections of a fio job.

use std::collections::HashMap;

/// The sections of a job, each with all options that hold in it.
#[derive(Debug)]
pub(crate) struct FioSections<'a> {
    sections: Vec<HashMap<&'a str, &'a str>>,
    by_name: HashMap<&'a str, Vec<usize>>,
}

impl<'a> FioSections<'a> {
    /// Of a job file's text.
    pub fn new(job: &'a str) -> Self {
        let (mut global, mut in_global) = (HashMap::new(), true);
        let mut read = Self { sections: Vec::new(), by_name: HashMap::new() };
        for line in job.lines() {
            let line = line.split([';', '#']).next().unwrap_or_default().trim();
            if let Some(section) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
                in_global = section.trim() == "global";
                if !in_global {
                    // A later [global] changes only what follows it.
                    read.by_name.entry(section.trim()).or_default().push(read.sections.len());
                    read.sections.push(global.clone());
                }
                continue;
            }
            let (key, value) = line.split_once('=').unwrap_or((line, "1"));
            let options = match read.sections.last_mut() {
                Some(section) if !in_global => section,
                _ => &mut global,
            };
            options.insert(key.trim(), value.trim());
        }
        read
    }

    /// The value of an option in a step. Nothing if it is absent or differs from section to
    /// section: a step is named after its section, or after all of them as `a+b`. If no
    /// section has such a name, all are meant.
    pub fn value(&self, step: &str, name: &str) -> Option<String> {
        let parts = (step.contains('+')).then(|| step.split('+')).into_iter().flatten();
        let named: Vec<usize> = std::iter::once(step)
            .chain(parts)
            .filter_map(|part| self.by_name.get(part))
            .flatten()
            .copied()
            .collect();
        let value = |section: &HashMap<&'a str, &'a str>| section.get(name).copied();
        let mut values: Box<dyn Iterator<Item = Option<&str>>> = if named.is_empty() {
            Box::new(self.sections.iter().map(value))
        } else {
            Box::new(named.iter().map(|index| value(&self.sections[*index])))
        };
        let first = values.next()?;
        values.all(|value| value == first).then_some(first).flatten().map(str::to_owned)
    }
}
