//! Values that another segment makes from then on: one that computes them anyway, in small fusions one
//! that reads the same tensors, or a new one.

use ir::graph::Val;

use super::join;
use super::state::{Change, State};

/// Tries to have each value made elsewhere; whether any is.
pub(super) fn transfer(state: &mut State<'_>) -> bool {
    state
        .made()
        .into_iter()
        .filter(|&(place, val)| state.steps > 0 && try_transfer(state, place, val))
        .count()
        > 0
}

fn try_transfer(state: &mut State<'_>, place: usize, val: Val) -> bool {
    let is_alone = state.segments[place].made.len() == 1;
    let is_small = state.problem.is_small();
    let near = |other: &usize| {
        let segment = &state.segments[*other];
        *other != place
            && !segment.made.is_empty()
            && (segment.computes(val) || (is_small && join::read_alike(state, place, *other)))
    };
    let mut places: Vec<usize> = (0..state.segments.len()).filter(near).collect();
    if !is_alone {
        places.push(state.segments.len());
    }
    places.into_iter().any(|other| {
        let made = vec![state.without(place, val), state.with(other, &[val])];
        state.improve(Change { made, ..Change::default() })
    })
}
