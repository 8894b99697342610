//! Parsing and rewriting the text of a file test.

use ferrofuse::{CodeTarget, Schedule, parse_schedule};

const SEPARATOR: &str = "# ---- expect";
const HEADER: &str = "# test:";
const SCHEDULE: &str = "# schedule: ";

/// A file test.
#[derive(Clone, Debug)]
pub(super) struct Case {
    /// Everything above the separator.
    above: String,
    pub source: String,
    /// The expected text; empty if none is written yet.
    pub expected: String,
    /// The options of the first line.
    pub options: Options,
    /// `# schedule: lanes 64; inner x1; lane x1`, a line of its own: the schedule of the first segment, instead of the compiler's.
    pub schedule: Option<Schedule>,
}

/// The options that the first line of a test may have.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Options {
    /// `file=PATH`: the definition is in this file, in the folder that contains the tests' folder.
    pub file: Option<String>,
    /// `target=NAME`: the target of code. It is fixed, so that the text is the same on every machine.
    pub target: CodeTarget,
    /// `segment=N`: only this segment.
    pub segment: Option<usize>,
    /// `seed=N`: the seed of drawn data.
    pub seed: u64,
}

impl Case {
    /// Parses the text of a file.
    pub fn parse(text: &str) -> Result<Case, String> {
        let (above, below) = match text.split_once(SEPARATOR) {
            Some((above, below)) => (above, below),
            None => (text, ""),
        };
        let target = "avx2".parse().expect("a known target");
        let mut options = Options { file: None, target, segment: None, seed: 0 };
        if let Some(words) = above.lines().next().and_then(|line| line.strip_prefix(HEADER)) {
            words.split_whitespace().try_for_each(|word| options.read(word))?;
        }
        let schedule = above.lines().find_map(|line| line.strip_prefix(SCHEDULE));
        let schedule = schedule.map(|text| parse_schedule(&format!("schedule {}", text.replace("; ", "\n"))));
        let schedule = schedule.transpose().map_err(|error| error.to_string())?;
        let uncomment =
            |line: &str| line.strip_prefix("# ").or(line.strip_prefix('#')).unwrap_or(line).to_owned();
        let expected: Vec<String> = below.lines().skip(1).map(uncomment).collect();
        let source = above.trim_end().to_owned() + "\n";
        Ok(Case { above: source.clone(), source, expected: tidied(&expected.join("\n")), options, schedule })
    }

    /// Whether the text is the expected one, ignoring spaces at the ends of lines.
    pub fn expects(&self, made: &str) -> bool {
        self.expected == tidied(made)
    }

    /// The file with this text as the expected one.
    pub fn blessed(&self, made: &str) -> String {
        let comment = |line: &str| if line.is_empty() { "#\n".to_owned() } else { format!("# {line}\n") };
        let expected: String = tidied(made).lines().map(comment).collect();
        format!("{}\n{SEPARATOR}\n{expected}", self.above)
    }
}

impl Options {
    fn read(&mut self, word: &str) -> Result<(), String> {
        let (key, value) = word.split_once('=').ok_or_else(|| format!("option `{word}` has no value"))?;
        let number = || value.parse().map_err(|_| format!("`{value}` is no number"));
        match key {
            "file" => self.file = Some(value.to_owned()),
            "target" => self.target = value.parse().map_err(|error| format!("{error}"))?,
            "segment" => self.segment = Some(number()? as usize),
            "seed" => self.seed = number()?,
            _ => return Err(format!("unknown option `{key}`; known are file, target, segment, seed")),
        }
        Ok(())
    }
}

/// The text without blanks at the ends of lines and empty lines at the end.
pub(super) fn tidied(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blessed_file_expects_what_it_was_blessed_with() {
        let case = Case::parse("# test: segment=1 seed=4\ndef f(fd):\n    pass\n").unwrap();
        assert_eq!((case.options.segment, case.options.seed), (Some(1), 4));
        assert!(!case.expects("a\n\n  b \n"));
        let blessed = case.blessed("a\n\n  b \n");
        assert!(blessed.ends_with("    pass\n\n# ---- expect\n# a\n#\n#   b\n"), "{blessed}");
        let again = Case::parse(&blessed).unwrap();
        assert!(again.expects("a\n\n  b"));
        assert_eq!(again.blessed("a\n\n  b"), blessed);
        assert_eq!(again.source, case.source);
    }

    #[test]
    fn a_line_has_a_schedule() {
        let case = Case::parse("# test: seed=4\n# schedule: lanes 64; inner x1; lane x1\n").unwrap();
        assert_eq!(case.schedule.map(|schedule| schedule.lanes), Some(64));
        assert!(Case::parse("# schedule: fins 64\n").is_err());
    }

    #[test]
    fn unknown_options_are_rejected() {
        assert!(Case::parse("# test: speed=9").unwrap_err().contains("unknown option `speed`"));
        assert_eq!(Case::parse("# test: file=a.py").unwrap().options.file.as_deref(), Some("a.py"));
        assert!(Case::parse("# test: target=z80").unwrap_err().contains("unknown target `z80`"));
    }
}
