//! Folds inside a kernel: in registers where one result is wanted at a time, in scratch arrays where many are.

use ir::graph::{Form, Graph, Node, Val};
use ir::index::Expr;
use ir::kernel::{Access, Accumulator, Place, Scratch, Stmt, Value};
use ir::ops::Monoid;
use ir::{DType, Scalar};

use super::BufferSource;
use super::address::{row_major, whole};
use super::combine::PartialLayout;
use super::emitter::{Arithmetic, Emitter, Key};
use super::nest::Nest;
use crate::space::Axis;

/// A fold that is being accumulated.
#[derive(Clone)]
pub(super) struct OpenFold {
    pub fold: usize,
    /// How many outer loops stand around it; of no interest for inner folds.
    pub depth: usize,
    /// The row that it belongs to, of several that are walked together; `None` where they share it.
    row: Option<u32>,
    /// Whether it was opened inside the loop over lanes, so that each lane has a fold of its own.
    per_lane: bool,
    /// Whether lanes have taken elements into states that are opened outside of their loop.
    dealt: bool,
    storage: Storage,
}

impl OpenFold {
    /// The arrays of its states, if they are kept in arrays.
    fn arrays(&self) -> Option<&[Scratch]> {
        match &self.storage {
            Storage::Arrays(arrays, _) => Some(arrays),
            Storage::Registers(_) => None,
        }
    }

    /// The axes of these arrays.
    fn dims(&self) -> Option<&[Axis]> {
        match &self.storage {
            Storage::Arrays(_, dims) => Some(dims),
            Storage::Registers(_) => None,
        }
    }
}

/// Where the states of an open fold are kept.
#[derive(Clone)]
enum Storage {
    /// One accumulator a state.
    Registers(Vec<Accumulator>),
    /// One scratch array a state, over these axes.
    Arrays(Vec<Scratch>, Vec<Axis>),
}

/// The states of a fold or scan: how they begin, and how they take elements.
#[derive(Clone, Copy)]
pub(super) struct States<'a> {
    graph: &'a Graph,
    node: Node,
    monoid: &'a Monoid,
}

impl<'a> States<'a> {
    pub fn of(graph: &'a Graph, node: Node) -> States<'a> {
        match &graph.node(node).form {
            Form::Fold { monoid, .. } | Form::Scan { monoid, .. } => States { graph, node, monoid },
            _ => unreachable!("{node} is neither a fold nor a scan"),
        }
    }

    fn operands(&self) -> Vec<DType> {
        self.graph.node(self.node).operands.iter().map(|&operand| self.graph.dtype(operand)).collect()
    }

    fn dtypes(&self) -> Vec<DType> {
        self.monoid.state_dtypes(&self.operands()).to_vec()
    }

    pub fn identity(&self) -> Vec<Scalar> {
        self.monoid.identity(&self.operands()).to_vec()
    }

    pub fn step(&self, emitter: &mut Emitter<'_>, states: &[Value], element: &[Value]) -> Vec<Value> {
        self.monoid.step(&mut Arithmetic { emitter, dtype: self.operands()[0] }, states, element)
    }

    fn combine(&self, emitter: &mut Emitter<'_>, left: &[Value], right: &[Value]) -> Vec<Value> {
        self.monoid.combine(&mut Arithmetic { emitter, dtype: self.operands()[0] }, left, right)
    }

    /// Takes one more element into accumulators; gives what they then hold.
    pub fn advance(
        &self,
        emitter: &mut Emitter<'_>,
        accumulators: &[Accumulator],
        element: &[Value],
    ) -> Vec<Value> {
        let states: Vec<Value> = accumulators.iter().map(|&acc| emitter.get(acc)).collect();
        let new = self.step(emitter, &states, element);
        accumulators.iter().zip(&new).for_each(|(&acc, &state)| emitter.set(acc, state));
        new
    }
}

/// Accumulators that collect per lane what then goes into an array.
pub(super) struct Temps {
    fold: usize,
    row: Option<u32>,
    accumulators: Vec<Accumulator>,
}

/// States of an array between their load and their store: rows that are walked together share both.
pub(super) struct Held {
    fold: usize,
    row: Option<u32>,
    arrays: Vec<Scratch>,
    at: Expr,
    states: Vec<Value>,
}

impl<'a> Nest<'a> {
    fn states(&self, fold: usize) -> States<'a> {
        States::of(self.emitter.group.graph, self.witness().folds[fold].node)
    }

