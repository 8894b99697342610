//! Lambdas of moments, which compiled code may compute as the built-in fold `welford`: how far apart both may be. Both are
//! within their bounds of the moments. The fold adds deviations and their squares, so where elements are infinite or too
//! large to be added, it may give anything.

use ops::MomentStates;

use super::cells::{Cell, sure};
use super::reduction::Reduction;
use super::welford::Welford;
use crate::evaluate::bound::apart;

/// Widens the errors of states to the possible errors of the built-in fold, if elements are single ones. Counts of another
/// dtype are added up directly.
pub(super) fn as_built_in(moments: &MomentStates, elements: &[Vec<Cell>], states: &mut [Cell]) {
    let &MomentStates { mean, squares, count } = moments;
    let is = |cell: &Cell, number: f64| cell.error == 0.0 && cell.value.as_f64() == number;
    if !elements.iter().all(|element| is(&element[squares], 0.0) && is(&element[count], 1.0)) {
        return;
    }
    let has_nan = elements.iter().any(|element| element[mean].value.as_f64().is_nan());
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
        // The mean is NaN by both then. Squared deviations may be 0 by a lambda, of a single element.
        let is_known = has_nan && place != squares;
        if cell.value.dtype() == dtype && !is_known {
            cell.error = sure(cell.error.max(distance(cell, value, bound) + bound));
        }
    }
}

/// How far a state may be from the built-in fold's value: if both are numbers, no further than their bounds.
fn distance(state: &Cell, value: f64, bound: f64) -> f64 {
    let own = state.value.as_f64();
    match own.is_finite() && value.is_finite() {
        true => apart(value, own).min(state.error + bound),
        false => apart(value, own),
    }
}
