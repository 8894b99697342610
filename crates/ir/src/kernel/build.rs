//! Writes a kernel from the outside in: declarations, then statements into the innermost open loop. Infers dtypes and
//! hands out ids and names; whether the whole makes sense is for `verify`.
//!
//! ```
//! use index::Expr;
//! use ferrofuse_ir::kernel::{Access, KernelBuilder, verify};
//! use ops::{DType, ScalarOp};
//!
//! let mut b = KernelBuilder::new("double", 8);
//! let size = b.argument("i0");
//! let input = b.buffer("T0", DType::F32, Access::Read);
//! let output = b.buffer("T1", DType::F32, Access::Write);
//! b.blocks(Expr::constant(1));
//! let x = b.push_lanes(Expr::constant(0), Expr::sym(size));
//! let value = b.load(input, Expr::sym(x));
//! let doubled = b.apply(ScalarOp::Add, &[value, value]);
//! b.store(output, Expr::sym(x), doubled);
//! b.pop_for();
//! let kernel = b.finish();
//! assert_eq!(verify(&kernel), Ok(()));
//! ```

use cranelift_entity::PrimaryMap;
use index::{Expr, Sym};
use ops::{Arith, BodyArith, DType, Monoid, Operand, Scalar, ScalarOp, signature};

use super::{
    Access, Accumulator, Buffer, BufferDecl, Kernel, Loop, LoopKind, Place, Scratch, ScratchDecl, Stmt, Value,
};

/// A kernel in the making. Loops are opened by `push_…` and closed by [`pop_for`](Self::pop_for), or written with a
/// closure by [`for_lanes`](Self::for_lanes) and [`for_serial`](Self::for_serial).
#[derive(Clone, Debug)]
pub struct KernelBuilder {
    kernel: Kernel,
    /// Loops that are open, the innermost last; their bodies are not complete yet.
    open: Vec<Loop>,
}

impl KernelBuilder {
    /// An empty kernel of one block, with a symbol `block` for its number.
    pub fn new(name: &str, lanes: u32) -> Self {
        Self::with_symbols(name, lanes, PrimaryMap::new(), Vec::new())
    }

    /// An empty kernel that keeps the symbols of its surroundings, so that their expressions hold in it unchanged.
    pub fn with_symbols(
        name: &str,
        lanes: u32,
        symbols: PrimaryMap<Sym, String>,
        arguments: Vec<Sym>,
    ) -> Self {
        let mut symbols = symbols;
        let block = symbols.push(unused(&symbols, "block"));
        let kernel = Kernel {
            name: name.to_owned(),
            lanes,
            warp: lanes,
            blocks: Expr::constant(1),
            block,
            symbols,
            arguments,
            assumptions: Vec::new(),
            buffers: PrimaryMap::new(),
            scratch: PrimaryMap::new(),
            values: PrimaryMap::new(),
            accumulators: PrimaryMap::new(),
            body: Vec::new(),
        };
        Self { kernel, open: Vec::new() }
    }

    /// A new argument: a size or a stride. If the name is taken, a number is put after it.
    pub fn argument(&mut self, name: &str) -> Sym {
        let symbol = self.symbol(name);
        self.kernel.arguments.push(symbol);
        symbol
    }

    /// A new symbol, to be a loop's variable or bound to a value.
    pub fn symbol(&mut self, name: &str) -> Sym {
        let name = unused(&self.kernel.symbols, name);
        self.kernel.symbols.push(name)
    }

    /// How many blocks run; gives the symbol of the block's number.
    pub fn blocks(&mut self, count: Expr) -> Sym {
        self.kernel.blocks = count;
        self.kernel.block
    }

    /// A new buffer parameter.
    pub fn buffer(&mut self, name: &str, dtype: DType, access: Access) -> Buffer {
        self.kernel.buffers.push(BufferDecl {
            name: name.to_owned(),
            dtype,
            access,
            align: dtype.size() as u32,
        })
    }

    /// A new scratch array of `len` elements.
    pub fn scratch(&mut self, dtype: DType, len: Expr) -> Scratch {
        self.kernel.scratch.push(ScratchDecl { dtype, len, private: false })
    }

    /// A new scratch array each of whose elements one lane has for itself.
    pub fn private(&mut self, dtype: DType, len: Expr) -> Scratch {
        self.kernel.scratch.push(ScratchDecl { dtype, len, private: true })
    }

    /// The dtype of a value.
    pub fn dtype(&self, value: Value) -> DType {
        self.kernel.values[value]
    }

    /// The dtype of an accumulator.
    pub fn accumulator_dtype(&self, accumulator: Accumulator) -> DType {
        self.kernel.accumulators[accumulator]
    }

