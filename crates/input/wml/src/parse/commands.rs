//! The commands of a script, one line of the table each.

use disklab_source::{SourceError, did_you_mean};

use super::lex::{Piece, Spanned, Token, short};
use super::syntax::{Entity, Expression, SetValue, SpannedExpression, Statement};
use super::{Parser, lex};
use crate::Quit;

/// How deep `foreach` may be nested.
const MAX_NESTING: usize = 8;
/// How many values a `foreach` may have.
const MAX_VALUES: usize = 1000;

struct CommandWord {
    word: &'static str,
    /// Whether Filebench 1.5 no longer knows it.
    old: bool,
    read: fn(&mut Parser, usize) -> Result<Statement, SourceError>,
}

const fn new(
    word: &'static str,
    read: fn(&mut Parser, usize) -> Result<Statement, SourceError>,
) -> CommandWord {
    CommandWord { word, old: false, read }
}

const fn old(
    word: &'static str,
    read: fn(&mut Parser, usize) -> Result<Statement, SourceError>,
) -> CommandWord {
    CommandWord { word, old: true, read }
}

const ENTITIES: &[(&str, Entity)] = &[
    ("files", Entity::Files),
    ("file", Entity::Files),
    ("fileset", Entity::Files),
    ("filesets", Entity::Files),
    ("process", Entity::Processes),
    ("processes", Entity::Processes),
];

const QUITS: &[(&str, Quit)] =
    &[("timeout", Quit::Timeout), ("alldone", Quit::AllDone), ("firstdone", Quit::FirstDone)];

static COMMANDS: &[CommandWord] = &[
    new("set", |p, _| p.set()),
    new("define", |p, _| p.define()),
    new("create", |p, _| p.choice(ENTITIES).map(Statement::Create)),
    new("eventgen", |p, _| p.attributes().map(Statement::EventRate)),
    new("run", |p, _| p.optional_amount().map(Statement::Run)),
    new("psrun", |p, _| p.periodic_run()),
    new("sleep", |p, _| p.amount().map(Statement::Sleep)),
    new("echo", |p, _| p.text().map(Statement::Echo)),
    new("system", |p, _| p.text().map(Statement::System)),
    new("enable", |p, _| p.enable()),
    new("domultisync", |p, _| {
        p.attributes()?;
        Ok(Statement::Nothing(Some("'domultisync' is not done: only this machine takes part")))
    }),
    new("list", |p, _| p.list()),
    new("debug", |p, _| p.amount().map(|_| Statement::Nothing(None))),
    new("version", |_, _| Ok(Statement::Nothing(None))),
    new("quit", |_, _| Ok(Statement::Quit)),
    new("exit", |_, _| Ok(Statement::Quit)),
    new("shutdown", |p, _| p.choice(ENTITIES).map(Statement::Shutdown)),
    old("usage", |p, _| p.text().map(|_| Statement::Nothing(None))),
    old("log", |p, _| p.text().map(Statement::Echo)),
    old("load", |p, _| p.word("the name of a personality").map(Statement::Load)),
    old("foreach", |p, depth| p.foreach(depth)),
    old("warmup", |p, _| p.amount().map(Statement::Warmup)),
    old("stats", |p, _| p.stats()),
    old("vars", |_, _| Ok(Statement::Nothing(None))),
    old("help", |_, _| Ok(Statement::Nothing(None))),
    old("fscheck", |p, _| {
        p.attributes()?;
        Ok(Statement::Nothing(Some(
            "'fscheck' is not done: the stack says which file system it is",
        )))
    }),
    old("fsflush", |p, _| {
        p.attributes()?;
        Ok(Statement::Nothing(Some("'fsflush' is not done: caches are dealt with before each run")))
    }),
    old("enable_osprof", |_, _| Ok(Statement::Nothing(Some("'enable_osprof' is not done")))),
    old("disable_osprof", |_, _| Ok(Statement::Nothing(None))),
];

