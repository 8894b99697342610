//! Segments as objects: definitions of their own, with a map of their values back to the whole definition.
//!
//! `cut` (the values of the definition that each segment makes) · `positions` (the numbers of values) · `by_hand`
//! (segmentations as users write them) · `edited` (definitions that replace a segment) · `explained` (their
//! explanations) · `tasks` (segments beside composites and groups) · `error`. Takes a definition and its plan; decides
//! nothing, compiles nothing.

mod by_hand;
mod cut;
mod edited;
mod error;
mod explained;
mod positions;
mod tasks;

use std::collections::BTreeMap;
use std::sync::Arc;

use compiler::Cut;
use frontend::define::{AsWritten, DefinitionBuilder, Origin, outline_as_written};
use frontend::text::{NameStyle, print};
use index::Expr;
use ir::definition::Definition;
use ir::graph::{DeviceStream, Fusion, Node, Output, Val};
use runtime::{CompileOptions, SegmentDefinition, SegmentInput};
use rustc_hash::{FxHashMap, FxHashSet};
use scheduler::hints::Hints;
use segmenter::parallel;

use crate::explain::{Edge, Traffic};
use crate::names::names_in;
use crate::other_definition::{OtherDefinition, require_cut_of};
use crate::{Error, Schedule};

pub use by_hand::{listed_segmentation, of_plan, read_segmentation};
pub use error::SegmentError;
pub use explained::explain_segments;
pub use positions::count as count_positions;
pub use tasks::tasks;

/// A segment of a definition.
#[derive(Clone, Debug)]
pub struct Segment {
    /// As the user calls it, or `seg0`, `seg1`, … in the order they run.
    pub name: String,
    number: usize,
    definition: Definition,
    /// From the number of each of its values, as printed with short names, to that of the same value in the whole
    /// definition.
    pub index_map: BTreeMap<usize, usize>,
    /// Its inputs: values by their names in the whole definition, sizes by their formulas.
    pub inputs: Vec<String>,
    /// Its outputs, by their names in the whole definition.
    pub outputs: Vec<String>,
    /// The tensors that it computes again, after an earlier segment.
    pub recomputed: Vec<String>,
    /// Bytes that it moves, if the hints have all sizes.
    pub bytes: Option<u64>,
    /// The same as a formula over sizes.
    pub bytes_formula: String,
    /// The device and the stream that the user asked for.
    pub at: DeviceStream,
    /// Why it is a separate segment.
    pub why: String,
    /// The schedule that the user chose; without one the compiler chooses.
    pub schedule: Option<Schedule>,
    takes: Vec<SegmentInput>,
    gives: Vec<Val>,
    is_edited: bool,
    planned: Vec<usize>,
}

/// The segments of a cut of a definition, or of a plan of it, in the order they run. Bytes are counted at the sizes of the hints.
///
/// # Errors
/// When the cut is of another definition, a user's segmentation is cyclic, or the definition language cannot express a
/// segment.
pub fn segments(definition: &Definition, cut: &Cut, hints: &Hints) -> Result<Vec<Segment>, SegmentError> {
    let written = written_cut(definition, cut)?;
    let hints = &hints.clone().with_implied(definition.fusion.facts());
    let views = written.segmentation.views(&definition.graph, &definition.fusion);
    let crossing = views.iter().flat_map(|view| view.inputs().iter().copied());
    let maker = Maker {
        definition,
        cut,
        hints,
        names: names_in(definition),
        positions: positions::Positions::new(
            definition,
            crossing.chain(written.segmentation.segments.concat()),
        ),
        traffic: Traffic::of(definition, cut, hints),
        planned: written.planned.iter().flatten().map(|&number| cut.segments[number].name.clone()).collect(),
    };
    let mut computed = FxHashSet::default();
    let mut pieces = Vec::new();
    for (number, (view, made)) in views.iter().zip(&written.segmentation.segments).enumerate() {
        let again = view.order().iter().copied().filter(|node| computed.contains(node)).collect();
        let (name, planned) = (written.segmentation.name(number), &written.planned[number]);
        pieces.push(Piece { number, name, view, made, again, planned });
        computed.extend(view.order().iter().copied());
    }
    maker.segments(&pieces)
}

/// The segmentation of a plan, over the names of the definition's values. A value that only passes made is replaced by the
/// nearest values that it is computed from.
pub(crate) fn segmentation_text(definition: &Definition, cut: &Cut) -> String {
    let names = names_in(definition);
    let name = |val: Val| names.get(&val).cloned().unwrap_or_else(|| val.to_string());
    cut::planned_cut(definition, cut).to_text(&name)
}