    /// The element type of a place.
    pub fn element_dtype(&self, place: impl Into<Place>) -> DType {
        match place.into() {
            Place::Buffer(buffer) => self.kernel.buffers[buffer].dtype,
            Place::Scratch(scratch) => self.kernel.scratch[scratch].dtype,
        }
    }

    /// A constant.
    pub fn constant(&mut self, constant: Scalar) -> Value {
        let value = self.value(constant.dtype());
        self.push(Stmt::Const { value, constant });
        value
    }

    /// An index expression as an i64.
    pub fn index(&mut self, index: Expr) -> Value {
        let value = self.value(DType::I64);
        self.push(Stmt::Index { value, index });
        value
    }

    /// A new symbol for an i64 value, for index expressions in the innermost open body.
    pub fn bind(&mut self, name: &str, value: Value) -> Sym {
        let symbol = self.symbol(name);
        self.push(Stmt::Bind { symbol, value });
        symbol
    }

    /// Reports a value in a fault word where the condition holds.
    pub fn fault(&mut self, buffer: Buffer, word: u32, value: Value, condition: Value) {
        self.push(Stmt::Fault { buffer, word, value, condition });
    }

    /// A scalar op on operands of its compute dtypes; the dtype of the result follows from them.
    ///
    /// # Panics
    /// If the op does not apply to such operands: a mistake of the pass that writes the kernel.
    pub fn apply(&mut self, op: ScalarOp, args: &[Value]) -> Value {
        let operands: Vec<Operand> = args.iter().map(|&arg| Operand::tensor(self.dtype(arg))).collect();
        let signature = signature(op, &operands).unwrap_or_else(|error| panic!("{error}"));
        let value = self.value(signature.result_compute);
        self.push(Stmt::Apply { value, op, args: args.to_vec() });
        value
    }

