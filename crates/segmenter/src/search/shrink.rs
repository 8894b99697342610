//! Lower memory peaks, at any cost in time: the order in which segments need little memory, and moves that remove values in
//! memory at the peak. A value is dropped, replaced by others, or made by its own segment.

use ir::graph::Val;

use super::MIN_GAIN;
use super::exchange;
use super::pricing::Price;
use super::state::{Change, State};
use crate::memory::Lifetimes;
use crate::segmentation::Segmentation;

/// The segments in an order with a low memory peak, and its bytes.
pub(super) fn in_memory_order(state: &State<'_>) -> (Segmentation, u64) {
    let segmentation = state.segmentation();
    let lifetimes = lifetimes(state);
    let order = lifetimes.order();
    let segments = order.iter().map(|&place| segmentation.segments[place].clone()).collect();
    (Segmentation::new(segments), lifetimes.peak(&order))
}

/// The bytes in memory at the peak.
pub(super) fn peak_bytes(state: &State<'_>) -> u64 {
    let lifetimes = lifetimes(state);
    lifetimes.peak(&lifetimes.order())
}

fn lifetimes(state: &State<'_>) -> Lifetimes {
    let places = state.in_order();
    let views = places.iter().map(|&place| state.segments[place].view(&state.problem));
    Lifetimes::of(state.problem.fusion, views, |val| state.pricing.amounts.of(val).bytes)
}

/// Makes a change if segments then take less time; for a tiny gain only if the memory peak does not rise.
pub(super) fn improve_in_memory(state: &mut State<'_>, change: Change) -> bool {
    let before = state.clone();
    if !state.improve(change) {
        return false;
    }
    let is_hardly_less = state.total().seconds > before.total().seconds * (1.0 - MIN_GAIN);
    let is_undone = is_hardly_less && peak_bytes(state) > peak_bytes(&before);
    if is_undone {
        *state = State { steps_left: state.steps_left, ..before };
    }
    !is_undone
}

/// Makes moves until the peak is within `limit` bytes, as long as any move lowers it.
pub(super) fn shrink(state: &mut State<'_>, limit: u64) {
    while state.steps_left > 0 && peak_bytes(state) > limit && shrink_once(state) {}
}

fn shrink_once(state: &mut State<'_>) -> bool {
    let lifetimes = lifetimes(state);
    let order = lifetimes.order();
    let peaks = lifetimes.peaks(&order);
    let peak = peaks.iter().copied().max().unwrap_or(0);
    let Some(place) = peaks.iter().position(|&bytes| bytes == peak) else { return false };
    let crowded = state.in_order()[order[place]];
    let mut passing: Vec<Val> = lifetimes.alive_at(&order, place);
    passing.retain(|&val| state.is_free(val));
    let made: Vec<Val> = state.segments[crowded].made.clone();
    passing.into_iter().any(|val| shrinks(state, peak, |state| drop_or_replace(state, val)))
        || made.into_iter().any(|val| shrinks(state, peak, |state| make_alone(state, crowded, val)))
}

/// Whether moves lower the peak; they are undone if they do not.
fn shrinks(state: &mut State<'_>, peak: u64, moves: impl Fn(&mut State<'_>) -> bool) -> bool {
    let mut other = state.clone();
    let is_less = moves(&mut other) && peak_bytes(&other) < peak;
    let steps = other.steps_left;
    if is_less {
        *state = other;
    }
    state.steps_left = steps;
    is_less
}

fn drop_or_replace(state: &mut State<'_>, val: Val) -> bool {
    let changes = [exchange::dropping(state, val), exchange::replacing(state, val)];
    changes.into_iter().flatten().any(|change| state.make_if(change, is_as_legal))
}

fn make_alone(state: &mut State<'_>, place: usize, val: Val) -> bool {
    let made = vec![state.without(place, val), state.with(state.segments.len(), &[val])];
    state.segments[place].made.len() > 1 && state.make_if(Change { made, ..Change::default() }, is_as_legal)
}

/// Whether no more segments are rejected.
fn is_as_legal(after: Price, before: Price) -> bool {
    after.rejected <= before.rejected
}
