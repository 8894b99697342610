//! The meaning of a kernel: runs it on memory, statement by statement. Takes any kernel and sizes, never panics on them;
//! gives the buffers as the kernel leaves them, or the first fault. Slow and exact: a reference for tests, not a way to run
//! kernels.
//!
//! * Blocks run one after the other in an order drawn from a seed. Lanes of a block run one after the other through each
//!   loop over lanes, in a chosen order; since barriers stand in uniform code only, no other interleaving is
//!   distinguishable.
//! * A lane whose iteration is past the end of the loop does nothing and keeps its accumulators; where trip counts are
//!   declared equal, there is no such lane.
//! * Uniform code runs once per block. Accumulators that it opens or sets apply to the copies of all lanes.
//! * Scalar ops are those of the op table, rounded to the dtype of the result at each statement. Code generators may leave a
//!   product unrounded if it is only added to a sum in accumulators or scratch.
//! * `reduce` combines the lanes' copies in trees: within each warp, for stride = warp/2, warp/4, … 1, lane `l` below the
//!   stride takes `combine(l, l + stride)`; then the results of the warps in the same way. Code generators keep this order,
//!   so the bits are the same everywhere.
//! * A launch for which an assumption of the kernel does not hold is a fault. Alignment is not: memory has no addresses here.
//! * A load whose guard is false gives zero; its index is not evaluated.
//! * An element of a private array that two lanes access is a race, whatever barriers there are between them.
//! * An element that is fetched is in flight until an `await` completes its group: an access to its place is a fault, and so
//!   is the end of a block with elements in flight.
//! * A `fault` lowers a word to the value reported, atomically, so the result does not depend on the order of lanes and
//!   blocks.
//!
//! Faults are in [`Fault`]; `race.rs` defines races.

mod access;
mod fault;
mod fetches;
mod global;
mod memory;
mod order;
mod race;
mod warps;

pub use fault::{Fault, Location};
pub use memory::DenseMemory;
pub use order::LaneOrder;
pub use warps::{Needed, WarpCounts, warp_counts};

use cranelift_entity::{PrimaryMap, SecondaryMap};
use index::{EvalError, Expr, Sym};
use kernel::uniformity::per_lane;
use kernel::{Accumulator, Contractions, Kernel, Loop, LoopKind, Scratch, Stmt, Value, print, verify};
use ops::combine::combine;
use ops::{DType, Monoid, Scalar, ScalarOp};

use fetches::Fetches;
use global::Global;
use order::Order;
use race::{Agent, Shadow};
use warps::Observer;

/// The most scratch elements of a block, so that a wrong length is a fault and does not exhaust memory.
const MAX_SCRATCH: u64 = 1 << 24;

/// Options of a run.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Draws the order of blocks.
    pub seed: u64,
    pub lanes: LaneOrder,
    /// The most statements, iterations and scratch elements that all blocks together may take.
    pub step_limit: u64,
    /// Whether steps of folds take products unrounded, as texts of C do.
    pub contracts: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { seed: 0, lanes: LaneOrder::Forward, step_limit: 1 << 30, contracts: false }
    }
}

/// Runs all blocks. `args` are the kernel's arguments, `buffers` its buffers, both in order.
///
/// # Errors
/// The first [`Fault`]; the buffers then hold what was stored before it.
pub fn interpret(
    kernel: &Kernel,
    args: &[i64],
    buffers: &mut [DenseMemory],
    options: &Options,
) -> Result<(), Fault> {
    verify(kernel)?;
    check_call(kernel, args, buffers)?;
    let mut run = Run::new(kernel, args, Global::given(buffers), options);
    let blocks = run.evaluate(&kernel.blocks).map_err(|source| Fault::Index {
        statement: format!("blocks {}", print::index(kernel, &kernel.blocks)),
        source,
    })?;
    for block in Order::shuffled(u64::try_from(blocks).unwrap_or(0), options.seed) {
        run.block(block as i64)?;
    }
    Ok(())
}