    /// Where expressions of composites and monoids can be evaluated into statements.
    pub fn arith(&mut self, dtype: DType) -> KernelArith<'_> {
        KernelArith { builder: self, dtype }
    }

    /// A value as another dtype; the value itself if it is of that dtype.
    pub fn cast(&mut self, arg: Value, dtype: DType) -> Value {
        if self.dtype(arg) == dtype {
            return arg;
        }
        let value = self.value(dtype);
        self.push(Stmt::Cast { value, arg });
        value
    }

    /// An element of memory.
    pub fn load(&mut self, place: impl Into<Place>, index: Expr) -> Value {
        self.load_if(place, index, None)
    }

    /// An element of memory where the guard holds, else zero.
    pub fn load_if(&mut self, place: impl Into<Place>, index: Expr, guard: Option<Value>) -> Value {
        let place = place.into();
        let value = self.value(self.element_dtype(place));
        self.push(Stmt::Load { value, place, index, guard });
        value
    }

    /// Stores a value of the place's dtype.
    pub fn store(&mut self, place: impl Into<Place>, index: Expr, value: Value) {
        self.store_if(place, index, value, None);
    }

    /// Stores a value of the place's dtype where the guard holds.
    pub fn store_if(&mut self, place: impl Into<Place>, index: Expr, value: Value, guard: Option<Value>) {
        self.push(Stmt::Store { place: place.into(), index, value, guard });
    }

    /// A new accumulator that starts with `init`.
    pub fn open(&mut self, init: Value) -> Accumulator {
        let dtype = self.dtype(init);
        let accumulator = self.kernel.accumulators.push(dtype);
        self.push(Stmt::Open { accumulator, init });
        accumulator
    }

    /// What an accumulator holds now.
    pub fn get(&mut self, accumulator: Accumulator) -> Value {
        let value = self.value(self.kernel.accumulators[accumulator]);
        self.push(Stmt::Get { value, accumulator });
        value
    }

    /// Replaces what an accumulator holds.
    pub fn set(&mut self, accumulator: Accumulator, value: Value) {
        self.push(Stmt::Set { accumulator, value });
    }

    /// The copies of all lanes combined: one value per state of the monoid.
    pub fn reduce(&mut self, monoid: Monoid, accumulators: &[Accumulator]) -> Vec<Value> {
        let dtypes = accumulators.iter().map(|&id| self.kernel.accumulators[id]).collect();
        self.reduce_as(dtypes, monoid, accumulators)
    }

    /// The copies of all lanes combined in these dtypes: those of the accumulators, or f64 for f32.
    pub fn reduce_as(
        &mut self,
        dtypes: Vec<DType>,
        monoid: Monoid,
        accumulators: &[Accumulator],
    ) -> Vec<Value> {
        let values: Vec<Value> = dtypes.into_iter().map(|dtype| self.value(dtype)).collect();
        let accumulators = accumulators.to_vec();
        self.push(Stmt::Reduce { values: values.clone(), monoid, accumulators });
        values
    }

    /// Says that an element will be loaded soon, or not so soon.
    pub fn prefetch(&mut self, buffer: Buffer, index: Expr, l2: bool) {
        self.push(Stmt::Prefetch { buffer, index, l2 });
    }

    /// Orders accesses to scratch before it and after it.
    pub fn barrier(&mut self) {
        self.push(Stmt::Barrier);
    }

    /// Opens a loop with a new variable, which it gives.
    pub fn push_for(&mut self, begin: Expr, end: Expr, kind: LoopKind) -> Sym {
        let var = self.fresh_variable();
        self.open.push(Loop { var, begin, end, kind, width: 1, body: Vec::new() });
        var
    }

    /// Opens a loop whose iterations run in order.
    pub fn push_serial(&mut self, begin: Expr, end: Expr) -> Sym {
        self.push_for(begin, end, LoopKind::Serial)
    }

    /// Says that lanes take so many neighbouring iterations at a time of the loop over lanes that was opened last.
    pub fn set_width(&mut self, width: u32) {
        self.open.last_mut().expect("a loop is open").width = width;
    }

    /// Opens a loop whose iterations are mapped to the lanes.
    pub fn push_lanes(&mut self, begin: Expr, end: Expr) -> Sym {
        self.push_for(begin, end, LoopKind::Lanes)
    }

    /// Closes the innermost open loop.
    ///
    /// # Panics
    /// If no loop is open: a mistake of the pass that writes the kernel.
    pub fn pop_for(&mut self) {
        let for_loop = self.open.pop().expect("a loop is open");
        self.push(Stmt::For(for_loop));
    }

    /// A loop whose iterations run in order, its body written by a closure.
    pub fn for_serial<T>(&mut self, begin: Expr, end: Expr, body: impl FnOnce(&mut Self, Sym) -> T) -> T {
        self.enclosed(begin, end, LoopKind::Serial, body)
    }

    /// A loop over lanes, its body written by a closure.
    pub fn for_lanes<T>(&mut self, begin: Expr, end: Expr, body: impl FnOnce(&mut Self, Sym) -> T) -> T {
        self.enclosed(begin, end, LoopKind::Lanes, body)
    }

    fn enclosed<T>(
        &mut self,
        begin: Expr,
        end: Expr,
        kind: LoopKind,
        body: impl FnOnce(&mut Self, Sym) -> T,
    ) -> T {
        let var = self.push_for(begin, end, kind);
        let result = body(self, var);
        self.pop_for();
        result
    }

    /// The kernel.
    ///
    /// # Panics
    /// If a loop is still open: a mistake of the pass that writes the kernel.
    pub fn finish(self) -> Kernel {
        assert!(self.open.is_empty(), "a loop is still open");
        self.kernel
    }

    fn push(&mut self, statement: Stmt) {
        match self.open.last_mut() {
            Some(for_loop) => for_loop.body.push(statement),
            None => self.kernel.body.push(statement),
        }
    }

    fn value(&mut self, dtype: DType) -> Value {
        self.kernel.values.push(dtype)
    }

    fn fresh_variable(&mut self) -> Sym {
        self.symbol("x0")
    }
}

/// Expressions of composites and monoids, written into a kernel as statements; numbers become constants of `dtype`.
#[derive(Debug)]
pub struct KernelArith<'b> {
    /// Where the statements go.
    pub builder: &'b mut KernelBuilder,
    /// What the expression computes in.
    pub dtype: DType,
}

impl Arith for KernelArith<'_> {
    type V = Value;

    fn apply(&mut self, scalar_op: ScalarOp, args: &[Value]) -> Value {
        self.builder.apply(scalar_op, args)
    }

    fn constant(&mut self, value: f64) -> Value {
        self.builder.constant(Scalar::from_f64(self.dtype, value))
    }
}

impl BodyArith for KernelArith<'_> {
    fn scalar(&mut self, constant: Scalar) -> Value {
        self.builder.constant(constant)
    }

    fn cast(&mut self, value: &Value, _: DType, to: DType) -> Value {
        self.builder.cast(*value, to)
    }
}

/// The name if no symbol has it, else its letters with the first number that is free.
fn unused(symbols: &PrimaryMap<Sym, String>, name: &str) -> String {
    let taken = |name: &str| symbols.values().any(|other| other == name);
    if !taken(name) {
        return name.to_owned();
    }
    let letters = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let numbered = (0..=symbols.len()).map(|number| format!("{letters}{number}"));
    numbered.into_iter().find(|name| !taken(name)).expect("fewer symbols than numbers")
}