#[derive(Clone, Copy)]
enum Stats {
    Clear,
    Snap,
    Dump,
    Directory,
    Command,
}

const STATS: &[(&str, Stats)] = &[
    ("clear", Stats::Clear),
    ("snap", Stats::Snap),
    ("dump", Stats::Dump),
    ("xmldump", Stats::Dump),
    ("multidump", Stats::Dump),
    ("directory", Stats::Directory),
    ("command", Stats::Command),
];

impl Parser {
    /// One command, inside of `depth` loops.
    pub(super) fn statement(&mut self, depth: usize) -> Result<Spanned<Statement>, SourceError> {
        let names = || COMMANDS.iter().map(|c| c.word);
        let word = self.word("a command, such as 'set', 'define' or 'run'")?;
        let Some(command) = COMMANDS.iter().find(|c| c.word == word.value) else {
            let hint = match word.value.as_str() {
                "thread" => "; a thread stands inside of 'define process … { }'".to_owned(),
                "flowop" => {
                    "; a flowop stands inside of 'thread … { }' or 'define flowop … { }'".to_owned()
                }
                other => {
                    let near = did_you_mean(&short(other), names());
                    if near.is_empty() {
                        "; expected one such as 'set', 'define' or 'run'".to_owned()
                    } else {
                        near
                    }
                }
            };
            return Err(
                self.error(&word.span, format!("unknown command '{}'{hint}", short(&word.value)))
            );
        };
        if command.old {
            self.mark_old(&word.span);
        }
        let value = (command.read)(self, depth)?;
        Ok(Spanned { value, span: word.span })
    }

    fn optional_amount(&mut self) -> Result<Option<SpannedExpression>, SourceError> {
        if self.is_value() { self.expression().map(Some) } else { Ok(None) }
    }

    fn text(&mut self) -> Result<Vec<Piece>, SourceError> {
        let Token::Text(pieces) = &self.peek().value else {
            return Err(self.expected("a text in quotes"));
        };
        let pieces = pieces.clone();
        self.next();
        Ok(pieces)
    }

    fn set(&mut self) -> Result<Statement, SourceError> {
        if self.peek().value == Token::Word("mode".to_owned()) {
            self.next();
            return Ok(match self.choice(&[("quit", true), ("nousestats", false)])? {
                true => Statement::SetQuit(self.choice(QUITS)?),
                false => Statement::Nothing(None),
            });
        }
        let name = self.variable("a variable, such as '$nfiles', or 'mode'")?;
        if let Token::Parameter(parameter) = &self.peek().value {
            let value = parameter.clone();
            let parameter = Spanned { value, span: self.next().span };
            self.mark_old(&name.span);
            self.sign('=', "'='")?;
            return Ok(Statement::SetParameter(name, parameter, self.expression()?));
        }
        self.sign('=', "'=' and a value")?;
        let open = self.tokens.get(self.at + 1).is_some_and(|t| t.value == Token::Sign('('));
        let value = match &self.peek().value {
            Token::Word(word) if open && word == "randvar" => SetValue::Random(self.in_brackets()?),
            Token::Word(word) if open && word == "cvar" => SetValue::Custom(self.in_brackets()?),
            _ => self.plain_or_calculated()?,
        };
        Ok(Statement::Set(name, value))
    }

    fn in_brackets(&mut self) -> Result<super::syntax::Attributes, SourceError> {
        self.next();
        self.next();
        let attributes = self.attributes()?;
        self.sign(')', "',' and another attribute, or ')'")?;
        Ok(attributes)
    }

