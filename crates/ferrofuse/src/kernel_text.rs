//! The kernels of a segment in a language of the C family, for readers: with the user's names, below a comment that says
//! what the segment computes, how many bytes it moves and how it is walked.
//!
//! The text that a device runs has the names of the graph and no such comment, but is otherwise the same.

use std::fmt::Write;

use codegen_c::c::{Dialect, EmitError, emit_together};
use compiler::{Kernels, SegmentPlan};
use ir::graph::{Graph, Node, TensorOp, Val, op_line};
use kernel::Kernel;
use lowering::LoweredSegment;
use ops::Scalar;
use rustc_hash::FxHashMap;
use segmenter::cost::bytes;

use crate::names::ValueNames;

/// Columns of a line at most.
const LONGEST_LINE: usize = 120;

/// A segment, and the names of its values.
pub(crate) struct KernelText<'a> {
    graph: &'a Graph,
    segment: &'a SegmentPlan,
    names: FxHashMap<String, String>,
}

impl<'a> KernelText<'a> {
    /// A segment of a plan with this graph.
    pub fn new(graph: &'a Graph, segment: &'a SegmentPlan, names: &ValueNames) -> KernelText<'a> {
        let made = segment.view.order().iter().flat_map(|&node| graph.results(node));
        let values = segment.view.inputs().iter().copied().chain(made);
        let name = |val| match inlined(graph, segment, val) {
            Some(constant) => constant.to_string(),
            None => names.of(val),
        };
        let names = values.map(|val| (val.to_string(), name(val))).collect();
        KernelText { graph, segment, names }
    }

    /// The comment and the functions, for launches of `members` members.
    ///
    /// # Errors
    /// When the dialect has no text for a kernel.
    pub fn text(
        &self,
        kernels: &Kernels,
        lowered: &LoweredSegment,
        members: usize,
        dialect: &'static Dialect,
    ) -> Result<String, EmitError> {
        let named: Vec<Kernel> = lowered.kernels.iter().map(|lowered| self.named(&lowered.kernel)).collect();
        Ok(self.comment(kernels) + &emit_together(&named, members, dialect)?)
    }

    /// The name for a word of the graph.
    fn name<'w>(&'w self, word: &'w str) -> &'w str {
        self.names.get(word).map_or(word, String::as_str)
    }

    fn of(&self, val: Val) -> String {
        self.name(&val.to_string()).to_owned()
    }

    /// The kernel with the user's names for its buffers, if they are names in C.
    fn named(&self, kernel: &Kernel) -> Kernel {
        let mut kernel = kernel.clone();
        for buffer in kernel.buffers.values_mut() {
            let known = buffer.name.split_once('_').map_or(buffer.name.as_str(), |(val, _)| val);
            let name = self.name(known);
            let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            if name.chars().all(is_letter) && !name.starts_with(|letter: char| letter.is_ascii_digit()) {
                buffer.name = buffer.name.replacen(known, name, 1);
            }
        }
        kernel
    }

    fn comment(&self, kernels: &Kernels) -> String {
        let SegmentPlan { view, .. } = self.segment;
        let mut text = String::new();
        let is_line = |node: &&Node| inlined(self.graph, self.segment, (**node).into()).is_none();
        for &node in view.order().iter().filter(is_line) {
            let results: Vec<String> = self.graph.results(node).map(|val| self.of(val)).collect();
            let line = op_line(self.graph, node.into(), &|val| self.of(val));
            let _ = writeln!(text, "//   {} = {line} : {}", results.join(", "), self.graph.ty(node.into()));
        }
        let _ = writeln!(text, "// {} bytes are read and written.", bytes(self.graph, view));
        let named = |line: &str| line.split(' ').map(|word| self.name(word)).collect::<Vec<_>>().join(" ");
        let schedule = kernels.schedule.to_string();
        for line in filled(schedule.lines().map(named)) {
            let _ = writeln!(text, "// {line}");
        }
        text
    }
}

/// The constant that a value is, to be inlined; `None` for others, and for values that leave the segment.
fn inlined(graph: &Graph, segment: &SegmentPlan, val: Val) -> Option<Scalar> {
    match graph.op(val) {
        TensorOp::Constant(constant) if !segment.view.outputs().iter().any(|output| output.val == val) => {
            Some(*constant)
        }
        _ => None,
    }
}

/// Parts with semicolons between them, in as few lines as hold them.
fn filled(parts: impl Iterator<Item = String>) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if line.len() + part.len() + "// ; ;".len() <= LONGEST_LINE => {
                *line += &format!("; {part}")
            }
            Some(line) => {
                line.push(';');
                lines.push(part);
            }
            None => lines.push(part),
        }
    }
    lines
}
