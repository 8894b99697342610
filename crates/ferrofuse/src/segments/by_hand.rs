//! Segmentations as a user writes them: parsed, ordered so that they run, rejected by name and line.

use compiler::PlanError;
use ir::definition::Definition;
use ir::graph::Val;
use segmenter::{SegmentationError, Wait};

use super::SegmentError;
use crate::names::{value_name, value_named};
use crate::{Error, Segmentation};

/// A segmentation of a definition from its text, a line `segment NAME -> VALUE, VALUE…` for each segment.
///
/// # Errors
/// The first line that does not parse, that names a value which the definition does not compute or an earlier line makes;
/// and a cycle. Whether all outputs are made is checked by the plan.
pub fn read_segmentation(definition: &Definition, text: &str) -> Result<Segmentation, SegmentError> {
    let is_computed = |&val: &Val| !definition.fusion.is_input(val);
    let named = |name: &str| value_named(definition, name).filter(is_computed);
    let segmentation = Segmentation::parse(text, &named)?;
    require_once(definition, &segmentation, text)?;
    let ordered = segmentation.in_order(&definition.graph, &definition.fusion);
    ordered.map_err(|cycle| SegmentError::Cycle(in_words(definition, &cycle)))
}

/// An error of a plan that was made with a segmentation, in the names of the definition.
pub fn of_plan(definition: &Definition, error: Error) -> SegmentError {
    match error {
        Error::Plan(PlanError::Segmentation(SegmentationError::Missing(val))) => {
            SegmentError::Missing { name: value_name(definition, val) }
        }
        Error::Plan(PlanError::Group(error)) => {
            SegmentError::Group(error.in_words(|val| definition.record.in_words(val)))
        }
        error => SegmentError::Plan(error),
    }
}

/// A cycle in words: which segment waits for which.
pub(super) fn in_words(definition: &Definition, cycle: &[Wait]) -> String {
    let wait = |wait: &Wait| {
        let name = value_name(definition, wait.val);
        format!("seg{} needs `{name}` of seg{}", wait.segment, wait.maker)
    };
    cycle.iter().map(wait).collect::<Vec<_>>().join(", ")
}

/// Rejects a value that two lines make, and a name that two lines have.
fn require_once(
    definition: &Definition,
    segmentation: &Segmentation,
    text: &str,
) -> Result<(), SegmentError> {
    let is_segment = |(_, line): &(usize, &str)| !line.is_empty() && !line.starts_with('#');
    let segments = (1..).zip(text.lines().map(str::trim)).filter(is_segment);
    let (lines, names): (Vec<usize>, Vec<&str>) = segments
        .map(|(line, text)| {
            (line, text.trim_start_matches("segment").split("->").next().unwrap_or(text).trim())
        })
        .unzip();
    for (place, name) in names.iter().enumerate() {
        if let Some(earlier) = names[..place].iter().position(|other| other == name) {
            let (line, earlier) = (lines[place], lines[earlier]);
            return Err(SegmentError::SameName { name: (*name).to_owned(), line, earlier });
        }
    }
    let made = || {
        segmentation
            .segments
            .iter()
            .zip(&lines)
            .flat_map(|(made, &line)| made.iter().map(move |&val| (val, line)))
    };
    for (place, (val, line)) in made().enumerate() {
        if let Some((_, earlier)) = made().take(place).find(|(other, _)| *other == val) {
            return Err(SegmentError::Twice { name: value_name(definition, val), line, earlier });
        }
    }
    Ok(())
}
