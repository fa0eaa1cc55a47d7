//! What the modules of a crate name of each other: by `use`, and by paths in their code. Tests are
//! left out.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::Peekable;
use std::slice::Iter;

use crate::rust::{TokenKind, tokens};
use crate::tree::{root, text};

/// A path of names, such as `crate::error::LabError`.
type Names = Vec<String>;

/// A file of a crate, as far as it says what it knows.
#[derive(Debug, Default)]
pub struct Module {
    pub file: String,
    /// Its modules that have a file.
    children: BTreeSet<String>,
    /// What it defines.
    items: BTreeSet<String>,
    uses: Vec<Use>,
    /// Paths in its code.
    paths: BTreeSet<Names>,
    /// Names in its code.
    names: BTreeSet<String>,
}

#[derive(Debug)]
struct Use {
    path: Names,
    /// By which it is called here.
    name: String,
    is_public: bool,
}

/// The modules of a crate by their paths in it; the root's is empty.
#[derive(Debug, Default)]
pub struct Modules(BTreeMap<Names, Module>);

impl Modules {
    /// Those of the crate in this directory of the root; none if it has no sources.
    pub fn of(directory: &str) -> Self {
        let mut modules = Self::default();
        let roots = ["lib", "main"].map(|name| format!("{directory}/src/{name}.rs"));
        if let Some(file) = roots.into_iter().find(|file| root().join(file).is_file()) {
            modules.read(file, Vec::new(), &format!("{directory}/src"));
        }
        modules
    }

    fn read(&mut self, file: String, path: Names, directory: &str) {
        let mut module = Module::parse(&text(&file));
        module.file = file;
        let mut children = std::mem::take(&mut module.children);
        children.retain(|name| {
            let files = [format!("{directory}/{name}.rs"), format!("{directory}/{name}/mod.rs")];
            let found = files.into_iter().find(|file| root().join(file).is_file());
            let child = [&path[..], std::slice::from_ref(name)].concat();
            let is_file = found.is_some();
            if let Some(file) = found {
                self.read(file, child, &format!("{directory}/{name}"));
            }
            is_file
        });
        module.children = children;
        self.0.insert(path, module);
    }

    pub fn iter(&self) -> impl Iterator<Item = (&Names, &Module)> {
        self.0.iter()
    }

    /// The modules that one names, but itself. To pass a name on is not to know it.
    pub fn named_by(&self, path: &Names) -> BTreeSet<Names> {
        let Some(module) = self.0.get(path) else { return BTreeSet::new() };
        let used = module.uses.iter().filter(|u| !u.is_public || module.names.contains(&u.name));
        let used = used.map(|u| &u.path).filter(|p| self.is_of_crate(module, p));
        let all = used.chain(&module.paths).filter_map(|p| self.definer(path, p, 0));
        all.filter(|definer| definer != path).collect()
    }

    fn is_of_crate(&self, module: &Module, path: &[String]) -> bool {
        let first = path.first().map_or("", String::as_str);
        ["crate", "self", "super"].contains(&first) || module.children.contains(first)
    }

    /// The module in which a path ends that is written in module `at`; none outside of the crate.
    fn definer(&self, at: &[String], path: &[String], depth: usize) -> Option<Names> {
        /// Names that are passed on so often have a circle of their own.
        const DEEPEST: usize = 20;
        let module = self.0.get(at)?;
        let (first, rest) = path.split_first().filter(|_| depth < DEEPEST)?;
        let mut now: Names = at.to_vec();
        let mut rest = rest;
        match first.as_str() {
            "crate" => now.clear(),
            "self" => {}
            "super" => {
                now.pop()?;
                while rest.first().is_some_and(|name| name == "super") {
                    now.pop()?;
                    rest = &rest[1..];
                }
            }
            child if module.children.contains(child) => rest = path,
            name => {
                let used = module.uses.iter().find(|u| u.name == name && u.path != path)?;
                let is_of_crate = self.is_of_crate(module, &used.path);
                let whole = [&used.path[..], rest].concat();
                return is_of_crate.then(|| self.definer(at, &whole, depth + 1)).flatten();
            }
        }
        while let Some((name, after)) = rest.split_first() {
            let module = self.0.get(&now)?;
            if module.children.contains(name) {
                now.push(name.clone());
                rest = after;
                continue;
            }
            let used = module.uses.iter().find(|u| u.name == *name && !module.items.contains(name));
            return match used {
                Some(used) => self.definer(&now, &[&used.path[..], after].concat(), depth + 1),
                None => Some(now),
            };
        }
        Some(now)
    }
}

