//! Folds are opened: registers or scratch arrays, with their initial values.

use kernel::Scratch;
use ops::Scalar;

use super::{Arrays, FoldEmitter, OpenFold, Storage};
use crate::loops::Walk;
use space::Axis;

impl FoldEmitter<'_> {
    /// Opens folds in the innermost body. Their results are kept for each index along kept axes that no open loop walks;
    /// arrays over the same axes are filled by one loop.
    pub fn open_folds(&mut self, folds: &[usize], depth: Option<usize>) {
        let mut alike: Vec<(Vec<Axis>, Vec<usize>)> = Vec::new();
        for &fold in folds {
            let dims = self.closed_loops(self.witness().folds[fold].kept_axes());
            match alike.iter_mut().find(|(known, _)| *known == dims) {
                Some((_, folds)) => folds.push(fold),
                None => alike.push((dims, vec![fold])),
            }
        }
        for (dims, folds) in &alike {
            self.each_row(|this| this.open_alike(folds, dims, depth));
        }
    }

    fn open_alike(&mut self, folds: &[usize], dims: &[Axis], depth: Option<usize>) {
        let per_lane = self.emitter.builder.in_lanes();
        let storages: Vec<Storage> = if dims.is_empty() {
            folds.iter().map(|&fold| Storage::Registers(self.open_totals(fold))).collect()
        } else {
            self.open_arrays(folds, dims)
        };
        let row = self.row();
        for (&fold, storage) in folds.iter().zip(storages) {
            self.open.push(OpenFold { fold, depth, row, per_lane, lane_mapped: false, storage });
        }
    }

    /// Arrays over these axes for the states of folds, filled with the initial values.
    fn open_arrays(&mut self, folds: &[usize], dims: &[Axis]) -> Vec<Storage> {
        let mut filled: Vec<(Scratch, Scalar)> = Vec::new();
        let mut opened = Vec::with_capacity(folds.len());
        for &fold in folds {
            opened.push(Storage::Arrays(self.open_array(fold, dims, &mut filled)));
        }
        self.iteration_barrier();
        self.walk(dims, &mut |this| {
            let at = this.dim_index(dims);
            for &(array, init) in &filled {
                let init = this.emitter.constant(init);
                this.emitter.builder.store(array, at.clone(), init);
            }
        });
        self.barrier();
        opened
    }

    /// Arrays of one fold, likewise.
    fn open_array(&mut self, fold: usize, dims: &[Axis], filled: &mut Vec<(Scratch, Scalar)>) -> Arrays {
        let states = self.states(fold);
        let blocks = self.arrays_of(states.identity(), dims, filled);
        let totals = self.is_long(fold).then(|| self.arrays_of(states.total_identity(), dims, filled));
        let collects = self.rows_together(fold) > 1;
        Arrays { dims: dims.to_vec(), blocks, totals, collects }
    }

    /// An array for each of these states, noted with its initial value.
    fn arrays_of(
        &mut self,
        identity: Vec<Scalar>,
        dims: &[Axis],
        filled: &mut Vec<(Scratch, Scalar)>,
    ) -> Vec<Scratch> {
        let private = self.is_private(dims);
        let array = |init: Scalar| {
            let array = self.array(init.dtype(), dims, private);
            filled.push((array, init));
            array
        };
        identity.into_iter().map(array).collect()
    }
}