    /// Opens folds in the innermost body. Their results are kept per index of what they keep that no loop walks yet; arrays
    /// over the same axes are filled by one loop.
    pub fn open_folds(&mut self, folds: &[usize], depth: usize) {
        let mut alike: Vec<(Vec<Axis>, Vec<usize>)> = Vec::new();
        for &fold in folds {
            let dims = self.closed_loops(self.witness().folds[fold].kept_axes());
            match alike.iter_mut().find(|(known, _)| *known == dims) {
                Some((_, folds)) => folds.push(fold),
                None => alike.push((dims, vec![fold])),
            }
        }
        for (dims, folds) in &alike {
            self.each_row(|nest| nest.open_alike(folds, dims, depth));
        }
    }

    fn open_alike(&mut self, folds: &[usize], dims: &[Axis], depth: usize) {
        let per_lane = self.emitter.in_lanes();
        let storages: Vec<Storage> = if dims.is_empty() {
            folds.iter().map(|&fold| Storage::Registers(self.open_states(fold))).collect()
        } else {
            self.open_arrays(folds, dims)
        };
        let row = self.row();
        for (&fold, storage) in folds.iter().zip(storages) {
            self.open.push(OpenFold { fold, depth, row, per_lane, dealt: false, storage });
        }
    }

    /// Arrays over these axes for the states of folds, filled with what these begin with.
    fn open_arrays(&mut self, folds: &[usize], dims: &[Axis]) -> Vec<Storage> {
        let identities: Vec<Vec<Scalar>> = folds.iter().map(|&fold| self.states(fold).identity()).collect();
        let arrays: Vec<Vec<Scratch>> = identities
            .iter()
            .map(|identity| identity.iter().map(|init| self.array(init.dtype(), dims)).collect())
            .collect();
        self.barrier_of_turns();
        self.walk(dims, &mut |nest| {
            let at = nest.dim_index(dims);
            for (&array, &init) in arrays.iter().flatten().zip(identities.iter().flatten()) {
                let init = nest.emitter.constant(init);
                nest.emitter.store(Place::Scratch(array), at.clone(), init);
            }
        });
        self.barrier();
        arrays.into_iter().map(|arrays| Storage::Arrays(arrays, dims.to_vec())).collect()
    }

    /// A new scratch array over these axes.
    pub fn array(&mut self, dtype: DType, dims: &[Axis]) -> Scratch {
        let sizes = self.dim_sizes(dims);
        let len = sizes.iter().fold(Expr::one(), |n, size| n * size.clone());
        self.emitter.scratch(dtype, len)
    }

    /// Before an array is filled anew: lanes may still read what the turn before left there.
    pub fn barrier_of_turns(&mut self) {
        if self.emitter.in_loop() {
            self.barrier();
        }
    }

    /// One accumulator for each state of a fold, opened in the innermost body.
    pub fn open_states(&mut self, fold: usize) -> Vec<Accumulator> {
        let identity = self.states(fold).identity();
        identity.into_iter().map(|init| self.emitter.open_accumulator(init)).collect()
    }

    /// Sizes of the axes of an array: a block holds only its own chunk of an axis that blocks divide, and of one that is
    /// shorter no more than there is.
    fn dim_sizes(&mut self, dims: &[Axis]) -> Vec<Expr> {
        let group = self.emitter.group;
        dims.iter()
            .map(|&axis| match group.schedule.chunk(axis) {
                Some(1) => Expr::one(),
                chunk => {
                    let extent = self.emitter.size(&group.schedule.extent(group.witness, axis));
                    chunk.map_or(extent.clone(), |chunk| Expr::min(&Expr::constant(chunk as i64), &extent))
                }
            })
            .collect()
    }

    /// The position in an array over `dims` at the open loops.
    pub fn dim_index(&mut self, dims: &[Axis]) -> Expr {
        let sizes = self.dim_sizes(dims);
        let index: Vec<Expr> = dims
            .iter()
            .map(|axis| {
                let var = self.turn(*axis);
                self.chunks.get(axis).map_or(var.clone(), |(begin, ..)| var - begin.clone())
            })
            .collect();
        row_major(&index, &sizes)
    }

    pub fn combine(&mut self, fold: usize, left: &[Value], right: &[Value]) -> Vec<Value> {
        self.states(fold).combine(&mut self.emitter, left, right)
    }

