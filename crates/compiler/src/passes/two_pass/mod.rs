//! Folds over rows in two passes, if the second finds the row at hand: in a CPU's L1, or in the registers of a GPU's
//! threads.
//!
//! `moments` (mean and variance) · `argmax` (a maximum or minimum and where it is)

mod argmax;
mod moments;

use index::{Expr, Facts};
use ir::graph::{Axes, Graph, Val};

pub use argmax::two_pass_argmax;
pub use moments::two_pass;

/// How many elements the rows of a value have along these axes, and at most, if these are its last axes and there is an
/// upper bound.
fn row_elements(graph: &Graph, facts: &Facts, val: Val, axes: &Axes) -> Option<(Expr, u64)> {
    let (shape, first) = (graph.shape(val), *axes.first()? as usize);
    let is_row = axes.len() == shape.len() - first;
    let count = is_row.then(|| shape[first..].iter().fold(Expr::one(), |n, size| n * size.clone()))?;
    let most = u64::try_from(facts.bounds(&count).hi()?).ok()?;
    Some((count, most))
}
