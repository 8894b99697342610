//! Moves of every kind, as long as any pays.

use super::between::between;
use super::exchange::exchange;
use super::join::join;
use super::keep::{keep, keep_statistics};
use super::redivide::redivide;
use super::shift::shift;
use super::state::State;
use super::transfer::transfer;

/// Moves of one kind; they return whether any was made.
pub(super) type Move = fn(&mut State<'_>) -> bool;

/// The kinds of moves: those that try each value of the fusion are last, as they take most of the steps.
pub(super) const ALL: &[Move] = &[join, keep_statistics, transfer, redivide, keep, shift, between];

/// Those of few steps.
pub(super) const FIRST: &[Move] = &[join];

/// Makes moves as long as any pays, in `steps` at most and up to a state that `is_known`.
pub(super) fn descend(
    state: &mut State<'_>,
    moves: &[Move],
    steps: usize,
    mut is_known: impl FnMut(&State<'_>) -> bool,
) {
    let later = state.steps_left.saturating_sub(steps);
    state.steps_left -= later;
    exchange(state);
    while !is_known(state) && moves.iter().any(|improve| improve(state)) {
        exchange(state);
    }
    state.steps_left += later;
}
