//! Folds inside a kernel: in registers where one result is wanted at a time, in scratch arrays where many are.

use ir::DType;
use ir::graph::{Form, Val};
use ir::index::Expr;
use ir::kernel::{Access, Accumulator, Place, Scratch, Stmt, Value};
use ir::ops::Monoid;

use super::BufferSource;
use super::address::row_major;
use super::combine::PartialLayout;
use super::emitter::{Arithmetic, Key};
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

/// Accumulators that collect per lane what then goes into an array.
pub(super) struct Temps {
    fold: usize,
    accumulators: Vec<Accumulator>,
}

impl Nest<'_> {
    fn monoid(&self, fold: usize) -> (Monoid, DType) {
        let graph = self.emitter.group.graph;
        let node = graph.node(self.witness().folds[fold].node);
        match &node.form {
            Form::Fold { monoid, .. } => (*monoid, graph.dtype(node.operands[0])),
            _ => unreachable!("a witness lists folds"),
        }
    }

    /// Opens a fold in the innermost body; its results are kept per index of `dims`.
    pub fn open_fold(&mut self, fold: usize, dims: Vec<Axis>, depth: usize) {
        let (monoid, element) = self.monoid(fold);
        let identity = monoid.identity(element);
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
        self.open.push(OpenFold { fold, depth, per_lane, storage });
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
        let (monoid, element) = self.monoid(fold);
        let identity = monoid.identity(element);
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

    fn step(&mut self, fold: usize, states: &[Value], element: Value) -> Vec<Value> {
        let (monoid, dtype) = self.monoid(fold);
        let params: Vec<Value> = states.iter().copied().chain([element]).collect();
        monoid.exprs().step.eval_all(&mut Arithmetic { emitter: &mut self.emitter, dtype }, &params)
    }

    pub fn combine(&mut self, fold: usize, left: &[Value], right: &[Value]) -> Vec<Value> {
        let (monoid, dtype) = self.monoid(fold);
        let params: Vec<Value> = left.iter().chain(right).copied().collect();
        monoid.exprs().combine.eval_all(&mut Arithmetic { emitter: &mut self.emitter, dtype }, &params)
    }

    /// Accumulators outside the loop over lanes, for a fold into an array that the lanes would share.
    pub fn open_lane_temps(&mut self, fold: usize, lane: Axis) -> Option<Temps> {
        let open = self.open.iter().find(|open| open.fold == fold)?;
        let Storage::Arrays(_, dims) = &open.storage else { return None };
        if dims.contains(&lane) {
            return None;
        }
        Some(Temps { fold, accumulators: self.open_states(fold) })
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
        let (monoid, element) = self.monoid(fold);
        let dtypes = monoid.state_dtypes(element);
        let values: Vec<Value> = dtypes.into_iter().map(|dtype| self.emitter.value_here(dtype)).collect();
        self.emitter.push(Stmt::Reduce {
            values: values.clone(),
            monoid,
            accumulators: accumulators.to_vec(),
        });
        values
    }

    /// Takes the element at the open loops into a fold.
    pub fn feed(&mut self, fold: usize, temps: &[Temps]) {
        let group = self.emitter.group;
        let node = group.witness.folds[fold].node;
        let axes = group.witness.space.axes_of_operand(group.graph, group.view, node, 0);
        let index = self.index_of(&axes);
        let element = self.pull(group.graph.node(node).operands[0], &index, None);
        let open = self.open.iter().find(|open| open.fold == fold).expect("opened before its stage").clone();
        let registers = match temps.iter().find(|temps| temps.fold == fold) {
            Some(temps) => Some(&temps.accumulators),
            None => match &open.storage {
                Storage::Registers(accumulators) => Some(accumulators),
                Storage::Arrays(..) => None,
            },
        };
        match (registers, &open.storage) {
            (Some(accumulators), _) => {
                let states: Vec<Value> = accumulators.iter().map(|&acc| self.emitter.get(acc)).collect();
                let new = self.step(fold, &states, element);
                accumulators.iter().zip(new).for_each(|(&acc, state)| self.emitter.set(acc, state));
            }
            (None, Storage::Arrays(arrays, dims)) => {
                let at = self.dim_index(dims);
                let states: Vec<Value> =
                    arrays.iter().map(|&array| self.emitter.load_scratch(array, at.clone())).collect();
                let new = self.step(fold, &states, element);
                self.replace(arrays, &at, &new);
            }
            (None, Storage::Registers(_)) => unreachable!("registers were found above"),
        }
    }

    /// Closes a fold: its results become known, or are left to the combine step.
    pub fn close_fold(&mut self, open: &OpenFold) {
        match &open.storage {
            Storage::Registers(accumulators) => {
                let states = if self.emitter.in_lanes() || (open.per_lane && !self.was_dealt(open.fold)) {
                    accumulators.iter().map(|&acc| self.emitter.get(acc)).collect()
                } else if self.was_dealt(open.fold) {
                    self.reduce(open.fold, accumulators)
                } else {
                    accumulators.iter().map(|&acc| self.emitter.get(acc)).collect()
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

    /// Whether a fold's elements are fed inside a loop over lanes that its result stands outside of.
    fn was_dealt(&self, fold: usize) -> bool {
        let schedule = self.emitter.group.schedule;
        let fold = &self.witness().folds[fold];
        if schedule.lanes_outside {
            return schedule.lane.is_some_and(|lane| !self.vars.contains_key(&lane));
        }
        let loops = schedule.loops_of(fold.domain());
        schedule.inner.iter().any(|axis| loops.contains(axis))
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