/// Rejects segments of another definition.
pub(crate) fn require_segments(definition: &Definition, segments: &[Segment]) -> Result<(), Error> {
    let segments: Vec<SegmentDefinition> = segments.iter().map(SegmentDefinition::from).collect();
    runtime::require_segments(definition, &segments)
}

fn written_cut(definition: &Definition, cut: &Cut) -> Result<cut::WrittenCut, SegmentError> {
    require_cut_of(definition, cut)?;
    let name =
        |number| cut.chosen.as_ref().map_or_else(|| format!("seg{number}"), |chosen| chosen.name(number));
    let written = cut::written_cut(definition, cut)
        .map_err(|cycle| SegmentError::Cycle(by_hand::in_words(definition, &cycle, name)))?;
    let are_own = written.segmentation.check_values(&definition.graph, &definition.fusion).is_ok();
    if are_own { Ok(written) } else { Err(OtherDefinition.into()) }
}

impl Segment {
    /// The definition that it computes.
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// Whether it is exactly the segment `number` of the cut.
    pub fn is_planned_as(&self, number: usize) -> bool {
        self.planned == [number]
    }

    /// Whether it was replaced by another definition than the one cut from the whole.
    pub fn is_edited(&self) -> bool {
        self.is_edited
    }

    /// A builder that starts from its definition.
    pub fn builder(&self) -> DefinitionBuilder {
        DefinitionBuilder::going_on(self.definition.clone())
    }

    /// Replaces it by another definition.
    ///
    /// # Errors
    /// When that has other inputs or outputs. The segment then stays as it was.
    pub fn replace(&mut self, definition: Definition) -> Result<(), SegmentError> {
        if let Some(what) = edited::change(&self.definition, &definition) {
            return Err(SegmentError::Changed { segment: self.name.clone(), what });
        }
        let text = |definition: &Definition| print(definition, NameStyle::Short);
        self.is_edited |= text(&definition) != text(&self.definition);
        self.definition = definition;
        Ok(())
    }

    /// Whether the schedule fits.
    ///
    /// # Errors
    /// When it names something that the segment does not have.
    pub fn check_schedule(&self, options: &CompileOptions) -> Result<(), SegmentError> {
        SegmentDefinition::from(self).options(options)?;
        Ok(())
    }
}

/// The definition that runs, in its current state.
impl From<&Segment> for SegmentDefinition {
    fn from(segment: &Segment) -> SegmentDefinition {
        SegmentDefinition {
            number: segment.number,
            name: segment.name.clone(),
            definition: segment.definition.clone(),
            inputs: segment.takes.clone(),
            outputs: segment.gives.clone(),
            schedule: segment.schedule.clone(),
            is_edited: segment.is_edited,
        }
    }
}

/// Nodes of all segments together from which on two threads write their definitions: for fewer, starting a thread takes
/// longer.
const NODES_OF_TWO_THREADS: usize = 256;

/// The input for making segments.
struct Maker<'d> {
    definition: &'d Definition,
    cut: &'d Cut,
    hints: &'d Hints,
    names: FxHashMap<Val, String>,
    positions: positions::Positions<'d>,
    traffic: Traffic,
    /// The names of the plan's segments that have a segment here; the others make values that only passes made.
    planned: FxHashSet<String>,
}

/// A part of the definition that becomes a segment.
struct Piece<'c> {
    number: usize,
    name: String,
    view: &'c Fusion,
    made: &'c [Val],
    /// Nodes that earlier segments compute as well.
    again: Vec<Node>,
    /// The segments of the plan that it consists of.
    planned: &'c [usize],
}

