//! One value kept in the place of two that are kept in a row, of which the second is computed from the first: three segments
//! become two, with the boundary somewhere in the second.

use ir::graph::Val;

use super::state::{Change, State};

/// Tries the values that lie between two kept ones of a small fusion; returns whether any replaces both.
pub(super) fn between(state: &mut State<'_>) -> bool {
    state.improve_around_each(halves)
}

/// The changes that keep one value instead of this one and one that it is computed from.
fn halves(state: &State<'_>, last: Val) -> Vec<Change> {
    let Some(place) = state.places.maker(last).filter(|_| state.is_free(last)) else {
        return Vec::new();
    };
    let segment = &state.segments[place];
    let firsts = segment.inputs().iter().copied().filter(|&first| state.is_free(first));
    let made = firsts.filter_map(|first| Some((first, state.places.maker(first)?)));
    let graph = state.problem.graph;
    let middles = || segment.order().iter().flat_map(|&node| graph.results(node));
    let halves = made.flat_map(|(first, maker)| {
        let fits = move |&middle: &Val| middle != last && state.may_be_kept(middle);
        middles().filter(fits).map(move |middle| {
            let (maker, mut earlier) = state.without(maker, first);
            earlier.push(middle);
            Change {
                made: vec![(maker, earlier), state.without(place, last)],
                kept: vec![middle],
                dropped: vec![first, last],
            }
        })
    });
    halves.collect()
}