/// A token's text, and whether it is a name.
type Word<'a> = (&'a str, bool);

impl Module {
    fn parse(text: &str) -> Self {
        let words: Vec<Word<'_>> = tokens(text)
            .iter()
            .filter(|token| token.kind != TokenKind::Comment && !token.in_tests)
            .map(|token| (token.text, token.kind == TokenKind::Identifier))
            .collect();
        let mut module = Self::default();
        let mut at = 0;
        while at < words.len() {
            at += module.take(&words[at..], at.checked_sub(1).map_or("", |before| words[before].0));
        }
        module
    }

    /// Takes what stands first in `words`, and returns how many of them that is.
    fn take(&mut self, words: &[Word<'_>], before: &str) -> usize {
        const KINDS: [&str; 8] =
            ["struct", "enum", "trait", "fn", "const", "static", "type", "union"];
        const TEST: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
        let text = |at: usize| words.get(at).map_or("", |word| word.0);
        let is_name = |at: usize| words.get(at).is_some_and(|word| word.1);
        if TEST.iter().enumerate().all(|(at, word)| text(at) == *word) {
            return TEST.len() + item_length(&words[TEST.len()..]);
        }
        match text(0) {
            "mod" if is_name(1) && text(2) == ";" => {
                self.children.insert(text(1).to_owned());
                3
            }
            "pub" if text(1) == "(" => {
                words.iter().position(|word| word.0 == ")").map_or(1, |end| end + 1)
            }
            // What is in an inline module is not looked at.
            "mod" if is_name(1) && text(2) == "{" => item_length(words),
            "use" => {
                let length = words.iter().position(|word| word.0 == ";").unwrap_or(words.len());
                let is_public = before == "pub" || before == ")";
                let mut tree = words[1..length].iter().peekable();
                self.take_use(&mut tree, Vec::new(), is_public);
                length + 1
            }
            kind if KINDS.contains(&kind) && is_name(1) => {
                self.items.insert(text(1).to_owned());
                2
            }
            name if is_name(0) => {
                let mut path = vec![name.to_owned()];
                while text(path.len() * 3 - 2) == ":" && text(path.len() * 3 - 1) == ":" {
                    if !is_name(path.len() * 3) {
                        break;
                    }
                    path.push(text(path.len() * 3).to_owned());
                }
                let length = path.len() * 3 - 2;
                self.names.insert(name.to_owned());
                if path.len() > 1 {
                    self.paths.insert(path);
                }
                length
            }
            _ => 1,
        }
    }

    /// A tree of names in braces, or one of them.
    fn take_use(&mut self, tree: &mut Peekable<Iter<'_, Word<'_>>>, front: Names, is_public: bool) {
        let mut path = front.clone();
        let mut name = None;
        while let Some((word, is_name)) = tree.peek() {
            match *word {
                "{" => {
                    tree.next();
                    self.take_use(tree, path.clone(), is_public);
                    while tree.next_if(|word| word.0 == ",").is_some() {
                        self.take_use(tree, path.clone(), is_public);
                    }
                    tree.next();
                    return;
                }
                "," | "}" => break,
                "as" => {
                    tree.next();
                    name = tree.next().map(|word| word.0.to_owned());
                    continue;
                }
                // Of `use a::{self}`.
                "self" if !path.is_empty() => {}
                word if *is_name => path.push(word.to_owned()),
                _ => {}
            }
            tree.next();
        }
        if path != front || name.is_some() || front.len() > 1 {
            let own = path.last().cloned().unwrap_or_default();
            self.uses.push(Use { path, name: name.unwrap_or(own), is_public });
        }
    }
}

/// How many words an item has: up to its `;`, or the brace that closes it.
fn item_length(words: &[Word<'_>]) -> usize {
    let mut depth = 0_usize;
    for (at, word) in words.iter().enumerate() {
        match word.0 {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => {
                depth = depth.saturating_sub(1);
                if depth == 0 && word.0 == "}" {
                    return at + 1;
                }
            }
            ";" if depth == 0 => return at + 1,
            _ => {}
        }
    }
    words.len()
}
