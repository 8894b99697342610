//! Values that lie in scratch: results of closed folds, and those that persist from earlier stages.

use index::Expr;
use ir::graph::Val;
use kernel::{Scratch, Value};
use rustc_hash::FxHashMap;

use super::ValueEmitter;
use crate::loops::OfRow;
use scheduler::schedule::narrow_value;
use space::Axis;

/// Values that a nest stores for later stages, of each row: the array and its axes.
pub(crate) type Persistent = Vec<(OfRow<Val>, (Scratch, Vec<Axis>))>;

/// Which values lie in scratch now.
#[derive(Default)]
pub(super) struct Kept {
    /// Those that persist from earlier stages, of each row.
    persistent: FxHashMap<OfRow<Val>, (Scratch, Vec<Axis>)>,
    /// Results of closed folds, of each row: one array a state, over these axes.
    folds: FxHashMap<OfRow<usize>, (Vec<Scratch>, Vec<Axis>)>,
}

impl ValueEmitter<'_> {
    /// Stores a persistent value at the index of the open loops; it is available when they have closed.
    pub fn keep(&mut self, number: usize, dims: &[Axis], kept: &mut Persistent) {
        let group = self.emitter.group;
        let val = group.schedule.persistent[number];
        let index = self.index_of(group.witness.space.axes_of(val));
        let held = self.held(val);
        let value = self.pull(held, &index, None);
        let key = (val, self.row());
        let known = kept.iter().find(|(known, _)| *known == key).map(|(_, (array, _))| *array);
        let array = known.unwrap_or_else(|| {
            let private = self.is_private(dims);
            let array = self.array(group.graph.dtype(held), dims, private);
            kept.push((key, (array, dims.to_vec())));
            array
        });
        let at = self.dim_index(dims);
        self.emitter.builder.store(array, at, value);
    }

    /// The value that scratch holds for a persistent value.
    fn held(&self, val: Val) -> Val {
        let group = self.emitter.group;
        if group.schedule.narrow { narrow_value(group.graph, group.view, val) } else { val }
    }

    /// The loops that kept values have closed: from now on stages read them.
    pub fn persist(&mut self, kept: Persistent) {
        self.kept.persistent.extend(kept);
    }

    /// Nothing persists any more.
    pub fn forget_persistent(&mut self) {
        self.kept.persistent.clear();
    }

    /// Whether a value persists, of the row that is emitted now.
    pub(super) fn persists(&self, val: Val) -> bool {
        self.kept.persistent.contains_key(&(val, self.row()))
    }

    /// A value that persists from an earlier stage, if this is its index at the open loops.
    pub(super) fn persistent_value(&mut self, val: Val, index: &[Expr]) -> Option<Value> {
        let (array, dims) = self.kept.persistent.get(&(val, self.row()))?.clone();
        let group = self.emitter.group;
        let axes = group.witness.space.axes_of(val);
        self.stands_at(axes, index).then(|| {
            let at = self.dim_index(&dims);
            let value = self.emitter.builder.load(array, at);
            self.emitter.cast(value, group.graph.dtype(val))
        })
    }

    /// Results of a fold lie in these arrays over these axes, for the row that is emitted now.
    pub fn keep_fold(&mut self, fold: usize, arrays: Vec<Scratch>, dims: &[Axis]) {
        let key = (fold, self.row());
        self.kept.folds.insert(key, (arrays, dims.to_vec()));
    }

    /// The result of a closed fold that lies in scratch. A result that is read from memory is read there, at any index, even
    /// if the fold is computed for another of its results.
    pub(super) fn stored_fold_result(&mut self, val: Val, index: &[Expr]) -> Option<Value> {
        if self.emitter.group.view.is_input(val) {
            return None;
        }
        let number = self.witness().fold_of(val.node)?;
        let (arrays, dims) = self.kept.folds.get(&(number, self.row()))?.clone();
        let fold = &self.witness().folds[number];
        debug_assert_eq!(index, self.index_of(&fold.kept), "a fold is read where the loops stand");
        let at = self.dim_index(&dims);
        Some(self.emitter.builder.load(arrays[val.result as usize], at))
    }
}
