//! Definitions as Python's `save` writes them: a definition file, and in comments behind it what the user chose.
//!
//! ```text
//! # saved by ferrofuse, version 1
//! def nvfuser_fusion(fd : FusionDefinition) -> None :
//!     …
//! # ---- segments
//! # segment seg0 -> tv1
//! # ---- schedule seg0
//! # schedule lanes 16
//! # ---- end
//! ```
//!
//! Texts are only taken apart and put together: what they say is read elsewhere.

use std::fmt::{self, Write};

use index::integer;
use thiserror::Error;

/// The newest version that is read, and the one that is written.
const VERSION: u32 = 1;
const HEAD: &str = "# saved by ferrofuse, version ";
const SECTION: &str = "# ---- ";
const END: &str = "# ---- end";
const SEGMENTS: &str = "segments";
const SCHEDULE: &str = "schedule ";
const PEAK_MEMORY: &str = "peak_memory";

/// A definition with what the user chose for it, as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SavedDefinition {
    /// The definition file, with lines numbered as in the whole text.
    pub definition: String,
    /// The most bytes of results of segments in memory at a time.
    pub peak_memory: Option<u64>,
    /// The segmentation.
    pub segmentation: Option<Section>,
    /// The schedules of segments, each with the name of its segment.
    pub schedules: Vec<(String, Section)>,
}

/// The text of a choice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// The text.
    pub text: String,
    /// The number of lines before it.
    pub before: usize,
}

/// A text that is no saved definition.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SavedError {
    /// It begins otherwise.
    #[error("not a saved definition: it does not begin with `{HEAD}{VERSION}`")]
    Head,
    /// It has a version that is not known yet.
    #[error("saved by a newer ferrofuse: version {0}, this one reads up to {VERSION}")]
    Newer(String),
    /// Its end is missing.
    #[error("the file is cut short: it does not end with `{END}`")]
    CutShort,
    /// A section with an unknown name.
    #[error("line {line}: `{name}` is not a known section")]
    Unknown {
        /// The line, from 1.
        line: usize,
        /// The name.
        name: String,
    },
    /// A section that is there twice.
    #[error("line {line}: there is a section `{name}` already")]
    Twice {
        /// The line, from 1.
        line: usize,
        /// The name.
        name: String,
    },
    /// A limit that is no number.
    #[error("line {line}: expected a number of bytes, found `{found}`")]
    Bytes {
        /// The line, from 1.
        line: usize,
        /// What was found.
        found: String,
    },
}

impl Section {
    /// The text behind as many empty lines as there are lines before it, so that errors have the lines of the file.
    pub fn in_place(&self) -> String {
        "\n".repeat(self.before) + &self.text
    }
}

impl From<String> for Section {
    fn from(text: String) -> Section {
        Section { text, before: 0 }
    }
}

impl SavedDefinition {
    /// Whether a text is a saved definition, or the end of one.
    pub fn is_saved(text: &str) -> bool {
        text.starts_with(HEAD) || text.lines().next_back() == Some(END)
    }

    /// Takes a text apart.
    ///
    /// # Errors
    /// For another text, one that is cut short or of a newer version, and for an unknown section.
    pub fn read(text: &str) -> Result<SavedDefinition, SavedError> {
        let version = text.lines().next().and_then(|first| first.strip_prefix(HEAD));
        let version = version.filter(|version| integer::<u128>(version).is_some()).ok_or(SavedError::Head)?;
        if integer::<u32>(version).is_none_or(|version| version > VERSION) {
            return Err(SavedError::Newer(version.to_owned()));
        }
        let lines: Vec<&str> = text.lines().collect();
        let Some((&END, lines)) = lines.split_last() else { return Err(SavedError::CutShort) };
        let body = lines.iter().position(|line| line.starts_with(SECTION)).unwrap_or(lines.len());
        let definition = lines[..body].iter().map(|line| format!("{line}\n")).collect();
        let mut saved = SavedDefinition { definition, ..SavedDefinition::default() };
        let mut next = body;
        while let Some(name) = lines.get(next).and_then(|line| line.strip_prefix(SECTION)) {
            let (line, first) = (next + 1, next + 1);
            next = (first..lines.len()).find(|&at| lines[at].starts_with(SECTION)).unwrap_or(lines.len());
            let written = lines[first..next].iter();
            let text = written.map(|line| format!("{}\n", line.strip_prefix("# ").unwrap_or(line))).collect();
            saved.add(name, line, Section { text, before: first })?;
        }
        Ok(saved)
    }

    /// Adds the section with a name, which stands in a line.
    fn add(&mut self, name: &str, line: usize, section: Section) -> Result<(), SavedError> {
        let known = |other: &(String, Section)| Some(other.0.as_str()) == name.strip_prefix(SCHEDULE);
        let is_twice = match name {
            SEGMENTS => self.segmentation.is_some(),
            PEAK_MEMORY => self.peak_memory.is_some(),
            _ => self.schedules.iter().any(known),
        };
        if is_twice {
            return Err(SavedError::Twice { line, name: name.to_owned() });
        }
        match (name, name.strip_prefix(SCHEDULE)) {
            (SEGMENTS, _) => self.segmentation = Some(section),
            (PEAK_MEMORY, _) => {
                let found = section.text.trim();
                let bytes = || SavedError::Bytes { line: line + 1, found: found.to_owned() };
                self.peak_memory = Some(integer(found).ok_or_else(bytes)?);
            }
            (_, Some(segment)) => self.schedules.push((segment.to_owned(), section)),
            _ => return Err(SavedError::Unknown { line, name: name.to_owned() }),
        }
        Ok(())
    }

    /// The sections, each with its name and text.
    fn sections(&self) -> Vec<(String, String)> {
        let limit = self.peak_memory.map(|bytes| (PEAK_MEMORY.to_owned(), bytes.to_string()));
        let segments = self.segmentation.iter().map(|section| (SEGMENTS.to_owned(), section.text.clone()));
        let schedules = self.schedules.iter();
        let schedules = schedules.map(|(name, text)| (format!("{SCHEDULE}{name}"), text.text.clone()));
        limit.into_iter().chain(segments).chain(schedules).collect()
    }
}

/// The text of the file.
impl fmt::Display for SavedDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.definition.starts_with(HEAD) {
            writeln!(f, "{HEAD}{VERSION}")?;
        }
        // A comment that reads as the head of a section gets one more space.
        let definition = self.definition.trim_end().lines();
        definition.into_iter().try_for_each(|line| match line.strip_prefix(SECTION) {
            Some(rest) => writeln!(f, "#  ---- {rest}"),
            None => writeln!(f, "{line}"),
        })?;
        for (name, text) in self.sections() {
            writeln!(f, "{SECTION}{name}")?;
            text.lines().try_for_each(|line| writeln!(f, "# {line}"))?;
        }
        f.write_str(END)?;
        f.write_char('\n')
    }
}
