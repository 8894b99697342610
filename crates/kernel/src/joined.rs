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
