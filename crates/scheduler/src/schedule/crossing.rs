//! Folds that cross blocks: blocks divide the axes that they reduce, so that a combine step finishes them.

use super::Schedule;
use crate::legal::{Fold, Witness};
use space::Axis;

impl Schedule {
    /// The axes that blocks divide among those that a fold reduces, outermost first.
    pub fn divided(&self, fold: &Fold) -> Vec<Axis> {
        let reduced = self.loops_of(fold.reduced.iter().copied());
        self.blocks.iter().map(|(axis, _)| *axis).filter(|axis| reduced.contains(axis)).collect()
    }

    /// Whether blocks divide axes that a terminal fold reduces.
    pub fn crosses(&self, fold: &Fold) -> bool {
        fold.terminal && !self.divided(fold).is_empty()
    }

    /// The numbers of the folds that cross blocks, grouped by the combine step that finishes them: those of a group reduce
    /// and keep the same axes, those of size 1 aside.
    pub fn combine_steps(&self, witness: &Witness) -> Vec<Vec<usize>> {
        let axes = |fold: &Fold| (fold.kept_axes().collect::<Vec<Axis>>(), self.divided(fold));
        let mut steps: Vec<Vec<usize>> = Vec::new();
        for (number, fold) in witness.folds.iter().enumerate().filter(|(_, fold)| self.crosses(fold)) {
            match steps.iter_mut().find(|step| axes(&witness.folds[step[0]]) == axes(fold)) {
                Some(step) => step.push(number),
                None => steps.push(vec![number]),
            }
        }
        steps
    }
}
