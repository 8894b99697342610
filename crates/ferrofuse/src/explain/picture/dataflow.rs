//! The elements of the picture: a box for each segment and each tensor that segments read or write, in layers, and arrows
//! from layer to layer.

use rustc_hash::FxHashMap;

use super::super::{Explanation, SegmentExplanation, TensorBytes, table};
use crate::table as units;

/// Characters of a line; hovering shows the whole text.
const LINE: usize = 30;

/// The meaning of a box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Kernel,
    Library,
    Evaluator,
    Tensor,
    /// No box: a point where an arrow crosses a layer.
    Pass,
}

/// A box.
#[derive(Debug)]
pub(super) struct Block {
    pub kind: Kind,
    /// The name of the segment or the tensor.
    pub name: String,
    pub lines: Vec<String>,
    /// The text shown on hovering.
    pub title: String,
    pub layer: usize,
}

/// An arrow between boxes of neighbouring layers, by their numbers.
#[derive(Debug)]
pub(super) struct Arrow {
    pub from: usize,
    pub to: usize,
    pub title: String,
}

/// All elements of the picture.
#[derive(Debug, Default)]
pub(super) struct Dataflow {
    pub blocks: Vec<Block>,
    pub arrows: Vec<Arrow>,
}

impl Dataflow {
    /// Segments are in odd layers, tensors in even ones; an input of the definition is just above the first segment that
    /// reads it.
    pub fn of(explanation: &Explanation) -> Dataflow {
        let mut flow = Dataflow::default();
        let layers = segment_layers(explanation);
        let mut tensors: FxHashMap<&str, usize> = FxHashMap::default();
        for (segment, &layer) in explanation.segments.iter().zip(&layers) {
            for tensor in &segment.outputs {
                let made = || flow.blocks.len();
                tensors.entry(&tensor.name).or_insert_with(made);
                flow.blocks.push(tensor_block(tensor, layer + 1));
            }
        }
        for (segment, &layer) in explanation.segments.iter().zip(&layers) {
            for tensor in &segment.inputs {
                let place = *tensors.entry(&tensor.name).or_insert_with(|| {
                    flow.blocks.push(tensor_block(tensor, layer - 1));
                    flow.blocks.len() - 1
                });
                // Segments are in the order they run, not ordered by layer.
                if flow.blocks[place].layer >= layer {
                    flow.blocks[place].layer = layer - 1;
                }
            }
        }
        let mut passes = FxHashMap::default();
        for (segment, &layer) in explanation.segments.iter().zip(&layers) {
            let number = flow.blocks.len();
            flow.blocks.push(segment_block(segment, layer));
            for tensor in &segment.outputs {
                let title = format!("{} writes {}", segment.name, in_words(tensor));
                flow.arrows.push(Arrow { from: number, to: tensors[tensor.name.as_str()], title });
            }
            for tensor in &segment.inputs {
                let from = flow.passed(tensors[tensor.name.as_str()], layer, &mut passes);
                let title = read(explanation, segment, tensor);
                flow.arrows.push(Arrow { from, to: number, title });
            }
        }
        flow
    }

    /// The box from which a tensor's arrow reaches a layer: its own, or the last of the points at which the arrow crosses
    /// layers.
    fn passed(
        &mut self,
        tensor: usize,
        layer: usize,
        passes: &mut FxHashMap<(usize, usize), usize>,
    ) -> usize {
        let mut from = tensor;
        for between in self.blocks[tensor].layer + 1..layer {
            from = *passes.entry((tensor, between)).or_insert_with(|| {
                let (name, title) = (self.blocks[tensor].name.clone(), self.blocks[tensor].title.clone());
                self.blocks.push(Block {
                    kind: Kind::Pass,
                    name,
                    lines: Vec::new(),
                    title: title.clone(),
                    layer: between,
                });
                let to = self.blocks.len() - 1;
                self.arrows.push(Arrow { from, to, title });
                to
            });
        }
        from
    }
}

/// The layer of each segment: below the segments whose tensors it reads.
fn segment_layers(explanation: &Explanation) -> Vec<usize> {
    let mut made: FxHashMap<&str, usize> = FxHashMap::default();
    let mut layers = Vec::new();
    for segment in &explanation.segments {
        let read = segment.inputs.iter().filter_map(|tensor| made.get(tensor.name.as_str()));
        let layer = read.max().map_or(1, |above| above + 1);
        made.extend(segment.outputs.iter().map(|tensor| (tensor.name.as_str(), layer + 1)));
        layers.push(layer);
    }
    layers
}

fn tensor_block(tensor: &TensorBytes, layer: usize) -> Block {
    let lines = vec![shortened(&tensor.name), units::bytes(tensor.bytes)];
    Block { kind: Kind::Tensor, name: tensor.name.clone(), lines, title: in_words(tensor), layer }
}

fn segment_block(segment: &SegmentExplanation, layer: usize) -> Block {
    let kind = match (&segment.library, &segment.evaluator_reason) {
        (Some(_), _) => Kind::Library,
        (None, Some(_)) => Kind::Evaluator,
        (None, None) => Kind::Kernel,
    };
    let ops = if segment.ops == 1 { "1 op".to_owned() } else { format!("{} ops", segment.ops) };
    let title = format!("{}\n{}", segment.name, segment.operations.join("\n"));
    let lines = [
        format!("{}: {ops}", segment.name),
        table::runs_as(segment),
        format!("moves {}", units::bytes(segment.bytes)),
    ];
    let lines = lines.iter().map(|line| shortened(line)).collect();
    Block { kind, name: segment.name.clone(), lines, title, layer }
}

fn in_words(tensor: &TensorBytes) -> String {
    format!("{}: {} ({} bytes)", tensor.name, units::bytes(tensor.bytes), tensor.bytes_formula)
}

/// A tensor that is read, and why it passes through memory.
fn read(explanation: &Explanation, segment: &SegmentExplanation, tensor: &TensorBytes) -> String {
    let text = format!("{} reads {}", segment.name, in_words(tensor));
    let edge = explanation.edges.iter().find(|edge| edge.to == segment.name && edge.tensor == tensor.name);
    edge.map_or_else(|| text.clone(), |edge| format!("{text}\n{}", edge.reason))
}

fn shortened(line: &str) -> String {
    match line.chars().count() > LINE {
        true => format!("{}…", line.chars().take(LINE - 1).collect::<String>()),
        false => line.to_owned(),
    }
}
