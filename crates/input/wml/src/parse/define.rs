//! `define …`.

use disklab_source::SourceError;

use super::Parser;
use super::lex::Token;
use super::syntax::{FlowopSyntax, Statement, ThreadSyntax};

#[derive(Clone, Copy)]
enum Kind {
    File,
    Fileset,
    Process,
    Flowop,
    Random,
    Posset,
}

const KINDS: &[(&str, Kind)] = &[
    ("file", Kind::File),
    ("fileset", Kind::Fileset),
    ("process", Kind::Process),
    ("flowop", Kind::Flowop),
    ("files", Kind::File),
    ("filesets", Kind::Fileset),
    ("randvar", Kind::Random),
    ("posset", Kind::Posset),
];

impl Parser {
    pub(super) fn define(&mut self) -> Result<Statement, SourceError> {
        let span = self.peek().span.clone();
        Ok(match self.choice(KINDS)? {
            Kind::File => Statement::DefineFiles { single: true, attributes: self.attributes()? },
            Kind::Fileset => {
                Statement::DefineFiles { single: false, attributes: self.attributes()? }
            }
            Kind::Process => {
                let attributes = self.attributes()?;
                let threads = self.block("a thread", "thread", Self::thread)?;
                Statement::DefineProcess { attributes, threads }
            }
            Kind::Flowop => {
                let attributes = self.attributes()?;
                let flowops = self.flowops()?;
                Statement::DefineComposite { attributes, flowops }
            }
            Kind::Random => {
                self.mark_old(&span);
                Statement::DefineRandom(self.attributes()?)
            }
            Kind::Posset => {
                self.mark_old(&span);
                Statement::DefinePosset(self.attributes()?)
            }
        })
    }

    fn thread(&mut self) -> Result<ThreadSyntax, SourceError> {
        let word = self.next().span;
        Ok(ThreadSyntax { word, attributes: self.attributes()?, flowops: self.flowops()? })
    }

    fn flowops(&mut self) -> Result<Vec<FlowopSyntax>, SourceError> {
        self.block("a flowop", "flowop", |parser| {
            parser.next();
            let kind = parser.word("a flowop's type, such as 'read'")?;
            Ok(FlowopSyntax { kind, attributes: parser.attributes()? })
        })
    }

    /// `{ WORD … WORD … }`, at least one.
    fn block<T>(
        &mut self,
        what: &str,
        word: &str,
        read: impl Fn(&mut Self) -> Result<T, SourceError>,
    ) -> Result<Vec<T>, SourceError> {
        let open = self.sign('{', &format!("'{{' and {what}"))?;
        let mut items = Vec::new();
        loop {
            match &self.peek().value {
                Token::Word(found) if found == word => items.push(read(self)?),
                Token::Sign('}') if !items.is_empty() => {
                    self.next();
                    return Ok(items);
                }
                Token::End => {
                    return Err(self.error(&open, "this '{' is never closed; expected '}'"));
                }
                _ => {
                    let end = if items.is_empty() { "" } else { ", or '}'" };
                    return Err(self.expected(&format!("'{word}'{end}")));
                }
            }
        }
    }
}
