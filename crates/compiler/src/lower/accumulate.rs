//! Folds inside a kernel: in registers where one result is wanted at a time, in scratch arrays where many are.

use ir::graph::{Form, Graph, Node, Val};
use ir::index::Expr;
use ir::kernel::{Access, Accumulator, Place, Scratch, Stmt, Value};
use ir::ops::Monoid;
use ir::{DType, Scalar};

use super::BufferSource;
use super::address::row_major;
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
    /// Whether it was opened inside the loop over lanes, so that each lane has a fold of its own.
    per_lane: bool,
    /// Whether lanes have taken elements into states that are opened outside of their loop.
    dealt: bool,
    storage: Storage,
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
    accumulators: Vec<Accumulator>,
}

impl<'a> Nest<'a> {
    fn states(&self, fold: usize) -> States<'a> {
        States::of(self.emitter.group.graph, self.witness().folds[fold].node)
    }

    /// Opens a fold in the innermost body; its results are kept per index of `dims`.
    pub fn open_fold(&mut self, fold: usize, dims: Vec<Axis>, depth: usize) {
        let identity = self.states(fold).identity();
        let per_lane = self.emitter.in_lanes();
        let storage = if dims.is_empty() {
            Storage::Registers(self.open_states(fold))
        } else {
            let arrays: Vec<Scratch> = identity.iter().map(|init| self.array(init.dtype(), &dims)).collect();
            self.barrier_of_turns();
            self.walk(&dims.clone(), &mut |nest| {
                let at = nest.dim_index(&dims);
                for (&array, &init) in arrays.iter().zip(&identity) {
                    let init = nest.emitter.constant(init);
                    nest.emitter.store(Place::Scratch(array), at.clone(), init);
                }
            });
            self.barrier();
            Storage::Arrays(arrays, dims)
        };
        self.open.push(OpenFold { fold, depth, per_lane, dealt: false, storage });
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

    /// Sizes of the axes of an array: a block holds only its own chunk of an axis that blocks divide.
    fn dim_sizes(&mut self, dims: &[Axis]) -> Vec<Expr> {
        let group = self.emitter.group;
        dims.iter()
            .map(|&axis| match group.schedule.chunk(axis) {
                Some(chunk) => Expr::constant(chunk as i64),
                None => self.emitter.size(&group.schedule.extent(group.witness, axis)),
            })
            .collect()
    }

    /// The position in an array over `dims` at the open loops.
    pub fn dim_index(&mut self, dims: &[Axis]) -> Expr {
        let sizes = self.dim_sizes(dims);
        let index: Vec<Expr> = dims
            .iter()
            .map(|axis| {
                let var = Expr::sym(self.vars[axis]);
                self.chunks.get(axis).map_or(var.clone(), |(begin, ..)| var - begin.clone())
            })
            .collect();
        row_major(&index, &sizes)
    }

    pub fn combine(&mut self, fold: usize, left: &[Value], right: &[Value]) -> Vec<Value> {
        self.states(fold).combine(&mut self.emitter, left, right)
    }

    /// Accumulators outside the loop over lanes, for a fold into an array that the lanes would share.
    pub fn open_lane_temps(&mut self, fold: usize, lane: Axis) -> Option<Temps> {
        let shared = self.array_dims(fold).is_some_and(|dims| !dims.contains(&lane));
        shared.then(|| Temps { fold, accumulators: self.open_states(fold) })
    }

    /// The axes of the arrays that an open fold is accumulated in.
    pub fn array_dims(&self, fold: usize) -> Option<&[Axis]> {
        let open = self.open.iter().find(|open| open.fold == fold)?;
        match &open.storage {
            Storage::Arrays(_, dims) => Some(dims),
            Storage::Registers(_) => None,
        }
    }

    /// Adds what the lanes collected to the array.
    pub fn close_temps(&mut self, temps: &Temps) {
        let collected = self.reduce(temps.fold, &temps.accumulators);
        let open =
            self.open.iter().find(|open| open.fold == temps.fold).expect("closed after its temps").clone();
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
    pub fn feed(&mut self, fold: usize, temps: &[Temps]) {
        let states = self.states(fold);
        let element = self.element(self.witness().folds[fold].node);
        let in_lanes = self.emitter.in_lanes();
        let open = self.open.iter_mut().find(|open| open.fold == fold).expect("opened before its stage");
        let temps = temps.iter().find(|temps| temps.fold == fold);
        open.dealt |= in_lanes && !open.per_lane && temps.is_none();
        match (temps.map(|temps| &temps.accumulators), &open.storage.clone()) {
            (Some(accumulators), _) | (None, Storage::Registers(accumulators)) => {
                states.advance(&mut self.emitter, accumulators, &element);
            }
            (None, Storage::Arrays(arrays, dims)) => {
                let at = self.dim_index(dims);
                let old: Vec<Value> =
                    arrays.iter().map(|&array| self.emitter.load_scratch(array, at.clone())).collect();
                let new = states.step(&mut self.emitter, &old, &element);
                self.replace(arrays, &at, &new);
            }
        }
    }

    /// Closes a fold: its results become known, or are left to the combine step.
    pub fn close_fold(&mut self, open: &OpenFold) {
        match &open.storage {
            Storage::Registers(accumulators) => {
                let states = match open.dealt {
                    true => self.reduce(open.fold, accumulators),
                    false => accumulators.iter().map(|&acc| self.emitter.get(acc)).collect(),
                };
                self.publish(open.fold, &states);
            }
            Storage::Arrays(arrays, dims) => {
                self.barrier();
                self.closed.insert(open.fold, (arrays.clone(), dims.clone()));
                if self.crosses(open.fold) {
                    let (arrays, dims) = (arrays.clone(), dims.clone());
                    self.walk(&dims.clone(), &mut |nest| {
                        let at = nest.dim_index(&dims);
                        let states: Vec<Value> = arrays
                            .iter()
                            .map(|&array| nest.emitter.load_scratch(array, at.clone()))
                            .collect();
                        nest.publish(open.fold, &states);
                    });
                }
            }
        }
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
        let position = layout.position(self, &index);
        for (state, &value) in states.iter().enumerate() {
            let dtype = self.emitter.kernel.values[value];
            let source = BufferSource::Temporary(layout.first_temporary + state);
            let buffer =
                self.emitter.buffer(source, format!("{}_partial{state}", fold.node), dtype, Access::Write);
            self.emitter.store(Place::Buffer(buffer), position.clone(), value);
        }
    }

    /// The result of a closed fold that lies in scratch.
    pub fn stored_fold_result(&mut self, val: Val, index: &[Expr]) -> Option<Value> {
        let number = self.witness().fold_of(val.node)?;
        let (arrays, dims) = self.closed.get(&number)?.clone();
        let fold = &self.witness().folds[number];
        debug_assert_eq!(index, self.index_of(&fold.kept), "a fold is read where the loops stand");
        let at = self.dim_index(&dims);
        Some(self.emitter.load_scratch(arrays[val.result as usize], at))
    }
}