fn check_call(kernel: &Kernel, args: &[i64], buffers: &[DenseMemory]) -> Result<(), Fault> {
    if args.len() != kernel.arguments.len() {
        return Err(Fault::Arguments { expected: kernel.arguments.len(), given: args.len() });
    }
    if buffers.len() != kernel.buffers.len() {
        return Err(Fault::Buffers { expected: kernel.buffers.len(), given: buffers.len() });
    }
    for assumption in &kernel.assumptions {
        let place = kernel.arguments.iter().position(|&argument| argument == assumption.symbol());
        let given = args[place.expect("a verified kernel assumes of arguments")];
        if !assumption.holds(given) {
            return Err(Fault::Assumption { assumed: print::assumption(kernel, *assumption), given });
        }
    }
    for ((buffer, decl), memory) in kernel.buffers.iter().zip(buffers) {
        if decl.dtype != memory.dtype() {
            return Err(Fault::BufferDType { buffer, expected: decl.dtype, given: memory.dtype() });
        }
    }
    Ok(())
}

/// A scratch array with the history of each element.
struct ScratchArray {
    memory: DenseMemory,
    shadow: Shadow,
}

/// The state of a run.
struct Run<'k, 'm> {
    kernel: &'k Kernel,
    global: Global<'m>,
    /// Counts accesses, if present.
    observer: Option<Observer>,
    options: Options,
    contractions: Contractions,
    steps_left: u64,
    symbols: SecondaryMap<Sym, Option<i64>>,
    values: PrimaryMap<Value, Scalar>,
    per_lane: SecondaryMap<Accumulator, bool>,
    accumulators: PrimaryMap<Accumulator, Vec<Scalar>>,
    scratch: PrimaryMap<Scratch, ScratchArray>,
    fetches: Fetches,
    block: i64,
    /// Counts barriers and blocks.
    epoch: u64,
}

impl<'k, 'm> Run<'k, 'm> {
    fn new(kernel: &'k Kernel, args: &[i64], global: Global<'m>, options: &Options) -> Self {
        let per_lane = per_lane(kernel);
        let copies = |accumulator| if per_lane[accumulator] { kernel.lanes as usize } else { 1 };
        let accumulators =
            kernel.accumulators.iter().map(|(id, &dtype)| vec![Scalar::zero(dtype); copies(id)]).collect();
        let mut symbols = SecondaryMap::new();
        for (&symbol, &arg) in kernel.arguments.iter().zip(args) {
            symbols[symbol] = Some(arg);
        }
        Self {
            kernel,
            global,
            observer: None,
            options: *options,
            contractions: match options.contracts {
                true => Contractions::of_lone_products(kernel),
                false => Contractions::default(),
            },
            steps_left: options.step_limit,
            symbols,
            values: kernel.values.values().map(|&dtype| Scalar::zero(dtype)).collect(),
            accumulators,
            per_lane,
            scratch: PrimaryMap::new(),
            fetches: Fetches::default(),
            block: 0,
            epoch: 0,
        }
    }

    fn block(&mut self, block: i64) -> Result<(), Fault> {
        self.step()?;
        self.block = block;
        self.epoch += 1;
        self.symbols[self.kernel.block] = Some(block);
        self.fetches = Fetches::default();
        self.fresh_scratch()?;
        self.body(&self.kernel.body, Agent::Uniform)?;
        match self.fetches.any() {
            Some((scratch, index)) => Err(Fault::NeverAwaited { block, scratch, index }),
            None => Ok(()),
        }
    }

    /// Makes a block's scratch memory, uninitialised.
    fn fresh_scratch(&mut self) -> Result<(), Fault> {
        self.scratch.clear();
        let mut room = MAX_SCRATCH.min(self.steps_left);
        for (scratch, decl) in &self.kernel.scratch {
            let len = self.evaluate(&decl.len).map_err(|source| Fault::Index {
                statement: format!(
                    "scratch {scratch}: {}[{}]",
                    decl.dtype,
                    print::index(self.kernel, &decl.len)
                ),
                source,
            })?;
            let affordable = u64::try_from(len).ok().filter(|&len| len <= room);
            let elements = affordable.ok_or(Fault::ScratchLength { scratch, len })?;
            room -= elements;
            self.steps_left -= elements;
            let memory = DenseMemory::zeros(decl.dtype, elements as usize);
            let shadow = Shadow::new(elements as usize, self.kernel.lanes);
            self.scratch.push(ScratchArray { memory, shadow });
        }
        Ok(())
    }

