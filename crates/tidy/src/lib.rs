//! Tests of the sources themselves. There is nothing to call here: the modules hold rules
//! that no compiler checks, and their tests apply them to this checkout.
//!
//! Counts that must only fall have a ceiling in `ceilings.toml`; `UPDATE=1 cargo test -p
//! disklab-tidy` lowers the ceilings to what is counted, and never raises one.

#[cfg(test)]
mod ceilings;
#[cfg(test)]
mod circles;
#[cfg(test)]
mod crate_map;
#[cfg(test)]
mod doc_comments;
#[cfg(test)]
mod functions;
#[cfg(test)]
mod glossary;
#[cfg(test)]
mod imports;
#[cfg(test)]
mod kinds;
#[cfg(test)]
mod links;
#[cfg(test)]
mod pages;
#[cfg(test)]
mod pattern;
#[cfg(test)]
mod rust;
#[cfg(test)]
mod tree;
#[cfg(test)]
mod type_names;
