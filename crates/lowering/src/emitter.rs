//! Each statement is emitted once, into the outermost open body where its operands are known.
//!
//! That hoists row constants out of column loops and makes them uniform. The `builder` writes what must stay in the
//! innermost body.

use cranelift_entity::EntityRef;
use index::{Expr, Facts, Prover, Sym};
use ir::graph::Val;
use kernel::{
    Access, Accumulator, Assumption, Buffer, ContiguousAccesses, Kernel, KernelBuilder, LoopKind, OpenBody,
    Place, Stmt, VECTOR_BYTES, Value, has_width,
};
use ops::{Arith, BodyArith, DType, Scalar, ScalarOp};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::{BufferSource, Group, KernelArgument, Lowered};
use scheduler::hints::ROW_MULTIPLE;
use target::gpu::MAX_REGISTER_ROW;

/// A computation that is done once per body.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    /// A constant.
    Constant(Scalar),
    /// An index expression as a value.
    Index(Expr),
    /// A primitive on values.
    Apply(ScalarOp, SmallVec<[Value; 3]>),
    /// A conversion.
    Cast(Value, DType),
    /// A value of the graph at an index, under a guard.
    Pulled(Val, Vec<Expr>, Option<Value>),
}

/// What is known in an open body.
#[derive(Default)]
struct Known {
    values: FxHashMap<Key, Value>,
    /// The symbols of values.
    bound: FxHashMap<Value, Sym>,
    /// The faults that are reported already: word, value, condition.
    faults: FxHashSet<(u32, Value, Value)>,
}

/// Bodies that are set aside.
pub(crate) struct Aside(Vec<OpenBody>, Vec<Known>);

/// How the lanes of a kernel's blocks work together: see [`Kernel`].
pub(crate) struct KernelLanes {
    pub lanes: u32,
    pub warp: u32,
    pub teams: u32,
    pub cluster: u32,
}

/// A kernel under construction.
pub(crate) struct Emitter<'a> {
    pub group: Group<'a>,
    /// Writes statements into the innermost open body.
    pub builder: KernelBuilder,
    arguments: Vec<KernelArgument>,
    /// The symbols of the arguments.
    symbols: FxHashMap<KernelArgument, Sym>,
    /// Sizes of the graph over the kernel's arguments, as far as they were asked for.
    known_sizes: FxHashMap<Expr, Expr>,
    buffers: Vec<BufferSource>,
    /// What is known in each body that is open, by its number.
    known: Vec<Known>,
    /// Divisors and upper bounds of the arguments that are sizes.
    sizes: Facts,
    /// That the arguments that are sizes are not negative.
    from_zero: Facts,
    /// The arguments in sizes that are simpler for what is known of them.
    simplified: FxHashSet<Sym>,
    /// Simplifies what is so anywhere, without any fact: copies of a statement are at much the same positions.
    pub anywhere: Prover,
}

