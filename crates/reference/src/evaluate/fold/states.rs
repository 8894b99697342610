//! States of a stretch of places stored field by field, those of neighbouring lines or of the places of one line, so that
//! they vectorize and fit L1.

use super::{Reduction, STRETCH};

/// The states of a stretch, of a state whose fields are doubles, and their loads and stores.
macro_rules! states_of {
    ($(#[$doc:meta])* $states:ident of $state:ident by $monoid:ident { $($field:ident),+ }) => {
        $(#[$doc])*
        pub(super) struct $states {
            $($field: [f64; super::STRETCH]),+
        }

        impl $states {
            /// A stretch of one state.
            #[inline(always)]
            fn new(state: $state) -> $states {
                $states { $($field: [state.$field; super::STRETCH]),+ }
            }

            #[inline(always)]
            fn get(&self, k: usize) -> $state {
                $state { $($field: self.$field[k]),+ }
            }

            #[inline(always)]
            fn set(&mut self, k: usize, state: $state) {
                $(self.$field[k] = state.$field;)+
            }

            /// One more element of each.
            fn take(&mut self, monoid: &$monoid, items: &[f64], errors: &[f64]) {
                ops::vectorized!(monoid: $monoid = *monoid, states: &'a mut $states = self, items: &'a [f64] = items,
                    errors: &'a [f64] = errors => (), {
                    for k in 0..items.len().min(errors.len()).min(super::STRETCH) {
                        let mut state = states.get(k);
                        monoid.take(&mut state, items[k], errors[k]);
                        states.set(k, state);
                    }
                });
            }
        }
    };
}
pub(super) use states_of;

/// Neighbouring lines whose states lie field by field; what `results_of` gives of a stretch of states are their results.
macro_rules! lines_in_vectors {
    ($states:ident by $monoid:ident) => {
        type Lines = Vec<$states>;

        fn lines(&self) -> Vec<$states> {
            (0..super::BLOCK / super::STRETCH).map(|_| $states::new(self.empty())).collect()
        }

        fn state(lines: &Vec<$states>, line: usize) -> Self::State {
            lines[line / super::STRETCH].get(line % super::STRETCH)
        }

        fn advance(&self, lines: &mut Vec<$states>, block: &super::Block<f64>, count: usize) {
            for (states, places) in lines.iter_mut().zip(super::stretches(count)) {
                states.take(self, &block.items[places.clone()], &block.errors[places]);
            }
        }

        fn step(
            &self,
            lines: &mut Vec<$states>,
            block: &super::Block<f64>,
            [lines_count, count]: [usize; 2],
            columns: &mut [super::Block<f64>],
        ) {
            for (states, places) in lines.iter_mut().zip(super::stretches(lines_count)) {
                states.take(self, &block.items[places.clone()], &block.errors[places.clone()]);
                ops::vectorized!(monoid: $monoid = *self, states: &'a $states = states, count: usize = count,
                    places: std::ops::Range<usize> = places, columns: &'a mut [super::Block<f64>] = columns => (), {
                    monoid.results_of(states, [count, 0], places, columns);
                });
            }
        }
    };
}
pub(super) use lines_in_vectors;

/// The states after each of the next elements of a line, one after the other.
#[inline(always)]
pub(super) fn follow<R: Reduction<Item = f64>>(
    monoid: &R,
    state: &mut R::State,
    [items, errors]: [&[f64]; 2],
    mut set: impl FnMut(usize, R::State),
) {
    for (k, (&x, &error)) in items.iter().zip(errors).take(STRETCH).enumerate() {
        monoid.take(state, x, error);
        set(k, *state);
    }
}

/// Replaces elements of a stretch by each combined with what was before it, in several fields at once, as each waits for its
/// last element; returns the final values.
#[inline(always)]
pub(super) fn running<const N: usize>(
    mut fields: [&mut [f64; STRETCH]; N],
    count: usize,
    before: [f64; N],
    combine: impl Fn(f64, f64) -> f64,
) -> [f64; N] {
    let mut ends = before;
    for k in 0..count.min(STRETCH) {
        for (end, field) in ends.iter_mut().zip(&mut fields) {
            *end = combine(*end, field[k]);
            field[k] = *end;
        }
    }
    ends
}

/// Numbers combined in lanes, which do not wait for each other.
#[inline(always)]
pub(super) fn in_lanes(numbers: &[f64], neutral: f64, combine: impl Fn(f64, f64) -> f64) -> f64 {
    let (lanes, rest) = numbers.as_chunks::<8>();
    let lanes =
        lanes.iter().fold([neutral; 8], |all, lane| std::array::from_fn(|k| combine(all[k], lane[k])));
    lanes.iter().chain(rest).copied().fold(neutral, combine)
}

/// The running results of a line: the states of a stretch one after the other, as `follow` says, then the results of all its places at once.
macro_rules! line_in_vectors {
    ($states:ident of $state:ident by $monoid:ident) => {
        fn scan(
            &self,
            state: &mut Self::State,
            block: &super::Block<f64>,
            [before, count]: [usize; 2],
            columns: &mut [super::Block<f64>],
        ) {
            ops::vectorized!(monoid: $monoid = *self, state: &'a mut $state = state, block: &'a super::Block<f64> = block,
                before: usize = before, count: usize = count, columns: &'a mut [super::Block<f64>] = columns => (), {
                let mut states = $states::new($state::default());
                for places in super::stretches(count) {
                    let elements = [&block.items[places.clone()], &block.errors[places.clone()]];
                    monoid.follow(&mut states, state, elements);
                    monoid.results_of(&states, [before + places.start + 1, 1], places, columns);
                }
            });
        }
    };
}
pub(super) use line_in_vectors;

/// The one result of each state of a stretch, where a monoid finishes without branches.
macro_rules! single_results {
    ($monoid:ident, $states:ident) => {
        impl $monoid {
            /// The results of states to their places: the first of `from[0]` elements, each next of `from[1]` more.
            #[inline(always)]
            fn results_of(
                &self,
                states: &$states,
                from: [usize; 2],
                places: std::ops::Range<usize>,
                columns: &mut [super::Block<f64>],
            ) {
                let (items, errors) = columns[0].part(places);
                for k in 0..items.len().min(errors.len()).min(super::STRETCH) {
                    let [result, ..] = self.finish(states.get(k), from[0] + from[1] * k);
                    (items[k], errors[k]) = result;
                }
            }
        }
    };
}
pub(super) use single_results;
