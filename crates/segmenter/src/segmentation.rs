//! A segmentation: which values are kept in memory, and which of them each segment makes. A printable value that does not
//! affect results; what else a segment computes follows backward from what it makes, to kept values or inputs.
//!
//! ```text
//! segment seg0 -> tv12, tv14
//! segment seg1 -> tv30
//! ```

use std::fmt;
use std::sync::Arc;

use index::{Scanner, TextLines};
use ir::graph::{Cone, Fusion, Graph, Output, Val};
use rustc_hash::FxHashSet;
use thiserror::Error;

/// Which values each segment makes, in the order the segments run.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Segmentation {
    /// The values that each segment makes, each list ascending.
    pub segments: Vec<Vec<Val>>,
    /// The name of each segment, if the user named them; otherwise empty.
    pub names: Vec<String>,
}

/// A segment of a segmentation as the user wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenSegment {
    /// Its place among the lines, from 1.
    pub line: usize,
    /// Its name.
    pub name: String,
    /// The values that it makes, with the names that they have there.
    pub made: Vec<(String, Val)>,
}

/// Why a segmentation does not fit a fusion.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SegmentationError {
    /// Text that is not a segmentation.
    #[error("line {line}: expected `segment NAME -> VALUE, VALUE…`, found `{found}`")]
    Text {
        /// The line, from 1.
        line: usize,
        /// What was found.
        found: String,
    },
    /// A segment whose name is not one.
    #[error(
        "{place}: a segment's name has letters, digits and `_`, and begins with no digit; found `{name}`"
    )]
    Name {
        /// The line, or the number of the segment.
        place: String,
        name: String,
    },
    /// A name that two segments have.
    #[error("two segments are named `{0}`")]
    SameName(String),
    /// A segment that makes nothing.
    #[error("{place}: a segment must make at least one tensor")]
    Empty {
        /// The number of the segment, or its place in a list.
        place: String,
    },
    /// A name that the definition does not have.
    #[error("line {line}: the definition has no value `{name}`, or does not compute it")]
    Unknown {
        /// The line, from 1.
        line: usize,
        name: String,
    },
    /// An input among the values that segments make.
    #[error("{0} is an input, which no segment makes")]
    Input(DescribedVal),
    /// A value of another definition.
    #[error("{0} is no value of the definition")]
    Foreign(DescribedVal),
    /// A value that two segments make.
    #[error("{0} is made by two segments")]
    Twice(DescribedVal),
    /// An output that no segment makes.
    #[error("no segment makes the output {0}")]
    Missing(DescribedVal),
    /// Segments that wait for each other.
    #[error("segment {0} needs a value that a later segment makes")]
    Order(usize),
}

/// A value with a description, if there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedVal {
    /// The value.
    pub val: Val,
    words: Option<String>,
}

impl From<Val> for DescribedVal {
    fn from(val: Val) -> DescribedVal {
        DescribedVal { val, words: None }
    }
}

impl fmt::Display for DescribedVal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.words {
            Some(words) => f.write_str(words),
            None => write!(f, "{}", self.val),
        }
    }
}

impl SegmentationError {
    /// The same error with a description of the value that it is about.
    pub fn in_words(mut self, words: impl Fn(Val) -> String) -> SegmentationError {
        use SegmentationError::{Input, Missing, Twice};
        if let Input(described) | Twice(described) | Missing(described) = &mut self {
            described.words = Some(words(described.val));
        }
        self
    }
}

impl Segmentation {
    /// Segments that make these values, without names.
    pub fn new(segments: Vec<Vec<Val>>) -> Segmentation {
        Segmentation { segments, names: Vec::new() }
    }

    /// The name of a segment: the user's, or `seg0`, `seg1`, …
    pub fn name(&self, number: usize) -> String {
        self.names.get(number).cloned().unwrap_or_else(|| format!("seg{number}"))
    }