    fn body(&mut self, body: &'k [Stmt], agent: Agent) -> Result<(), Fault> {
        body.iter().try_for_each(|statement| self.statement(statement, agent))
    }

    fn statement(&mut self, statement: &'k Stmt, agent: Agent) -> Result<(), Fault> {
        self.step()?;
        match statement {
            Stmt::Apply { value, op, args } => {
                let contracted = self
                    .contractions
                    .step(*value)
                    .map(|step| [step.factors[0], step.factors[1], step.before]);
                let (op, args) = match &contracted {
                    Some(args) => (ScalarOp::MulAdd, &args[..]),
                    None => (*op, &args[..]),
                };
                let args: Vec<Scalar> = args.iter().map(|&arg| self.values[arg]).collect();
                self.values[*value] = op.of_scalars(&args).expect("a verified op has a meaning");
            }
            Stmt::Cast { value, arg } => {
                self.values[*value] = self.values[*arg].cast(self.kernel.values[*value]);
            }
            Stmt::Const { value, constant } => self.values[*value] = *constant,
            Stmt::Index { value, index } => {
                let index = self.index(index, statement)?;
                self.values[*value] = Scalar::from_i64(DType::I64, index);
            }
            Stmt::Bind { symbol, value } => {
                self.symbols[*symbol] = Some(self.values[*value].as_i64());
            }
            Stmt::Load { value, place, index, guard } => {
                self.observe(statement, agent, *place, index, *guard)?;
                self.values[*value] = if self.allows(*guard) {
                    self.load(*place, index, agent, statement)?
                } else {
                    Scalar::zero(self.kernel.values[*value])
                };
            }
            Stmt::Store { place, index, value, guard } => {
                self.observe(statement, agent, *place, index, *guard)?;
                if self.allows(*guard) {
                    self.store(*place, index, self.values[*value], agent, statement)?;
                }
            }
            Stmt::Prefetch { .. } => {}
            Stmt::Fetch { scratch, index, buffer, from } => {
                self.observe(statement, agent, (*buffer).into(), from, None)?;
                let element = self.load((*buffer).into(), from, agent, statement)?;
                self.store((*scratch).into(), index, element, agent, statement)?;
                self.fetches.add(*scratch, self.index(index, statement)?);
            }
            Stmt::Await { pending } => self.fetches.complete(*pending),
            Stmt::Fault { buffer, word, value, condition } => {
                if self.values[*condition].as_bool() {
                    self.report(*buffer, *word, self.values[*value], agent, statement)?;
                }
            }
            Stmt::Open { accumulator, init: value } | Stmt::Set { accumulator, value } => {
                self.set(*accumulator, self.values[*value], agent);
            }
            Stmt::Get { value, accumulator } => {
                let copy = self.copy(*accumulator, agent);
                self.values[*value] = self.accumulators[*accumulator][copy];
            }
            Stmt::Reduce { values, monoid, accumulators } => {
                let states = self.combine_lanes(values, monoid, accumulators);
                values.iter().zip(states).for_each(|(&value, state)| self.values[value] = state);
            }
            Stmt::For(for_loop) => self.for_loop(for_loop, agent, statement)?,
            Stmt::Barrier => self.epoch += 1,
        }
        Ok(())
    }

    fn for_loop(&mut self, for_loop: &'k Loop, agent: Agent, statement: &Stmt) -> Result<(), Fault> {
        let (begin, end) = (self.index(&for_loop.begin, statement)?, self.index(&for_loop.end, statement)?);
        match for_loop.kind {
            LoopKind::Serial | LoopKind::Remainder | LoopKind::Transpose => {
                self.stride(for_loop, begin, end, 1, agent)
            }
            LoopKind::Lanes | LoopKind::ExactLanes => {
                let lanes = self.kernel.lanes;
                let strip = i64::from(lanes) * i64::from(for_loop.width);
                let uneven = begin < end && (i128::from(end) - i128::from(begin)) % i128::from(strip) != 0;
                if for_loop.kind == LoopKind::ExactLanes && uneven {
                    let statement = print::statement(self.kernel, statement);
                    return Err(Fault::Uneven { statement, begin, end, lanes });
                }
                let width = i64::from(for_loop.width);
                self.observer.iter_mut().for_each(|observer| observer.enter(for_loop));
                self.options.lanes.of(lanes.into()).try_for_each(|lane| {
                    match begin.checked_add(width * lane as i64) {
                        Some(first) => self.stride(for_loop, first, end, strip, Agent::Lane(lane as u32)),
                        None => Ok(()),
                    }
                })?;
                self.observer.iter_mut().for_each(|observer| observer.leave(lanes));
                Ok(())
            }
        }
    }

