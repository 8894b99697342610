//! States of a block field by field, those of neighbouring lines or of the places of one line: so vectors hold them.

/// The states of a block of a state whose fields are doubles, and their loads and stores.
macro_rules! states_of {
    ($(#[$doc:meta])* $states:ident of $state:ident { $($field:ident),+ }) => {
        $(#[$doc])*
        pub(super) struct $states {
            $($field: [f64; $crate::evaluate::block::BLOCK]),+
        }

        impl $states {
            /// A block of one state.
            fn new(state: $state) -> $states {
                $states { $($field: [state.$field; $crate::evaluate::block::BLOCK]),+ }
            }

            #[inline(always)]
            fn get(&self, k: usize) -> $state {
                $state { $($field: self.$field[k]),+ }
            }

            #[inline(always)]
            fn set(&mut self, k: usize, state: $state) {
                $(self.$field[k] = state.$field;)+
            }
        }
    };
}
pub(super) use states_of;

/// Neighbouring lines whose states lie field by field; what `results_of` gives of states after so many elements of the first,
/// and so many more from one to the next, are their results.
macro_rules! lines_in_vectors {
    ($monoid:ident, $states:ident) => {
        type Lines = $states;

        fn lines(&self) -> $states {
            $states::new(self.empty())
        }

        fn state(lines: &$states, line: usize) -> Self::State {
            lines.get(line)
        }

        fn advance(&self, lines: &mut $states, block: &Block<f64>, count: usize) {
            ops::vectorized!(monoid: $monoid = *self, lines: &'a mut $states = lines, count: usize = count.min(BLOCK),
                block: &'a Block<f64> = block => (), {
                for k in 0..count {
                    let mut state = lines.get(k);
                    monoid.take(&mut state, block.items[k], block.errors[k]);
                    lines.set(k, state);
                }
            });
        }

        fn step(
            &self,
            lines: &mut $states,
            block: &Block<f64>,
            [lines_count, count]: [usize; 2],
            columns: &mut [Block<f64>],
        ) {
            self.advance(lines, block, lines_count);
            self.results_of(lines, [count, 0], lines_count, columns);
        }
    };
}
pub(super) use lines_in_vectors;

/// The running results of a line: its states one after the other, then the results of all places at once.
macro_rules! line_in_vectors {
    ($states:ident) => {
        fn scan(
            &self,
            state: &mut Self::State,
            block: &Block<f64>,
            [before, count]: [usize; 2],
            columns: &mut [Block<f64>],
        ) {
            let mut states = $states::new(self.empty());
            for place in 0..count.min(BLOCK) {
                self.take(state, block.items[place], block.errors[place]);
                states.set(place, *state);
            }
            self.results_of(&states, [before + 1, 1], count, columns);
        }
    };
}
pub(super) use line_in_vectors;

/// The one result of each state of a block, where a monoid finishes without branches.
macro_rules! single_results {
    ($monoid:ident, $states:ident) => {
        impl $monoid {
            /// The results of the first states, of so many elements the first, and of so many more from one to the next.
            fn results_of(
                &self,
                states: &$states,
                from: [usize; 2],
                count: usize,
                columns: &mut [Block<f64>],
            ) {
                ops::vectorized!(monoid: $monoid = *self, states: &'a $states = states, from: [usize; 2] = from,
                    count: usize = count.min(BLOCK), column: &'a mut Block<f64> = &mut columns[0] => (), {
                    for k in 0..count {
                        let [result, ..] = monoid.finish(states.get(k), from[0] + from[1] * k);
                        (column.items[k], column.errors[k]) = result;
                    }
                });
            }
        }
    };
}
pub(super) use single_results;