    /// Adds a segment, with a new name if the others have names.
    pub fn push(&mut self, made: Vec<Val>) {
        if !self.names.is_empty() {
            let mut new = (self.segments.len()..).map(|number| format!("seg{number}"));
            self.names.extend(new.find(|name| !self.names.contains(name)));
        }
        self.segments.push(made);
    }

    /// Drops segments that make nothing.
    pub fn drop_empty(&mut self) {
        let mut makes = self.segments.iter().map(|made| !made.is_empty());
        self.names.retain(|_| makes.next().unwrap_or(true));
        self.segments.retain(|made| !made.is_empty());
    }

    /// One segment that makes all outputs which are no inputs; `None` if there are none.
    pub fn whole(fusion: &Fusion) -> Option<Segmentation> {
        let outputs = fusion.outputs().iter().map(|output| output.val);
        let mut made: Vec<Val> = outputs.filter(|&val| !fusion.is_input(val)).collect();
        made.sort_unstable();
        made.dedup();
        (!made.is_empty()).then(|| Segmentation::new(vec![made]))
    }

    /// All values that are kept in memory.
    pub fn kept(&self) -> FxHashSet<Val> {
        self.segments.iter().flatten().copied().collect()
    }

    /// The view of a segment that makes these values while `kept` are in memory.
    pub fn view(graph: &Graph, fusion: &Fusion, made: &[Val], kept: &FxHashSet<Val>) -> Fusion {
        segment_view(graph, fusion, made, |val| kept.contains(&val))
    }

    /// Each segment as a view: from the values that it makes back to kept values of others, or inputs.
    pub fn views(&self, graph: &Graph, fusion: &Fusion) -> Vec<Fusion> {
        let kept = self.kept();
        self.segments
            .iter()
            .map(|made| segment_view(graph, fusion, made, |val| kept.contains(&val)))
            .collect()
    }

    /// Whether segments make values of the graph, and no inputs.
    ///
    /// # Errors
    /// The first value that is none.
    pub fn check_values(&self, graph: &Graph, fusion: &Fusion) -> Result<(), SegmentationError> {
        self.segments.iter().flatten().try_for_each(|&val| match fusion.is_input(val) {
            true => Err(SegmentationError::Input(val.into())),
            false if !graph.has(val) => Err(SegmentationError::Foreign(val.into())),
            false => Ok(()),
        })
    }

    /// Whether each segment makes a value, and has a name of its own.
    ///
    /// # Errors
    /// The first segment that makes none, then the first name that is none, or is that of an earlier segment.
    pub fn check_segments(&self) -> Result<(), SegmentationError> {
        let place = |number: usize| format!("segment {number}");
        if let Some(empty) = self.segments.iter().position(Vec::is_empty) {
            return Err(SegmentationError::Empty { place: place(empty) });
        }
        for (number, name) in self.names.iter().enumerate() {
            if !is_name(name) {
                return Err(SegmentationError::Name { place: place(number), name: name.clone() });
            }
            if self.names[..number].contains(name) {
                return Err(SegmentationError::SameName(name.clone()));
            }
        }
        Ok(())
    }

    /// Whether every output is made, none twice, and no value is needed before it is made.
    ///
    /// # Errors
    /// The first of these that does not hold.
    pub fn check(&self, graph: &Graph, fusion: &Fusion) -> Result<(), SegmentationError> {
        self.check_views(&self.views(graph, fusion), fusion)
    }

    /// The same, given the views of the segments.
    ///
    /// # Errors
    /// As [`Segmentation::check`].
    pub fn check_views(&self, views: &[Fusion], fusion: &Fusion) -> Result<(), SegmentationError> {
        let mut made: FxHashSet<Val> = fusion.inputs().iter().copied().collect();
        for (number, view) in views.iter().enumerate() {
            if view.inputs().iter().any(|input| !made.contains(input)) {
                return Err(SegmentationError::Order(number));
            }
            for &val in &self.segments[number] {
                if !made.insert(val) {
                    return Err(SegmentationError::Twice(val.into()));
                }
            }
        }
        match fusion.outputs().iter().find(|output| !made.contains(&output.val)) {
            Some(output) => Err(SegmentationError::Missing(output.val.into())),
            None => Ok(()),
        }
    }

