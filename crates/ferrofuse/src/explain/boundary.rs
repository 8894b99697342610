//! The tensors between segments, and why the two are separate: in words, from the answers that the search got.

use compiler::{Decision, SegmentPlan};
use ir::graph::Val;

use super::{Edge, Explainer, external};

impl Explainer<'_> {
    /// The tensors that one segment writes and another reads.
    pub(super) fn edges(&self) -> Vec<Edge> {
        let mut edges = Vec::new();
        for (from, segment) in self.cut.segments.iter().enumerate() {
            for output in segment.view.outputs() {
                let later = self.readers.after(output.val, from);
                edges.extend(later.iter().map(|&to| self.edge(output.val, from, to)));
            }
        }
        edges
    }

    fn edge(&self, val: Val, from: usize, to: usize) -> Edge {
        let name = |number: usize| self.cut.segments[number].name.clone();
        Edge {
            tensor: self.names.of(val),
            from: name(from),
            to: name(to),
            bytes: self.bytes(val),
            reason: self.boundary(from, to),
        }
    }

    /// Why two segments are separate.
    fn boundary(&self, from: usize, to: usize) -> String {
        let pair = [from, to].map(|number| &self.cut.segments[number]);
        let [first, second] = pair;
        if let Some(reason) = pair.into_iter().find_map(|segment| self.evaluated(segment)) {
            return reason;
        }
        match pair.map(external) {
            [_, Some(op)] => return format!("it is an operand of {op}, which a library computes"),
            [Some(op), None] => return format!("it is a result of {op}, which a library computes"),
            [None, None] => {}
        }
        if first.at != second.at {
            return format!("{} runs on {}, {} on {}", first.name, first.at, second.name, second.at);
        }
        if let Some(between) = self.readers.between(self.cut, from, to) {
            let between = &self.cut.segments[between].name;
            return format!("{between} stands between {} and {}", first.name, second.name);
        }
        let apart = || "one kernel would do for these two; the segmentation keeps them apart".to_owned();
        self.rejection([from, to]).unwrap_or_else(apart)
    }

    /// Why the evaluator runs a segment, if it does.
    fn evaluated(&self, segment: &SegmentPlan) -> Option<String> {
        match &segment.decision {
            Decision::Evaluate { reason, val } => Some(format!("{} {reason}", self.names.of(*val))),
            Decision::Kernels(_) | Decision::External(_) => None,
        }
    }

    /// Why no kernel can compute two segments together, if none can.
    fn rejection(&self, pair: [usize; 2]) -> Option<String> {
        let views = pair.map(|number| &self.cut.segments[number].view);
        let answer = self.cut.as_one(views, |val| self.readers.count(val));
        let rejection = answer.as_ref().as_ref().err()?;
        let reason = match rejection.val {
            val if self.is_of_passes(val) => "is a transposed copy, along whose rows lanes read",
            val if self.is_of_softmax(val) => "is finished once, and not for each row that is walked again",
            _ => &rejection.reason,
        };
        Some(format!("in one kernel {} {reason}", self.names.of(rejection.val)))
    }

    /// Whether a value is a result of a softmax's one fold.
    fn is_of_softmax(&self, val: Val) -> bool {
        let softmaxes = &self.cut.softmaxes;
        let mut folds = softmaxes.online.iter().flat_map(|folds| [folds.maximum, folds.sum]);
        folds.any(|fold| softmaxes.became(&self.cut.steps, fold) == val)
    }

    /// Whether a pass wrote a boundary, for a product of matrices that a kernel computes.
    fn is_of_passes(&self, val: Val) -> bool {
        let is_boundary = self.cut.graph.op(val).is_boundary();
        is_boundary && self.cut.map.iter().all(|(_, new)| new != val)
    }
}
