//! Patterns with and without look-around, each matched by what is fast at it.

/// A text that is not a pattern.
#[derive(Debug, thiserror::Error)]
pub enum LinePatternError {
    /// Without look-around.
    #[error(transparent)]
    Plain(#[from] regex::Error),
    /// With look-around.
    #[error(transparent)]
    Backtracking(#[from] Box<fancy_regex::Error>),
}

/// A pattern whose matches lie within a line.
pub enum LinePattern {
    /// An automaton reads a whole text at once.
    Plain(regex::Regex),
    /// Look-around backtracks, and must be kept to a line at a time.
    Backtracking(fancy_regex::Regex),
}

impl LinePattern {
    /// Reads a pattern. What is not of a class, such as `[^.]`, is no line's end either.
    ///
    /// # Errors
    /// [`LinePatternError`] if it is not one.
    pub fn new(text: &str) -> Result<Self, LinePatternError> {
        let text = text.replace("[^.", r"[^\n.");
        let has_look_around = ["(?=", "(?!", "(?<"].iter().any(|group| text.contains(group));
        if has_look_around {
            return Ok(Self::Backtracking(fancy_regex::Regex::new(&text).map_err(Box::new)?));
        }
        Ok(Self::Plain(regex::Regex::new(&text)?))
    }

    /// Whether it matches in a line.
    pub fn matches(&self, line: &str) -> bool {
        match self {
            Self::Plain(pattern) => pattern.is_match(line),
            Self::Backtracking(pattern) => pattern.is_match(line).expect("within its limit"),
        }
    }

    /// How often it matches in a text.
    pub fn count(&self, text: &str) -> usize {
        match self {
            Self::Plain(pattern) => pattern.find_iter(text).count(),
            Self::Backtracking(pattern) => {
                // After an error, the iterator would return it for ever.
                let in_line = |line| {
                    let found =
                        pattern.find_iter(line).map(|found| found.expect("within its limit"));
                    found.count()
                };
                text.lines().map(in_line).sum()
            }
        }
    }
}

/// Word boundaries are found by an automaton in ASCII only.
pub fn ascii(text: &str) -> String {
    let plain = |c| match c {
        '’' => '\'',
        c if char::is_ascii(&c) => c,
        _ => '?',
    };
    text.chars().map(plain).collect()
}

#[test]
fn patterns_with_look_around_count_within_lines() {
    for pattern in [r"(?im)\bbells?\b", r"(?im)\bbells?\b(?! tower)"] {
        let pattern = LinePattern::new(pattern).expect("a pattern");
        assert_eq!(pattern.count("a bell,\nBells\nbelled"), 2);
        assert!(pattern.matches("bell"));
    }
    assert_eq!(LinePattern::new(r"(?im)open[^.]*end").expect("a pattern").count("open\nend"), 0);
}