    /// The text, with values under these names.
    pub fn to_text(&self, name: &dyn Fn(Val) -> String) -> String {
        let line = |(number, made): (usize, &Vec<Val>)| {
            let names: Vec<String> = made.iter().map(|&val| name(val)).collect();
            format!("segment {} -> {}\n", self.name(number), names.join(", "))
        };
        self.segments.iter().enumerate().map(line).collect()
    }

    /// A segmentation from its text.
    ///
    /// # Errors
    /// As [`WrittenSegment::read`].
    pub fn parse(text: &str, value: &dyn Fn(&str) -> Option<Val>) -> Result<Segmentation, SegmentationError> {
        Ok(Segmentation::from(&WrittenSegment::read(text, value)?[..]))
    }
}

impl From<&[WrittenSegment]> for Segmentation {
    fn from(written: &[WrittenSegment]) -> Segmentation {
        let made = |segment: &WrittenSegment| {
            let mut made: Vec<Val> = segment.made.iter().map(|(_, val)| *val).collect();
            made.sort_unstable();
            made
        };
        let names = written.iter().map(|segment| segment.name.clone()).collect();
        Segmentation { segments: written.iter().map(made).collect(), names }
    }
}

impl WrittenSegment {
    /// The segments in the text of a segmentation. Empty lines and what follows a `#` are skipped.
    ///
    /// # Errors
    /// The first line that is not of the form above, or names an unknown value.
    pub fn read(
        text: &str,
        value: &dyn Fn(&str) -> Option<Val>,
    ) -> Result<Vec<WrittenSegment>, SegmentationError> {
        let segment = |(line, mut text): (usize, Scanner<'_>)| {
            let wrong = SegmentationError::Text { line, found: text.rest().to_owned() };
            let name = if text.eat("segment") { text.until("->") } else { None };
            let name = name.ok_or(wrong)?.to_owned();
            if !is_name(&name) {
                return Err(SegmentationError::Name { place: format!("line {line}"), name });
            }
            let find = |name: &str| match value(name) {
                Some(val) => Ok((name.to_owned(), val)),
                None => Err(SegmentationError::Unknown { line, name: name.to_owned() }),
            };
            let made = text.rest().split(',').map(|name| find(name.trim())).collect::<Result<_, _>>()?;
            Ok(WrittenSegment { line, name, made })
        };
        TextLines::new(text).map(segment).collect()
    }
}

/// Whether a text can be the name of a segment.
fn is_name(text: &str) -> bool {
    let is_of_name = |symbol: char| symbol.is_ascii_alphanumeric() || symbol == '_';
    text.starts_with(|first: char| is_of_name(first) && !first.is_ascii_digit())
        && text.chars().all(is_of_name)
}

/// The view of a segment that makes these values while `kept` are in memory.
pub(super) fn segment_view(
    graph: &Graph,
    fusion: &Fusion,
    made: &[Val],
    is_kept: impl Fn(Val) -> bool,
) -> Fusion {
    view_of(graph, fusion, made, segment_cone(graph, fusion, made, is_kept))
}

/// The nodes that compute these values while others are in memory.
pub(super) fn segment_cone(
    graph: &Graph,
    fusion: &Fusion,
    made: &[Val],
    is_kept: impl Fn(Val) -> bool,
) -> Cone {
    let is_source = |val: Val| fusion.is_input(val) || (is_kept(val) && !made.contains(&val));
    Cone::of(graph, made, is_source).expect("a segment stops at inputs and kept values")
}

/// The view of a segment that makes these values, whose cone is known.
pub(super) fn view_of(graph: &Graph, fusion: &Fusion, made: &[Val], cone: Cone) -> Fusion {
    let outputs = made.iter().map(|&val| Output::from(val)).collect();
    Fusion::of_cone(graph, cone, outputs, Arc::clone(fusion.facts()))
}
