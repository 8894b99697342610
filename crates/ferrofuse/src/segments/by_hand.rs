//! Segmentations as a user writes them: parsed, ordered so that they run, rejected by name and line.

use compiler::PlanError;
use ir::definition::Definition;
use ir::graph::Val;
use rustc_hash::FxHashMap;
use segmenter::{SegmentationError, Wait, WrittenSegment};

use super::SegmentError;
use crate::names::{value_name, value_named};
use crate::{Error, Segmentation};

/// How a user gives a segmentation, which errors refer to.
#[derive(Clone, Copy)]
enum Given {
    /// As text: a line for each segment.
    Text,
    /// As a list of lists of names.
    Lists,
}

impl Given {
    /// The place of a segment.
    fn segment(self, written: &WrittenSegment) -> String {
        match self {
            Given::Text => format!("line {}", written.line),
            Given::Lists => format!("segmentation[{}]", written.line - 1),
        }
    }

    /// The place of the value with a number in a segment.
    fn value(self, written: &WrittenSegment, number: usize) -> String {
        match self {
            Given::Text => self.segment(written),
            Given::Lists => format!("{}[{number}]", self.segment(written)),
        }
    }
}

/// A segmentation of a definition from its text, a line `segment NAME -> VALUE, VALUE…` for each segment.
///
/// # Errors
/// The first line that does not parse, that names a value which the definition does not compute or an earlier line makes;
/// and a cycle. Whether all outputs are made is checked by the plan.
pub fn read_segmentation(definition: &Definition, text: &str) -> Result<Segmentation, SegmentError> {
    let written = WrittenSegment::read(text, &|name| computed(definition, name))?;
    in_order(definition, &written, Given::Text)
}

/// The same from lists of the names of the values that each segment makes. Errors call the list `segmentation`.
///
/// # Errors
/// As [`read_segmentation`], and for an empty list.
pub fn listed_segmentation(
    definition: &Definition,
    lists: &[Vec<String>],
) -> Result<Segmentation, SegmentError> {
    let segment = |(number, names): (usize, &Vec<String>)| {
        let value = |(place, name): (usize, &String)| match computed(definition, name) {
            Some(val) => Ok((name.clone(), val)),
            None => Err(SegmentError::Unknown {
                place: format!("segmentation[{number}][{place}]"),
                name: name.clone(),
            }),
        };
        if names.is_empty() {
            return Err(SegmentationError::Empty { place: format!("segmentation[{number}]") }.into());
        }
        let made = names.iter().enumerate().map(value).collect::<Result<_, _>>()?;
        Ok(WrittenSegment { line: number + 1, name: format!("seg{number}"), made })
    };
    let written = lists.iter().enumerate().map(segment).collect::<Result<Vec<_>, SegmentError>>()?;
    in_order(definition, &written, Given::Lists)
}

/// The value with a name, if the definition computes it.
fn computed(definition: &Definition, name: &str) -> Option<Val> {
    value_named(definition, name).filter(|&val| !definition.fusion.is_input(val))
}

/// The segments in an order in which they run.
fn in_order(
    definition: &Definition,
    written: &[WrittenSegment],
    given: Given,
) -> Result<Segmentation, SegmentError> {
    require_names_once(written)?;
    require_values_once(written, given)?;
    let ordered = Segmentation::from(written).in_order(&definition.graph, &definition.fusion);
    let name = |number: usize| written[number].name.clone();
    ordered.map_err(|cycle| SegmentError::Cycle(in_words(definition, &cycle, name)))
}

/// An error of a plan that was made with a segmentation, in the names of the definition.
pub fn of_plan(definition: &Definition, error: Error) -> SegmentError {
    match error {
        Error::Plan(PlanError::Segmentation(SegmentationError::Missing(output))) => {
            SegmentError::Missing { name: value_name(definition, output.val) }
        }
        Error::Plan(PlanError::Group(error)) => {
            SegmentError::Group(error.in_words(|val| definition.record.in_words(val)))
        }
        Error::Plan(error) => {
            SegmentError::Plan(error.in_words(|val| definition.record.in_words(val)).into())
        }
        error => SegmentError::Plan(error),
    }
}

/// A cycle in words: which segment, by these names, waits for which.
pub(super) fn in_words(definition: &Definition, cycle: &[Wait], segment: impl Fn(usize) -> String) -> String {
    let wait = |wait: &Wait| {
        let name = value_name(definition, wait.val);
        format!("{} needs `{name}` of {}", segment(wait.segment), segment(wait.maker))
    };
    cycle.iter().map(wait).collect::<Vec<_>>().join(", ")
}

/// Rejects a name that two segments have.
fn require_names_once(written: &[WrittenSegment]) -> Result<(), SegmentError> {
    for (place, WrittenSegment { line, name, .. }) in written.iter().enumerate() {
        if let Some(earlier) = written[..place].iter().find(|other| other.name == *name) {
            let (name, line) = (name.clone(), *line);
            return Err(SegmentError::SameName { name, line, earlier: earlier.line });
        }
    }
    Ok(())
}

/// Rejects a value that two segments make, or one twice, by one name or by names of equal values.
fn require_values_once(written: &[WrittenSegment], given: Given) -> Result<(), SegmentError> {
    let mut makers: FxHashMap<Val, (&WrittenSegment, &String)> = FxHashMap::default();
    for segment in written {
        for (number, (name, val)) in segment.made.iter().enumerate() {
            let Some((maker, other)) = makers.insert(*val, (segment, name)) else { continue };
            let (place, name) = (given.value(segment, number), name.clone());
            let earlier = given.segment(maker);
            return Err(match *other == name {
                true => SegmentError::Twice { name, place, earlier },
                false => SegmentError::Equal { name, other: other.clone(), place, earlier },
            });
        }
    }
    Ok(())
}