    /// The iterations of one agent: `first` and the neighbours that it takes at a time, those from `first + stride` on, …,
    /// below `end`.
    fn stride(
        &mut self,
        for_loop: &'k Loop,
        first: i64,
        end: i64,
        stride: i64,
        agent: Agent,
    ) -> Result<(), Fault> {
        let mut begin = first;
        while begin < end {
            for iteration in begin..end.min(begin.saturating_add(for_loop.width.into())) {
                self.step()?;
                if let (Some(observer), Agent::Lane(lane), true) =
                    (&mut self.observer, agent, for_loop.kind.is_over_lanes())
                {
                    observer.iterate(lane);
                }
                self.symbols[for_loop.var] = Some(iteration);
                self.body(&for_loop.body, agent)?;
            }
            let Some(next) = begin.checked_add(stride) else { break };
            begin = next;
        }
        Ok(())
    }

    fn set(&mut self, accumulator: Accumulator, element: Scalar, agent: Agent) {
        let copy = self.copy(accumulator, agent);
        match agent {
            Agent::Lane(_) => self.accumulators[accumulator][copy] = element,
            Agent::Uniform => self.accumulators[accumulator].fill(element),
        }
    }

    fn copy(&self, accumulator: Accumulator, agent: Agent) -> usize {
        match agent {
            Agent::Lane(lane) if self.per_lane[accumulator] => lane as usize,
            _ => 0,
        }
    }

    /// One scalar per state, of all lanes' copies.
    fn combine_lanes(&self, values: &[Value], monoid: &Monoid, accumulators: &[Accumulator]) -> Vec<Scalar> {
        let lanes = self.kernel.lanes as usize;
        let copy = |lane: usize, accumulator: Accumulator, value: Value| {
            self.accumulators[accumulator][lane].cast(self.kernel.values[value])
        };
        let state =
            |lane: usize| accumulators.iter().zip(values).map(|(&a, &value)| copy(lane, a, value)).collect();
        // Places within a warp first: halves of this order are halves of every warp, and at last halves of the warps.
        let warp = self.kernel.warp as usize;
        let places = (0..warp).flat_map(|place| (0..lanes / warp).map(move |number| number * warp + place));
        let mut states: Vec<Vec<Scalar>> = places.map(state).collect();
        while states.len() > 1 {
            let upper = states.split_off(states.len() / 2);
            states = states
                .iter()
                .zip(&upper)
                .map(|(low, high)| combine(monoid, low, high))
                .collect::<Option<_>>()
                .expect("a verified reduce has a meaning");
        }
        states.swap_remove(0)
    }

    /// The epoch of accesses to an array: barriers do not order those to one that is private.
    fn epoch_of(&self, scratch: Scratch) -> u64 {
        if self.kernel.scratch[scratch].private { 0 } else { self.epoch }
    }

    fn allows(&self, guard: Option<Value>) -> bool {
        guard.is_none_or(|guard| self.values[guard].as_bool())
    }

    fn index(&self, index: &Expr, statement: &Stmt) -> Result<i64, Fault> {
        let statement = || print::statement(self.kernel, statement);
        self.evaluate(index).map_err(|source| Fault::Index { statement: statement(), source })
    }

    fn evaluate(&self, expr: &Expr) -> Result<i64, EvalError> {
        expr.eval(&|symbol| self.symbols[symbol])
    }

    fn step(&mut self) -> Result<(), Fault> {
        let limit = Fault::StepLimit { limit: self.options.step_limit };
        self.steps_left = self.steps_left.checked_sub(1).ok_or(limit)?;
        Ok(())
    }
}