impl Maker<'_> {
    /// The segments of these parts, in order; two threads write long definitions.
    fn segments(&self, pieces: &[Piece<'_>]) -> Result<Vec<Segment>, SegmentError> {
        let segments = |pieces: &[Piece<'_>]| -> Result<Vec<Segment>, SegmentError> {
            pieces.iter().map(|piece| self.segment(piece)).collect()
        };
        let nodes = |pieces: &[Piece<'_>]| pieces.iter().map(|piece| piece.view.order().len()).sum::<usize>();
        let all = nodes(pieces);
        if all < NODES_OF_TWO_THREADS || pieces.len() < 2 {
            return segments(pieces);
        }
        let middle = (0..pieces.len()).find(|&middle| 2 * nodes(&pieces[..middle]) >= all).unwrap_or(0);
        let (first, second) = pieces.split_at(middle);
        let (first, second) = parallel::join(|| segments(first), || segments(second));
        let mut made = first?;
        made.extend(second?);
        Ok(made)
    }

    fn segment(&self, piece: &Piece<'_>) -> Result<Segment, SegmentError> {
        let &Piece { number, ref name, view, made, ref again, planned } = piece;
        let Definition { graph, record, tasks, .. } = self.definition;
        let written = AsWritten { record, tasks, passed: None };
        let outlined = outline_as_written(graph, &self.given_back(view), written)?;
        let moved: Expr = planned.iter().map(|&number| self.traffic.moved[number].clone()).sum();
        let moved = self.definition.fusion.facts().normalize(&moved);
        Ok(Segment {
            name: name.clone(),
            number,
            index_map: self.positions.index_map(&outlined, made),
            inputs: outlined.inputs.iter().map(|origin| self.origin(origin)).collect(),
            outputs: made.iter().map(|&val| self.name(val)).collect(),
            recomputed: again.iter().filter_map(|&node| self.tensor_named(node)).collect(),
            bytes: self.hints.has_all(&moved).then(|| self.hints.value(&moved)),
            bytes_formula: moved.to_string(),
            at: planned
                .first()
                .map_or_else(DeviceStream::default, |&number| self.cut.segments[number].at.clone()),
            why: self.why(planned),
            schedule: None,
            takes: outlined.inputs.into_iter().map(taken).collect(),
            gives: made.to_vec(),
            definition: outlined.definition,
            is_edited: false,
            planned: planned.to_vec(),
        })
    }

    /// The view with its outputs in the form that the whole definition returns; a copy at its end is left to the boundary.
    fn given_back(&self, view: &Fusion) -> Fusion {
        let Definition { graph, fusion, .. } = self.definition;
        let output = |output: &Output| match fusion.outputs().iter().find(|given| given.val == output.val) {
            Some(given) => Output { alias: None, ..given.clone() },
            None => Output::from(positions::before_boundary(graph, output.val, |val| view.is_input(val))),
        };
        let outputs = view.outputs().iter().map(output).collect();
        let facts = Arc::clone(fusion.facts());
        Fusion::new(graph, view.inputs().to_vec(), outputs, facts).expect("the view, or less of it")
    }

    fn name(&self, val: Val) -> String {
        self.names.get(&val).cloned().unwrap_or_else(|| val.to_string())
    }

    /// The name of the tensor that a node makes, if a line of the definition makes it.
    fn tensor_named(&self, node: Node) -> Option<String> {
        let val = Val::from(node);
        let is_tensor = !self.definition.graph.shape(val).is_empty();
        self.names.get(&val).filter(|_| is_tensor).cloned()
    }

    fn origin(&self, origin: &Origin) -> String {
        match origin {
            Origin::Val(val) => self.name(*val),
            Origin::Size(size) => size.to_string(),
        }
    }

    /// Why the plan has a boundary before or after a segment, for the segments `planned` of the plan.
    fn why(&self, planned: &[usize]) -> String {
        if planned.is_empty() {
            return "what it gives is seen in memory that is there".to_owned();
        }
        let is_here = |name: &String| planned.iter().any(|&number| self.cut.segments[number].name == *name);
        let is_known = |edge: &&Edge| [&edge.from, &edge.to].iter().all(|&end| self.planned.contains(end));
        let edges = || {
            let between = |edge: &&Edge| is_here(&edge.from) != is_here(&edge.to);
            self.traffic.edges.iter().filter(is_known).filter(between)
        };
        let reasons_of = |is_end: &dyn Fn(&Edge) -> bool| -> Vec<&str> {
            edges().filter(|edge| is_end(edge)).map(|edge| edge.reason.as_str()).collect()
        };
        let mut reasons = reasons_of(&|edge| is_here(&edge.to));
        if reasons.is_empty() {
            reasons = reasons_of(&|edge| is_here(&edge.from));
        }
        let mut seen = FxHashSet::default();
        reasons.retain(|reason| seen.insert(*reason));
        match reasons.is_empty() {
            true => "no tensor passes between it and another segment".to_owned(),
            false => reasons.join("; "),
        }
    }
}

fn taken(origin: Origin) -> SegmentInput {
    match origin {
        Origin::Val(val) => SegmentInput::Val(val),
        Origin::Size(size) => SegmentInput::Size(size),
    }
}