    fn plain_or_calculated(&mut self) -> Result<SetValue, SourceError> {
        let left = self.expression()?;
        if matches!(left.value, Expression::Variable(_)) {
            self.mark_old(&left.span);
        }
        let number = matches!(left.value, Expression::Variable(_) | Expression::Int(_));
        // '/2' and '-2' are read as a path and as a negative number elsewhere.
        let (sign, rest) = match &self.peek().value {
            Token::Sign(sign @ ('+' | '-' | '*' | '/')) if number => (*sign, None),
            Token::Word(word) if number && word.starts_with('/') => {
                ('/', lex::number(&word[1..]).ok())
            }
            Token::Negative(n) if number => ('-', Some(*n)),
            _ => return Ok(SetValue::Plain(left)),
        };
        let token = self.next();
        self.mark_old(&token.span);
        let right = match (&token.value, rest) {
            (Token::Sign(_), _) => self.amount()?,
            (_, Some(n)) => Spanned { value: Expression::Int(n), span: token.span.clone() },
            _ => return Err(self.error(&token.span, "expected a number or a variable after '/'")),
        };
        if let Token::Sign('+' | '-' | '*' | '/') = self.peek().value {
            let span = self.peek().span.clone();
            return Err(self.error(
                &span,
                "a 'set' calculates with one operator; use another 'set' for the next",
            ));
        }
        Ok(SetValue::Calculated(left, Spanned { value: sign, span: token.span }, right))
    }

    fn periodic_run(&mut self) -> Result<Statement, SourceError> {
        let span = self.peek().span.clone();
        let period = match self.peek().value {
            Token::Int(n) => Some((n, false)),
            Token::Negative(n) => Some((n, true)),
            _ => None,
        };
        let Some(period) = period else { return Ok(Statement::PeriodicRun(None, None)) };
        self.next();
        let time = self.optional_amount()?;
        Ok(Statement::PeriodicRun(Some(Spanned { value: period, span }), time))
    }

    fn enable(&mut self) -> Result<Statement, SourceError> {
        if self.choice(&[("lathist", true), ("multi", false)])? {
            return Ok(Statement::LatencyHistogram);
        }
        self.attributes()?;
        Ok(Statement::Nothing(Some("'enable multi' is not done: only this machine takes part")))
    }

    fn list(&mut self) -> Result<Statement, SourceError> {
        let flowop = match &self.peek().value {
            Token::Word(word) if word == "flowop" => true,
            Token::Word(word)
                if matches!(word.as_str(), "fileset" | "filesets" | "file" | "files") =>
            {
                false
            }
            _ => return Ok(Statement::List(false)),
        };
        self.next();
        Ok(Statement::List(flowop))
    }

    fn stats(&mut self) -> Result<Statement, SourceError> {
        Ok(match self.choice(STATS)? {
            Stats::Clear => Statement::StatsClear,
            Stats::Snap => Statement::StatsSnap,
            Stats::Dump => {
                self.text()?;
                Statement::StatsSnap
            }
            Stats::Directory => {
                self.expression()?;
                Statement::Nothing(Some(
                    "'stats directory' is ignored: the run's directory keeps all outputs",
                ))
            }
            Stats::Command => {
                self.text()?;
                Statement::Nothing(Some("'stats command' is not executed"))
            }
        })
    }

    fn foreach(&mut self, depth: usize) -> Result<Statement, SourceError> {
        let name = self.variable("a variable, such as '$nthreads'")?;
        if depth >= MAX_NESTING {
            return Err(
                self.error(&name.span, format!("'foreach' is nested more than {MAX_NESTING} deep"))
            );
        }
        self.choice(&[("in", ())])?;
        let mut values = Vec::new();
        loop {
            values.push(self.expression()?);
            if values.len() > MAX_VALUES {
                return Err(self.expected(&format!("at most {MAX_VALUES} values")));
            }
            if !self.skip_sign(',') {
                break;
            }
        }
        let open = self.sign('{', "',' and another value, or '{'")?;
        let mut body = Vec::new();
        while !self.skip_sign('}') {
            if self.ends() {
                return Err(self.error(&open, "this '{' is never closed; expected '}'"));
            }
            body.push(self.statement(depth + 1)?);
        }
        Ok(Statement::Foreach(name, values, body))
    }
}
