//! A kernel under construction: open loop bodies, and statements put into the outermost body where their operands
//! are known, each once.
//!
//! Placing a statement outward is what hoists row constants out of column loops and makes them uniform.

use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap};
use index::{Expr, Facts, Sym};
use ir::graph::Val;
use ir::kernel::{
    Access, Accumulator, Assumption, Buffer, BufferDecl, ContiguousAccesses, Kernel, Loop, LoopKind, Place,
    Scratch, ScratchDecl, Stmt, VECTOR_BYTES, Value, has_width,
};
use ops::{Arith, BodyArith, DType, Scalar, ScalarOp};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::{BufferSource, Group, KernelArgument, Lowered};
use crate::hints::WHOLE;

/// What is computed once per body.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Key {
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

/// A loop body, or the kernel's body, that is still being filled.
pub(super) struct Frame {
    header: Option<Loop>,
    body: Vec<Stmt>,
    known: FxHashMap<Key, Value>,
    /// The symbols of values.
    bound: FxHashMap<Value, Sym>,
    /// What is reported already: word, value, condition.
    faults: FxHashSet<(u32, Value, Value)>,
}

impl Frame {
    fn new(header: Option<Loop>) -> Frame {
        Frame {
            header,
            body: Vec::new(),
            known: FxHashMap::default(),
            bound: FxHashMap::default(),
            faults: FxHashSet::default(),
        }
    }
}

/// A kernel under construction.
pub(super) struct Emitter<'a> {
    pub group: Group<'a>,
    pub kernel: Kernel,
    arguments: Vec<KernelArgument>,
    buffers: Vec<BufferSource>,
    frames: Vec<Frame>,
    /// The frame in which a value is known.
    depths: SecondaryMap<Value, usize>,
    /// The frame in which a symbol is known.
    reach: SecondaryMap<Sym, usize>,
    /// What divides the arguments that are sizes, and the most they are.
    known: Facts,
}