    /// Accumulators outside the loop over lanes, for a fold into an array that the lanes would share.
    pub fn open_lane_temps(&mut self, fold: usize, lane: Axis, temps: &mut Vec<Temps>) {
        let shared = self.array_dims(fold).is_some_and(|dims| !dims.contains(&lane));
        let row = self.opened(fold).and_then(|open| self.row_of(open));
        if shared && !temps.iter().any(|temps| temps.fold == fold && temps.row == row) {
            temps.push(Temps { fold, row, accumulators: self.open_states(fold) });
        }
    }

    /// The open fold of this number: that of the row, or the one that all rows share.
    fn opened(&self, fold: usize) -> Option<&OpenFold> {
        self.open.iter().find(|open| open.fold == fold && (open.row.is_none() || open.row == self.row()))
    }

    /// The row whose states an open fold has where the loops stand: rows share a fold that was opened before them, unless
    /// its array is over them.
    fn row_of(&self, open: &OpenFold) -> Option<u32> {
        match &open.storage {
            Storage::Arrays(_, dims) => open.row.or_else(|| self.row_along(dims)),
            Storage::Registers(_) => open.row,
        }
    }

    /// The axes of the arrays that an open fold is accumulated in.
    pub fn array_dims(&self, fold: usize) -> Option<&[Axis]> {
        self.opened(fold)?.dims()
    }

    /// Adds what the lanes collected to the array.
    pub fn close_temps(&mut self, temps: &Temps) {
        self.at_row(temps.row, |nest| nest.add_temps(temps));
    }

    fn add_temps(&mut self, temps: &Temps) {
        let collected = self.reduce(temps.fold, &temps.accumulators);
        let open = self.opened(temps.fold).expect("closed after its temps").clone();
        let Storage::Arrays(arrays, dims) = &open.storage else { unreachable!("temps feed arrays") };
        let at = self.dim_index(dims);
        let old: Vec<Value> =
            arrays.iter().map(|&array| self.emitter.load_scratch(array, at.clone())).collect();
        let new = self.combine(temps.fold, &old, &collected);
        self.replace(arrays, &at, &new);
    }

    /// Stores new states; where all lanes hold the same, none may store before all have loaded.
    fn replace(&mut self, arrays: &[Scratch], at: &Expr, states: &[Value]) {
        self.barrier();
        for (&array, &state) in arrays.iter().zip(states) {
            self.emitter.store(Place::Scratch(array), at.clone(), state);
        }
        self.barrier();
    }

    pub fn reduce(&mut self, fold: usize, accumulators: &[Accumulator]) -> Vec<Value> {
        let states = self.states(fold);
        let values: Vec<Value> =
            states.dtypes().into_iter().map(|dtype| self.emitter.value_here(dtype)).collect();
        self.emitter.push(Stmt::Reduce {
            values: values.clone(),
            monoid: states.monoid.clone(),
            accumulators: accumulators.to_vec(),
        });
        values
    }

    /// The operands of a fold or scan where the loops stand.
    pub fn element(&mut self, node: Node) -> Vec<Value> {
        let group = self.emitter.group;
        let operands = group.graph.node(node).operands.iter().enumerate();
        operands
            .map(|(k, &operand)| {
                let axes = group.witness.space.axes_of_operand(group.graph, group.view, node, k);
                let index = self.index_of(&axes);
                self.pull(operand, &index, None)
            })
            .collect()
    }

    /// Takes the element at the open loops into a fold.
    pub fn feed(&mut self, fold: usize, temps: &[Temps], held: &mut Vec<Held>) {
        let states = self.states(fold);
        let element = self.element(self.witness().folds[fold].node);
        let in_lanes = self.emitter.in_lanes();
        let is_own = |open: &OpenFold| open.fold == fold && (open.row.is_none() || open.row == self.row());
        let place = self.open.iter().position(is_own).expect("opened before its stage");
        let row = self.row_of(&self.open[place]);
        let temps = temps.iter().find(|temps| temps.fold == fold && temps.row == row);
        let open = &mut self.open[place];
        open.dealt |= in_lanes && !open.per_lane && temps.is_none();
        let storage = open.storage.clone();
        match (temps.map(|temps| &temps.accumulators), &storage) {
            (Some(accumulators), _) | (None, Storage::Registers(accumulators)) => {
                states.advance(&mut self.emitter, accumulators, &element);
            }
            (None, Storage::Arrays(arrays, dims)) => {
                let known = held.iter().position(|held| held.fold == fold && held.row == row);
                let place = known.unwrap_or_else(|| {
                    held.push(self.hold(fold, row, arrays, dims));
                    held.len() - 1
                });
                held[place].states = states.step(&mut self.emitter, &held[place].states, &element);
            }
        }
    }

