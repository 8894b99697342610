//! A cat at an index: the operand there, or a choice between the possible operands.

use index::Expr;
use ir::graph::Val;
use kernel::Value;
use ops::Scalar;

use super::ValueEmitter;
use crate::loops::Known;

/// An operand of a cat and the part of the axis that it fills.
struct Part {
    operand: Val,
    start: Expr,
    size: Expr,
}

impl ValueEmitter<'_> {
    /// A cat at an index.
    pub(super) fn cat(
        &mut self,
        operands: &[Val],
        axis: usize,
        index: &[Expr],
        guard: Option<Value>,
    ) -> Value {
        let parts = self.cat_parts(operands, axis);
        if let Some(part) = self.only_part(&parts, &index[axis]) {
            let at = self.within_part(part, axis, index);
            return self.pull(part.operand, &at, guard);
        }
        let mut chosen: Option<Value> = None;
        for part in &parts {
            let source = index[axis].clone() - part.start.clone();
            let known = self.open_loops.is_within(&source, &part.size);
            if known == Known::False {
                continue;
            }
            let at = self.within_part(part, axis, index);
            if known == Known::True {
                return self.pull(part.operand, &at, guard);
            }
            let inside = self.within(&source, &part.size, guard);
            let value = self.pull(part.operand, &at, Some(inside));
            chosen = Some(match chosen {
                Some(earlier) => self.select(inside, value, earlier),
                None => value,
            });
        }
        // No part is left if there is no such index.
        let dtype = self.emitter.group.graph.dtype(operands[0]);
        chosen.unwrap_or_else(|| self.emitter.constant(Scalar::zero(dtype)))
    }

    fn cat_parts(&mut self, operands: &[Val], axis: usize) -> Vec<Part> {
        let mut end = Expr::zero();
        let mut part = |&operand: &Val| {
            let size = self.emitter.group.graph.shape(operand)[axis].clone();
            let size = self.emitter.size(&size);
            let start = end.clone();
            end = &end + &size;
            Part { operand, start, size }
        };
        operands.iter().map(&mut part).collect()
    }

    /// The part that contains the whole subrange of an index, found without a proof for each part.
    fn only_part<'p>(&self, parts: &'p [Part], index: &Expr) -> Option<&'p Part> {
        let (first, end) = self.open_loops.span(index)?;
        let begun = parts.partition_point(|part| self.emitter.is_at_most(&part.start, &first));
        let part = &parts[begun.checked_sub(1)?];
        self.emitter.is_at_most(&end, &(&part.start + &part.size)).then_some(part)
    }

    /// The index in a part.
    fn within_part(&mut self, part: &Part, axis: usize, index: &[Expr]) -> Vec<Expr> {
        let mut source = index.to_vec();
        source[axis] = index[axis].clone() - part.start.clone();
        self.aligned(part.operand, &source)
    }
}
