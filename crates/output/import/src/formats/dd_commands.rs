//! Command lines of dd, as terminals and scripts show them above its output.

use disklab_sample::Direction;

/// What a command line of dd tells.
pub(super) struct CommandLine {
    pub direction: Option<Direction>,
    pub block: Option<String>,
    /// `count`, where it is in digits alone.
    pub count: Option<u64>,
    pub flags: Vec<String>,
    pub conv: Option<String>,
    pub source: &'static str,
}

impl CommandLine {
    pub fn of(words: &[String]) -> Self {
        let value = |name: &str| {
            words
                .iter()
                .rev()
                .find_map(|w| w.strip_prefix(name)?.strip_prefix('='))
                .map(str::to_owned)
        };
        let (from, to) = (value("if").unwrap_or_default(), value("of").unwrap_or_default());
        let made = ["/dev/zero", "/dev/urandom", "/dev/random"].contains(&from.as_str());
        let direction = match (made, to.as_str()) {
            (_, "/dev/null") => Some(Direction::Read),
            (true, _) => Some(Direction::Write),
            (false, _) => None,
        };
        let flags = match direction {
            Some(Direction::Read) => value("iflag"),
            _ => value("oflag"),
        };
        Self {
            direction,
            block: value("bs").or_else(|| value("obs")),
            count: value("count").and_then(|count| count.parse().ok()),
            flags: flags.map(|f| f.split(',').map(str::to_owned).collect()).unwrap_or_default(),
            conv: value("conv"),
            source: if from == "/dev/zero" {
                "zero"
            } else if made {
                "random"
            } else {
                "file"
            },
        }
    }
}

/// The commands of which the results come next.
#[derive(Debug, Default)]
pub(super) struct Commands {
    all: Vec<Vec<String>>,
    next: usize,
    /// In the head or the body of a loop of the shell.
    in_loop: bool,
    /// Whether the commands are run again and again.
    loops: bool,
}

impl Commands {
    /// Whether a line has command lines, and which: those before it have ended.
    pub fn take(&mut self, line: &str) -> bool {
        let words = || line.split([' ', ';', '\t', '$', '#', '>']);
        let begins = words().any(|word| matches!(word, "for" | "while" | "until"));
        let found = commands_in(line);
        if begins {
            *self = Self { in_loop: true, ..Self::default() };
        }
        let is_new = !found.is_empty();
        if is_new {
            if !self.in_loop {
                *self = Self::default();
            }
            self.loops |= self.in_loop;
            self.all.extend(found);
        }
        if words().any(|word| word == "done") {
            self.in_loop = false;
        }
        is_new
    }

    /// The command of the next result.
    pub fn next(&mut self) -> Option<Vec<String>> {
        let at = if self.loops { self.next % self.all.len().max(1) } else { self.next };
        self.next += 1;
        self.all.get(at).cloned()
    }

    /// Whether all commands that there are have their result.
    pub fn are_over(&self) -> bool {
        !self.loops && !self.all.is_empty() && self.next >= self.all.len()
    }

    /// The last result was none: its command comes again.
    pub fn back(&mut self) {
        self.next = self.next.saturating_sub(1);
    }
}

/// The operands of dd.
const OPERANDS: [&str; 15] = [
    "if=", "of=", "bs=", "ibs=", "obs=", "cbs=", "count=", "conv=", "iflag=", "oflag=", "skip=",
    "seek=", "iseek=", "oseek=", "status=",
];

/// The words of each dd command line in a line, behind a prompt or `time`, as terminals show it.
fn commands_in(line: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for (at, _) in line.match_indices("dd ") {
        let before = line[..at].chars().next_back();
        let rest = &line[at..];
        let begins = OPERANDS.iter().any(|operand| rest[3..].trim_start().starts_with(operand));
        if !begins || before.is_some_and(|c| c.is_ascii_alphanumeric() || "_-.".contains(c)) {
            continue;
        }
        let command = rest.split(['|', ';', '&', '>', '`', ')']).next().unwrap_or_default();
        let Ok(words) = shell_words::split(command.trim_end_matches(['2', ' '])) else { continue };
        if words.len() >= 2 {
            found.push(words);
        }
    }
    found
}
