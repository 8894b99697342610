//! Moves of every kind, as long as any pays.

use super::between::between;
use super::exchange::exchange;
use super::join::join;
use super::keep::{keep, keep_statistics};
use super::shift::shift;
use super::state::State;
use super::transfer::transfer;

/// Makes moves as long as any pays: those that try each value of the fusion only when those of kept values and of whole
/// segments are done, as they take most of the steps.
pub(super) fn descend(state: &mut State<'_>) {
    exchange(state);
    let moves = [join, keep_statistics, transfer, keep, shift, between];
    while moves.iter().any(|improve| improve(state)) {
        exchange(state);
    }
}
