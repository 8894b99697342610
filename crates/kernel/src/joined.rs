//! Reductions that lanes can do together: nothing between them changes their operands.

use std::collections::BTreeSet;

use super::{Accumulator, Kernel, Stmt, Value};

/// The most that are joined: each warp has slots for all in a block's memory.
const MAX_JOINED: usize = 8;

/// Reductions of a body that are all done at the first of them.
#[derive(Clone, Debug, Default)]
pub struct JoinedReductions {
    pub values: Vec<Value>,
    pub accumulators: Vec<Accumulator>,
    /// Their positions in the body.
    pub places: Vec<usize>,
}

/// The reduction at `place` of a body, joined with those after it that have the same monoid and dtype, if the monoid has one
/// state, which does not depend on the order of two runs. Otherwise that reduction alone.
pub fn joined_reductions(kernel: &Kernel, body: &[Stmt], place: usize) -> JoinedReductions {
    let mut joined = JoinedReductions::default();
    let mut changed: BTreeSet<Accumulator> = BTreeSet::new();
    let Stmt::Reduce { monoid, values: first, .. } = &body[place] else { return joined };
    for (number, statement) in body.iter().enumerate().skip(place) {
        match statement {
            Stmt::For(_) | Stmt::Barrier => break,
            _ if joined.places.len() == MAX_JOINED => break,
            Stmt::Open { accumulator, .. } | Stmt::Set { accumulator, .. } => {
                changed.insert(*accumulator);
            }
            Stmt::Reduce { values, monoid: other, accumulators } => {
                let is_alike = monoid.is_symmetric() && other == monoid;
                let is_same = kernel.values[values[0]] == kernel.values[first[0]];
                if number == place || is_alike && is_same && !changed.contains(&accumulators[0]) {
                    joined.values.extend(values);
                    joined.accumulators.extend(accumulators);
                    joined.places.push(number);
                }
            }
            _ => {}
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    #[test]
    fn reductions_are_joined_unless_what_they_reduce_changes() {
        let kernel = parse(
            "kernel k(i0) lanes 32 {
  symbols block, i0, x0
  blocks block in 0 .. 1
  write b0: f32 n0
  v0: f32 = const 0.0
  acc a0: f32 = v0
  acc a1: f32 = v0
  acc a2: f32 = v0
  v1: f32 = reduce sum a0
  v2: f32 = reduce max a1
  v3: f32 = reduce sum a1
  set a2 = v1
  v4: f32 = reduce sum a2
  store b0[0] = v4
}
",
        );
        let kernel = kernel.expect("it is a kernel");
        let is_reduction = |statement: &Stmt| matches!(statement, Stmt::Reduce { .. });
        let first = kernel.body.iter().position(is_reduction).expect("it reduces");
        assert_eq!(joined_reductions(&kernel, &kernel.body, first).places, [first, first + 2]);
        assert_eq!(joined_reductions(&kernel, &kernel.body, first + 1).places, [first + 1]);
    }
}
