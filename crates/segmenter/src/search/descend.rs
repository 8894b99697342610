//! Moves of every kind, as long as any pays.

use super::exchange::exchange;
use super::join::join;
use super::keep::keep;
use super::shift::shift;
use super::state::State;
use super::transfer::transfer;

/// Makes moves as long as any pays.
pub(super) fn descend(state: &mut State<'_>) {
    exchange(state);
    while join(state) || keep(state) || transfer(state) || shift(state) {
        exchange(state);
    }
}
