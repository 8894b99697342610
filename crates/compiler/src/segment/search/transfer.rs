//! Values that another segment makes from then on: one that computes them anyway, in small fusions one
//! that reads the same tensors, or a new one.

use ir::graph::Val;

use super::state::{Change, State};

impl State<'_> {
    /// Tries to have each value made elsewhere; whether any is.
    pub(super) fn transfer(&mut self) -> bool {
        self.made()
            .into_iter()
            .filter(|&(place, val)| self.steps > 0 && self.try_transfer(place, val))
            .count()
            > 0
    }

    fn try_transfer(&mut self, place: usize, val: Val) -> bool {
        let is_alone = self.segments[place].made.len() == 1;
        let is_small = self.problem.is_small();
        let near = |other: &usize| {
            let segment = &self.segments[*other];
            *other != place
                && !segment.made.is_empty()
                && (segment.computes(val) || (is_small && self.read_alike(place, *other)))
        };
        let mut places: Vec<usize> = (0..self.segments.len()).filter(near).collect();
        if !is_alone {
            places.push(self.segments.len());
        }
        places.into_iter().any(|other| {
            let made = vec![self.without(place, val), self.with(other, &[val])];
            self.improve(Change { made, ..Change::default() })
        })
    }
}