impl<'a> Emitter<'a> {
    /// An emitter whose only open body is that of a block.
    pub fn new(group: &Group<'a>, name: String) -> Emitter<'a> {
        let mut symbols = PrimaryMap::new();
        let block = symbols.push("block".to_owned());
        let kernel = Kernel {
            name,
            lanes: group.schedule.lanes,
            warp: group.schedule.warp.unwrap_or(group.schedule.lanes),
            blocks: Expr::one(),
            block,
            symbols,
            arguments: Vec::new(),
            assumptions: Vec::new(),
            buffers: PrimaryMap::new(),
            scratch: PrimaryMap::new(),
            values: PrimaryMap::new(),
            accumulators: PrimaryMap::new(),
            body: Vec::new(),
        };
        let root = Frame::new(None);
        Emitter {
            group: *group,
            kernel,
            arguments: Vec::new(),
            buffers: Vec::new(),
            frames: vec![root],
            depths: SecondaryMap::new(),
            reach: SecondaryMap::new(),
            known: Facts::new(),
        }
    }

    /// The finished kernel.
    pub fn finish(mut self) -> Lowered {
        let root = self.frames.pop().expect("the kernel's own body is always open");
        assert!(self.frames.is_empty(), "a loop was left open");
        self.kernel.body = root.body;
        if has_width(&self.kernel) {
            self.assume();
        }
        Lowered { kernel: self.kernel, arguments: self.arguments, buffers: self.buffers }
    }

    /// Notes what neighbours that are accessed together need: what divides the sizes, how long rows are, and aligned buffers.
    fn assume(&mut self) {
        let contiguous = ContiguousAccesses::of(&self.kernel);
        for &symbol in self.kernel.arguments.iter().filter(|symbol| contiguous.symbols.contains(symbol)) {
            let of = self.known.multiple(symbol);
            if of > 1 {
                self.kernel.assumptions.push(Assumption::Multiple { symbol, of });
            }
            let most = self.known.bounds(&Expr::sym(symbol)).hi().and_then(|most| i64::try_from(most).ok());
            if let Some(most) = most.filter(|_| contiguous.lengths.contains(&symbol)) {
                self.kernel.assumptions.push(Assumption::AtMost { symbol, most });
            }
        }
        for buffer in contiguous.buffers {
            let decl = &mut self.kernel.buffers[buffer];
            decl.align = decl.align.max(VECTOR_BYTES);
        }
    }

    /// The i64 argument that holds something the caller knows.
    pub fn argument(&mut self, argument: KernelArgument, name: impl FnOnce() -> String) -> Expr {
        let known = self.arguments.iter().position(|known| *known == argument);
        let place = known.unwrap_or_else(|| {
            let sym = self.new_symbol(name());
            if let KernelArgument::Size(size) = &argument {
                self.know(sym, size);
            }
            self.kernel.arguments.push(sym);
            self.arguments.push(argument);
            self.arguments.len() - 1
        });
        Expr::sym(self.kernel.arguments[place])
    }

    /// Notes what is known of the argument for a size. Of a known one that is whether rows are whole vectors.
    fn know(&mut self, sym: Sym, size: &Expr) {
        let facts = self.group.view.facts();
        match size.as_sym() {
            Some(size) => {
                self.known.assume_multiple(&Expr::sym(sym), facts.multiple(size));
                let bounds = facts.bounds(&Expr::sym(size));
                self.known.assume_range(sym, None, bounds.hi().and_then(|most| i64::try_from(most).ok()));
            }
            None if size.as_const().is_some_and(|size| size % WHOLE == 0) => {
                self.known.assume_multiple(&Expr::sym(sym), WHOLE);
            }
            None => {}
        }
    }

    /// A size of the graph as an expression over the kernel's arguments.
    pub fn size(&mut self, size: &Expr) -> Expr {
        let size = self.group.view.facts().normalize(size);
        if self.group.general && size.as_const().is_some_and(|size| size > 1) {
            return self.argument(KernelArgument::Size(size), || "size".to_owned());
        }
        let symbols: FxHashMap<Sym, Expr> = size
            .symbols()
            .into_iter()
            .map(|sym| (sym, self.argument(KernelArgument::Size(Expr::sym(sym)), || sym.to_string())))
            .collect();
        size.substitute(&|sym| symbols.get(&sym).cloned())
    }

    /// The buffer for something that the caller passes.
    pub fn buffer(&mut self, source: BufferSource, name: String, dtype: DType, access: Access) -> Buffer {
        if let Some(place) = self.buffers.iter().position(|known| *known == source) {
            return Buffer::new(place);
        }
        self.buffers.push(source);
        self.kernel.buffers.push(BufferDecl {
            name: identifier(name),
            dtype,
            access,
            align: dtype.size() as u32,
        })
    }

    /// A new scratch array.
    pub fn scratch(&mut self, dtype: DType, len: Expr, private: bool) -> Scratch {
        self.kernel.scratch.push(ScratchDecl { dtype, len, private })
    }

    /// Opens a loop; what is emitted next goes into its body, or further out. Iterations that are known to be as many for
    /// all lanes are said to be.
    pub fn open_loop(&mut self, name: String, begin: Expr, end: Expr, kind: LoopKind) -> Sym {
        self.open_wide_loop(name, begin, end, kind, 1)
    }

    /// Opens a loop in which a lane takes so many neighbours at a time.
    pub fn open_wide_loop(
        &mut self,
        name: String,
        begin: Expr,
        end: Expr,
        kind: LoopKind,
        width: u32,
    ) -> Sym {
        let lanes = Expr::constant(i64::from(self.kernel.lanes) * i64::from(width));
        let are_whole = || self.known.prove_divides(&lanes, &(end.clone() - begin.clone()));
        let kind = if kind == LoopKind::Lanes && are_whole() { LoopKind::ExactLanes } else { kind };
        let var = self.new_symbol(name);
        self.reach[var] = self.frames.len();
        self.frames.push(Frame::new(Some(Loop { var, begin, end, kind, width, body: Vec::new() })));
        var
    }

    /// Whether a number is known to divide an expression.
    pub fn divides(&self, number: u32, expr: &Expr) -> bool {
        self.known.prove_divides(&Expr::constant(number.into()), expr)
    }

    /// A symbol of this name, or where the name is taken, of this name and a number.
    fn new_symbol(&mut self, name: String) -> Sym {
        let name = identifier(name);
        let taken = |name: &str| self.kernel.symbols.values().any(|known| known == name);
        let numbered = (1..).map(|number| format!("{name}_{number}"));
        let free = std::iter::once(name.clone()).chain(numbered).find(|name| !taken(name));
        self.kernel.symbols.push(free.expect("numbers do not run out"))
    }

    /// Closes the innermost loop.
    pub fn close_loop(&mut self) {
        let frame = self.frames.pop().expect("a loop is open");
        let header = frame.header.expect("the kernel's own body stays open");
        self.push(Stmt::For(Loop { body: frame.body, ..header }));
    }

    /// Whether the loop over lanes is open.
    pub fn in_lanes(&self) -> bool {
        self.frames
            .iter()
            .any(|frame| frame.header.as_ref().is_some_and(|header| header.kind.is_over_lanes()))
    }

    /// Whether the loop with this variable is open, be it over indices, strips, tiles or jammed rows.
    pub fn is_in_loop_of(&self, var: Sym) -> bool {
        self.frames.iter().any(|frame| frame.header.as_ref().is_some_and(|header| header.var == var))
    }

    /// Whether any loop is open.
    pub fn in_loop(&self) -> bool {
        self.frames.len() > 1
    }

    /// The number of the innermost open body.
    pub fn innermost(&self) -> usize {
        self.frames.len() - 1
    }

    /// Sets the bodies within one aside, so that what is emitted next runs before the loops that are open there.
    pub fn step_out(&mut self, body: usize) -> Vec<Frame> {
        self.frames.split_off(body + 1)
    }

    /// Goes back to where [`step_out`](Self::step_out) left.
    pub fn step_in(&mut self, within: Vec<Frame>) {
        self.frames.extend(within);
    }

    /// A statement in the innermost open body.
    pub fn push(&mut self, stmt: Stmt) {
        self.frames.last_mut().expect("a body is open").body.push(stmt);
    }

    /// A new value in the innermost open body.
    pub fn value_here(&mut self, dtype: DType) -> Value {
        let value = self.kernel.values.push(dtype);
        self.depths[value] = self.frames.len() - 1;
        value
    }

    /// The value known under a key in an open body.
    pub fn known(&self, key: &Key) -> Option<Value> {
        self.frames.iter().rev().find_map(|frame| frame.known.get(key).copied())
    }

    /// Makes a value known under a key as long as the innermost open body is open.
    pub fn remember_here(&mut self, key: Key, value: Value) {
        self.frames.last_mut().expect("a body is open").known.insert(key, value);
    }

    /// Makes a value known under a key as long as the value itself is.
    pub fn remember(&mut self, key: Key, value: Value) {
        let depth = self.depths[value];
        self.frames[depth].known.insert(key, value);
    }

    /// A new value in the outermost body where these values and symbols are known.
    fn place(
        &mut self,
        key: Option<Key>,
        dtype: DType,
        operands: &[Value],
        index: &Expr,
        stmt: impl FnOnce(Value) -> Stmt,
    ) -> Value {
        if let Some(value) = key.as_ref().and_then(|key| self.known(key)) {
            return value;
        }
        let depth = self.depth(operands, index);
        let value = self.kernel.values.push(dtype);
        self.depths[value] = depth;
        self.frames[depth].body.push(stmt(value));
        if let Some(key) = key {
            self.frames[depth].known.insert(key, value);
        }
        value
    }

    /// The outermost body, by number, where values and the symbols of an index are known.
    pub fn depth(&self, operands: &[Value], index: &Expr) -> usize {
        let values = operands.iter().map(|&value| self.depths[value]);
        values.chain(index.symbols().into_iter().map(|sym| self.reach[sym])).max().unwrap_or(0)
    }

    /// A constant, once per kernel.
    pub fn constant(&mut self, constant: Scalar) -> Value {
        let key = Key::Constant(constant);
        self.place(Some(key), constant.dtype(), &[], &Expr::zero(), |value| Stmt::Const { value, constant })
    }

    /// An index expression as an i64 value.
    pub fn index(&mut self, index: &Expr) -> Value {
        if let Some(number) = index.as_const() {
            return self.constant(Scalar::from_i64(DType::I64, number));
        }
        let index = &self.defined(index);
        let stmt = |value| Stmt::Index { value, index: index.clone() };
        self.place(Some(Key::Index(index.clone())), DType::I64, &[], index, stmt)
    }

    /// An expression that has a value whatever the index of a gather is: a loop over an axis without elements never runs,
    /// so that none divides by its size, but what is gathered from nothing is asked for.
    fn defined(&self, index: &Expr) -> Expr {
        let is_bound =
            |sym: &Sym| self.frames.iter().any(|frame| frame.bound.values().any(|bound| bound == sym));
        if !index.symbols().iter().any(is_bound) {
            return index.clone();
        }
        let facts = self.group.view.facts();
        index.map_divisors(&|divisor| {
            if facts.prove_lt(&Expr::zero(), &divisor) { divisor } else { Expr::max(&divisor, &Expr::one()) }
        })
    }

    /// An op on values that are there already, in the outermost body that has them all.
    pub fn apply(&mut self, op: ScalarOp, args: &[Value]) -> Value {
        let dtypes: SmallVec<[DType; 3]> = args.iter().map(|&arg| self.kernel.values[arg]).collect();
        let key = Key::Apply(op, SmallVec::from_slice(args));
        let dtype = op.result_dtype(&dtypes);
        self.place(Some(key), dtype, args, &Expr::zero(), |value| Stmt::Apply {
            value,
            op,
            args: args.to_vec(),
        })
    }

    /// The value in another dtype; itself where it has that already.
    pub fn cast(&mut self, arg: Value, dtype: DType) -> Value {
        if self.kernel.values[arg] == dtype {
            return arg;
        }
        self.place(Some(Key::Cast(arg, dtype)), dtype, &[arg], &Expr::zero(), |value| Stmt::Cast {
            value,
            arg,
        })
    }

    /// A symbol for an i64 value, for index expressions, known where the value is.
    pub fn bind(&mut self, name: impl FnOnce() -> String, value: Value) -> Sym {
        let depth = self.depths[value];
        if let Some(&symbol) = self.frames[depth].bound.get(&value) {
            return symbol;
        }
        let symbol = self.new_symbol(name());
        self.reach[symbol] = depth;
        self.frames[depth].body.push(Stmt::Bind { symbol, value });
        self.frames[depth].bound.insert(value, symbol);
        symbol
    }

    /// Reports a value in a fault word where a condition holds, in the outermost body where both are known.
    pub fn fault(&mut self, buffer: Buffer, word: u32, value: Value, condition: Value) {
        let depth = self.depth(&[value, condition], &Expr::zero());
        let fault = (word, value, condition);
        if self.frames[depth].faults.insert(fault) {
            self.frames[depth].body.push(Stmt::Fault { buffer, word, value, condition });
        }
    }

    /// A load that may be placed as far out as its index and guard allow: memory that no statement changes.
    pub fn load_buffer(&mut self, buffer: Buffer, index: Expr, guard: Option<Value>) -> Value {
        let dtype = self.kernel.buffers[buffer].dtype;
        let operands: SmallVec<[Value; 1]> = guard.into_iter().collect();
        self.place(None, dtype, &operands, &index.clone(), |value| Stmt::Load {
            value,
            place: Place::Buffer(buffer),
            index,
            guard,
        })
    }

    /// Says where the loops stand that an element will be loaded soon, or not so soon.
    pub fn prefetch(&mut self, buffer: Buffer, index: Expr, l2: bool) {
        self.push(Stmt::Prefetch { buffer, index, l2 });
    }

    /// A load from scratch, which statements change: it stays where it is asked for.
    pub fn load_scratch(&mut self, scratch: Scratch, index: Expr) -> Value {
        let value = self.value_here(self.kernel.scratch[scratch].dtype);
        self.push(Stmt::Load { value, place: Place::Scratch(scratch), index, guard: None });
        value
    }

    /// Stores a value in the innermost open body, without a guard.
    pub fn store(&mut self, place: Place, index: Expr, value: Value) {
        self.push(Stmt::Store { place, index, value, guard: None });
    }

    /// Opens an accumulator in the innermost open body.
    pub fn open_accumulator(&mut self, init: Scalar) -> Accumulator {
        let accumulator = self.kernel.accumulators.push(init.dtype());
        let init = self.constant(init);
        self.push(Stmt::Open { accumulator, init });
        accumulator
    }

    /// What an accumulator holds at this point of the innermost body.
    pub fn get(&mut self, accumulator: Accumulator) -> Value {
        let value = self.value_here(self.kernel.accumulators[accumulator]);
        self.push(Stmt::Get { value, accumulator });
        value
    }

    /// Overwrites an accumulator at this point of the innermost body.
    pub fn set(&mut self, accumulator: Accumulator, value: Value) {
        self.push(Stmt::Set { accumulator, value });
    }
}

/// A name as an identifier: a further result of a node goes by `n4.1`.
fn identifier(name: String) -> String {
    name.replace('.', "_")
}

/// Expressions of op rows on values of one dtype.
pub(super) struct Arithmetic<'e, 'a> {
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