    /// Loads the states of a fold where the loops stand.
    fn hold(&mut self, fold: usize, row: Option<u32>, arrays: &[Scratch], dims: &[Axis]) -> Held {
        let at = self.dim_index(dims);
        let states = arrays.iter().map(|&array| self.emitter.load_scratch(array, at.clone())).collect();
        Held { fold, row, arrays: arrays.to_vec(), at, states }
    }

    /// Stores states where they were loaded.
    pub fn put_back(&mut self, held: Held) {
        self.replace(&held.arrays, &held.at, &held.states);
    }

    /// Closes folds: their results become known, or are left to the combine step, those in arrays over the same axes by one
    /// loop.
    pub fn close_folds(&mut self, closing: &[OpenFold]) {
        for alike in
            closing.chunk_by(|a, b| a.row == b.row && a.dims().is_some_and(|dims| b.dims() == Some(dims)))
        {
            self.at_row(alike[0].row, |nest| match &alike[0].storage {
                Storage::Registers(accumulators) => nest.close_registers(&alike[0], accumulators),
                Storage::Arrays(_, dims) => nest.close_arrays(alike, dims),
            });
        }
    }

    fn close_registers(&mut self, open: &OpenFold, accumulators: &[Accumulator]) {
        let states = match open.dealt {
            true => self.reduce(open.fold, accumulators),
            false => accumulators.iter().map(|&acc| self.emitter.get(acc)).collect(),
        };
        self.publish(open.fold, &states);
    }

    fn close_arrays(&mut self, closing: &[OpenFold], dims: &[Axis]) {
        self.barrier();
        let arrays = closing.iter().filter_map(|open| Some((open.fold, open.arrays()?)));
        let mut crossing: Vec<(usize, &[Scratch])> = Vec::new();
        for (fold, arrays) in arrays {
            self.closed.insert((fold, self.row()), (arrays.to_vec(), dims.to_vec()));
            if self.crosses(fold) {
                crossing.push((fold, arrays));
            }
        }
        if crossing.is_empty() {
            return;
        }
        self.walk(dims, &mut |nest| {
            let at = nest.dim_index(dims);
            for (fold, arrays) in &crossing {
                let states = arrays.iter().map(|&array| nest.emitter.load_scratch(array, at.clone()));
                let states: Vec<Value> = states.collect();
                nest.publish(*fold, &states);
            }
        });
    }

    /// Makes the results of a fold known at the open loops, or stores them as partial results.
    fn publish(&mut self, number: usize, states: &[Value]) {
        let fold = &self.witness().folds[number];
        let index = self.index_of(&fold.kept);
        if !self.crosses(number) {
            for (result, &state) in states.iter().enumerate() {
                let val = Val { node: fold.node, result: result as u8 };
                self.emitter.remember_here(Key::Pulled(val, index.clone(), None), state);
            }
            return;
        }
        let layout = PartialLayout::of(&self.emitter.group, number);
        let position = whole(&layout.position(self, &index));
        for (state, &value) in states.iter().enumerate() {
            let dtype = self.emitter.kernel.values[value];
            let source = BufferSource::Temporary(layout.first_temporary + state);
            let buffer =
                self.emitter.buffer(source, format!("{}_partial{state}", fold.node), dtype, Access::Write);
            self.emitter.store(Place::Buffer(buffer), position.clone(), value);
        }
    }

    /// The result of a closed fold that lies in scratch. One that is read from memory is read there, at any index, though
    /// the fold be computed for another of its results.
    pub fn stored_fold_result(&mut self, val: Val, index: &[Expr]) -> Option<Value> {
        if self.emitter.group.view.is_input(val) {
            return None;
        }
        let number = self.witness().fold_of(val.node)?;
        let (arrays, dims) = self.closed.get(&(number, self.row()))?.clone();
        let fold = &self.witness().folds[number];
        debug_assert_eq!(index, self.index_of(&fold.kept), "a fold is read where the loops stand");
        let at = self.dim_index(&dims);
        Some(self.emitter.load_scratch(arrays[val.result as usize], at))
    }
}