impl<'a> Emitter<'a> {
    /// An emitter whose only open body is that of a block.
    pub fn new(group: &Group<'a>, name: &str, lanes: &KernelLanes) -> Emitter<'a> {
        let mut builder = KernelBuilder::new(name, lanes.lanes);
        let kernel = &mut builder.kernel;
        (kernel.warp, kernel.teams, kernel.cluster) = (lanes.warp, lanes.teams, lanes.cluster);
        Emitter {
            group: *group,
            builder,
            arguments: Vec::new(),
            symbols: FxHashMap::default(),
            known_sizes: FxHashMap::default(),
            buffers: Vec::new(),
            known: vec![Known::default()],
            sizes: Facts::new(),
            from_zero: Facts::new(),
            simplified: FxHashSet::default(),
            anywhere: Prover::default(),
        }
    }

    /// The finished kernel.
    pub fn finish(self) -> Lowered {
        let Emitter { builder, arguments, buffers, sizes, simplified, .. } = self;
        let mut kernel = builder.finish();
        if has_width(&kernel) {
            assume(&mut kernel, &sizes);
        }
        assume_multiples(&mut kernel, &sizes, &simplified);
        Lowered { kernel, arguments, buffers }
    }

    /// The i64 argument that holds something the caller knows.
    pub fn argument(&mut self, argument: KernelArgument) -> Expr {
        if let Some(&known) = self.symbols.get(&argument) {
            return Expr::sym(known);
        }
        let sym = self.builder.argument(&self.group.argument_name(&argument));
        if let KernelArgument::Size(size) = &argument {
            self.know(sym, size);
        }
        self.symbols.insert(argument.clone(), sym);
        self.arguments.push(argument);
        Expr::sym(sym)
    }

    /// Notes what is known about the argument for a size; of a known size only whether rows are whole vectors.
    fn know(&mut self, sym: Sym, size: &Expr) {
        let facts = self.group.view.facts();
        match size.as_sym() {
            Some(size) => {
                self.sizes.assume_multiple(&Expr::sym(sym), facts.multiple(size));
                let bounds = facts.bounds(&Expr::sym(size));
                self.sizes.assume_range(sym, None, bounds.hi().and_then(|most| i64::try_from(most).ok()));
                if bounds.lo().is_some_and(|lo| lo >= 0) {
                    self.from_zero.assume_range(sym, 0, None);
                }
            }
            None if size.as_const().is_some_and(|size| size % ROW_MULTIPLE == 0) => {
                self.sizes.assume_multiple(&Expr::sym(sym), ROW_MULTIPLE);
            }
            None => {}
        }
    }

    /// A size of the graph as an expression over the kernel's arguments.
    pub fn size(&mut self, size: &Expr) -> Expr {
        if let Some(known) = self.known_sizes.get(size) {
            return known.clone();
        }
        let known = self.over_arguments(size);
        self.known_sizes.insert(size.clone(), known.clone());
        known
    }

    /// A size of the graph over arguments, which are added where they are new.
    fn over_arguments(&mut self, size: &Expr) -> Expr {
        let given = size;
        let size = self.group.view.facts().normalize(given);
        if self.group.general && size.as_const().is_some_and(|size| size > 1) {
            return self.argument(KernelArgument::Size(size));
        }
        let symbols: FxHashMap<Sym, Expr> = size
            .symbols()
            .into_iter()
            .map(|sym| (sym, self.argument(KernelArgument::Size(Expr::sym(sym)))))
            .collect();
        if size != Facts::new().normalize(given) {
            self.simplified.extend(symbols.values().filter_map(Expr::as_sym));
        }
        size.substitute(&|sym| symbols.get(&sym).cloned())
    }

    /// The buffer for something that the caller passes.
    pub fn buffer(&mut self, source: BufferSource, dtype: DType, access: Access) -> Buffer {
        if let Some(place) = self.buffers.iter().position(|known| *known == source) {
            return Buffer::new(place);
        }
        self.buffers.push(source);
        self.builder.buffer(&self.group.buffer_name(source), dtype, access)
    }

    /// Opens a loop; what is emitted next goes into its body, or further out. The loop is `exact` where the lanes are proved
    /// to divide its trip count.
    pub fn open_loop(&mut self, name: &str, begin: Expr, end: Expr, kind: LoopKind) -> Sym {
        self.open_wide_loop(name, begin, end, kind, 1)
    }

    /// Opens a loop in which a lane takes `width` neighbours at a time.
    pub fn open_wide_loop(&mut self, name: &str, begin: Expr, end: Expr, kind: LoopKind, width: u32) -> Sym {
        let lanes = Expr::constant(i64::from(self.builder.kernel.lanes) * i64::from(width));
        let are_whole = || self.sizes.prove_divides(&lanes, &(end.clone() - begin.clone()));
        let kind = if kind == LoopKind::Lanes && are_whole() { LoopKind::ExactLanes } else { kind };
        self.known.push(Known::default());
        self.builder.open_loop(name, begin, end, kind, width)
    }

    /// Closes the innermost loop.
    pub fn close_loop(&mut self) {
        self.known.pop();
        self.builder.close_loop();
    }

    /// Whether a number is known to divide an expression.
    pub fn divides(&self, number: u32, expr: &Expr) -> bool {
        self.sizes.prove_divides(&Expr::constant(number.into()), expr)
    }

    /// Whether the first is at most the second by the ranges of non-negative sizes; no proof is searched for.
    pub fn is_at_most(&self, first: &Expr, second: &Expr) -> bool {
        self.from_zero.is_le_by_ranges(first, second)
    }

    /// Sets the bodies within `body` aside, so that what is emitted next runs before the loops that are open there.
    pub fn step_out(&mut self, body: usize) -> Aside {
        Aside(self.builder.step_out(body), self.known.split_off(body + 1))
    }

    /// Goes back to where [`step_out`](Self::step_out) left.
    pub fn step_in(&mut self, Aside(bodies, known): Aside) {
        self.builder.step_in(bodies);
        self.known.extend(known);
    }

    /// The value known under a key in an open body.
    pub fn known(&self, key: &Key) -> Option<Value> {
        self.known.iter().rev().find_map(|known| known.values.get(key).copied())
    }

    /// Makes a value known under a key as long as the innermost open body is open.
    pub fn remember_here(&mut self, key: Key, value: Value) {
        self.known[self.builder.innermost()].values.insert(key, value);
    }

    /// Makes a value known under a key as long as the value itself is.
    pub fn remember(&mut self, key: Key, value: Value) {
        let body = self.builder.body_of(&[value], &Expr::zero());
        self.known[body].values.insert(key, value);
    }

    /// The value of a key, computed once in the outermost body where these values and symbols are known.
    fn once(
        &mut self,
        key: Key,
        dtype: DType,
        (operands, index): (&[Value], &Expr),
        statement: impl FnOnce(Value) -> Stmt,
    ) -> Value {
        self.known(&key).unwrap_or_else(|| {
            let body = self.builder.body_of(operands, index);
            let value = self.builder.define_in(body, dtype, statement);
            self.known[body].values.insert(key, value);
            value
        })
    }

    /// A constant, once per kernel.
    pub fn constant(&mut self, constant: Scalar) -> Value {
        let stmt = |value| Stmt::Const { value, constant };
        self.once(Key::Constant(constant), constant.dtype(), (&[], &Expr::zero()), stmt)
    }

    /// An index expression as an i64 value.
    pub fn index(&mut self, index: &Expr) -> Value {
        if let Some(number) = index.as_const() {
            return self.constant(Scalar::from_i64(DType::I64, number));
        }
        let index = &self.defined(index);
        let stmt = |value| Stmt::Index { value, index: index.clone() };
        self.once(Key::Index(index.clone()), DType::I64, (&[], index), stmt)
    }

    /// An expression that has a value whatever the index of a gather is. A loop over an axis without elements never runs, so
    /// nothing in it divides by its size; but a gather from such an axis is still evaluated.
    fn defined(&self, index: &Expr) -> Expr {
        let is_bound =
            |sym: &Sym| self.known.iter().any(|known| known.bound.values().any(|bound| bound == sym));
        if !index.symbols().iter().any(is_bound) {
            return index.clone();
        }
        let facts = self.group.view.facts();
        index.map_divisors(&|divisor| {
            if facts.prove_lt(&Expr::zero(), &divisor) { divisor } else { Expr::max(&divisor, &Expr::one()) }
        })
    }

    /// An op on existing values, in the outermost body that has them all.
    pub fn apply(&mut self, op: ScalarOp, args: &[Value]) -> Value {
        let dtype = self.builder.result_dtype(op, args);
        let stmt = |value| Stmt::Apply { value, op, args: args.to_vec() };
        self.once(Key::Apply(op, SmallVec::from_slice(args)), dtype, (args, &Expr::zero()), stmt)
    }

    /// The value in another dtype; itself where it has that already.
    pub fn cast(&mut self, arg: Value, dtype: DType) -> Value {
        if self.builder.dtype(arg) == dtype {
            return arg;
        }
        let stmt = |value| Stmt::Cast { value, arg };
        self.once(Key::Cast(arg, dtype), dtype, (&[arg], &Expr::zero()), stmt)
    }

    /// A symbol for an i64 value, for index expressions, known where the value is.
    pub fn bind(&mut self, name: impl FnOnce() -> String, value: Value) -> Sym {
        let body = self.builder.body_of(&[value], &Expr::zero());
        let builder = &mut self.builder;
        *self.known[body].bound.entry(value).or_insert_with(|| builder.bind(&name(), value))
    }

    /// Reports a value in a fault word where a condition holds, in the outermost body where both are known.
    pub fn fault(&mut self, buffer: Buffer, word: u32, value: Value, condition: Value) {
        let body = self.builder.body_of(&[value, condition], &Expr::zero());
        if self.known[body].faults.insert((word, value, condition)) {
            self.builder.push_in(body, Stmt::Fault { buffer, word, value, condition });
        }
    }

    /// A load from memory that no statement changes: it may be placed as far out as its index and guard allow.
    pub fn load_buffer(&mut self, buffer: Buffer, index: Expr, guard: Option<Value>) -> Value {
        let body = self.builder.body_of(guard.as_slice(), &index);
        let (dtype, place) = (self.builder.element_dtype(buffer), Place::Buffer(buffer));
        self.builder.define_in(body, dtype, |value| Stmt::Load { value, place, index, guard })
    }

    /// Opens accumulators in the innermost open body with these initial scalars.
    pub fn open_accumulators(&mut self, begin: Vec<Scalar>) -> Vec<Accumulator> {
        let open = |init| {
            let init = self.constant(init);
            self.builder.open(init)
        };
        begin.into_iter().map(open).collect()
    }
}

/// Notes what vector accesses need: divisors of sizes, bounds on the length of rows, and aligned buffers.
fn assume(kernel: &mut Kernel, sizes: &Facts) {
    let contiguous = ContiguousAccesses::of(kernel);
    for &symbol in kernel.arguments.iter().filter(|symbol| contiguous.symbols.contains(symbol)) {
        let of = sizes.multiple(symbol);
        if of > 1 {
            kernel.assumptions.push(Assumption::Multiple { symbol, of });
        }
        let most = sizes.bounds(&Expr::sym(symbol)).hi().and_then(|most| i64::try_from(most).ok());
        // Code that knows the trip count of a loop keeps all of its iterations in registers.
        let longest = MAX_REGISTER_ROW * u64::from(kernel.cluster);
        let is_short = |most: &i64| most.unsigned_abs() <= longest;
        if let Some(most) = most.filter(is_short).filter(|_| contiguous.lengths.contains(&symbol)) {
            kernel.assumptions.push(Assumption::AtMost { symbol, most });
        }
    }
    for buffer in contiguous.buffers {
        let decl = &mut kernel.buffers[buffer];
        decl.align = decl.align.max(VECTOR_BYTES);
    }
}

/// Notes what divides these arguments, where that is not noted yet.
fn assume_multiples(kernel: &mut Kernel, sizes: &Facts, simplified: &FxHashSet<Sym>) {
    for &symbol in kernel.arguments.iter().filter(|symbol| simplified.contains(symbol)) {
        let assumption = Assumption::Multiple { symbol, of: sizes.multiple(symbol) };
        if sizes.multiple(symbol) > 1 && !kernel.assumptions.contains(&assumption) {
            kernel.assumptions.push(assumption);
        }
    }
}

/// Expressions of op rows on values of one dtype.
pub(crate) struct Arithmetic<'e, 'a> {
    pub emitter: &'e mut Emitter<'a>,
    pub dtype: DType,
}

impl Arith for Arithmetic<'_, '_> {
    type V = Value;

    fn apply(&mut self, scalar_op: ScalarOp, args: &[Value]) -> Value {
        self.emitter.apply(scalar_op, args)
    }

    fn constant(&mut self, value: f64) -> Value {
        self.emitter.constant(Scalar::from_f64(self.dtype, value))
    }
}

impl BodyArith for Arithmetic<'_, '_> {
    fn scalar(&mut self, constant: Scalar) -> Value {
        self.emitter.constant(constant)
    }

    fn cast(&mut self, value: &Value, _: DType, to: DType) -> Value {
        self.emitter.cast(*value, to)
    }
}
