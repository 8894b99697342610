//! Lambdas of moments, which compiled code may compute as the built-in fold `welford`: how far from them that may be. It adds
//! deviations and their squares, so where elements are infinite or too large to be added, it may give anything.

use ops::MomentStates;

use super::cells::{Cell, sure};
use super::reduction::Reduction;
use super::welford::Welford;
use crate::evaluate::bound::apart;

/// Widens the errors of states to what the built-in fold may be off, if elements are single ones. Counts of another dtype
/// than theirs are added up as they are.
pub(super) fn as_built_in(moments: &MomentStates, elements: &[Vec<Cell>], states: &mut [Cell]) {
    let &MomentStates { mean, squares, count } = moments;
    let is = |cell: &Cell, number: f64| cell.error == 0.0 && cell.value.as_f64() == number;
    if !elements.iter().all(|element| is(&element[squares], 0.0) && is(&element[count], 1.0)) {
        return;
    }
    let dtype = states[mean].value.dtype();
    let welford = Welford::new(dtype);
    let mut state = welford.empty();
    for element in elements {
        welford.take(&mut state, element[mean].value.as_f64(), element[mean].error);
    }
    for (place, (value, bound)) in
        [mean, squares, count].into_iter().zip(welford.finish(state, elements.len()))
    {
        let cell = &mut states[place];
        if cell.value.dtype() == dtype {
            cell.error = sure(cell.error.max(apart(value, cell.value.as_f64()) + bound));
        }
    }
}
