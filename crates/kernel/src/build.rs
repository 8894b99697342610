//! Writes a kernel from the outside in: declarations, then statements into the loop bodies that are open. Infers dtypes,
//! assigns ids and names, and knows in which body each value is defined; `verify` checks the whole.
//! `tests/unit/build.rs` writes a small one.

use cranelift_entity::{PrimaryMap, SecondaryMap};
use index::{Expr, Sym};
use ops::{DType, Monoid, Scalar, ScalarOp};

use super::{
    Access, Accumulator, Buffer, BufferDecl, Kernel, Loop, LoopKind, Place, Scratch, ScratchDecl, Stmt, Value,
};

/// A kernel under construction. Statements go to the end of the innermost open body, or of one given by its number: the
/// kernel's own is 0, that of the outermost open loop 1, and so on.
#[derive(Clone, Debug)]
pub struct KernelBuilder {
    /// What is written so far, but for the bodies that are open.
    pub kernel: Kernel,
    open: Vec<OpenBody>,
    /// The body in which a value is defined.
    values: SecondaryMap<Value, usize>,
    /// The body in which a symbol is known.
    symbols: SecondaryMap<Sym, usize>,
}

/// A body that is being filled.
#[derive(Clone, Debug, Default)]
pub struct OpenBody {
    /// Its loop, which has no body yet; the kernel's own body has none.
    header: Option<Loop>,
    statements: Vec<Stmt>,
}

impl KernelBuilder {
    /// An empty kernel of one block, with a symbol `block` for its number.
    pub fn new(name: &str, lanes: u32) -> Self {
        let mut symbols = PrimaryMap::new();
        let block = symbols.push("block".to_owned());
        let kernel = Kernel {
            name: name.to_owned(),
            lanes,
            warp: lanes,
            teams: 1,
            cluster: 1,
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
        let (values, symbols) = (SecondaryMap::new(), SecondaryMap::new());
        Self { kernel, open: vec![OpenBody::default()], values, symbols }
    }

    /// The kernel.
    ///
    /// # Panics
    /// If a loop is still open: a mistake of the pass that writes the kernel.
    pub fn finish(mut self) -> Kernel {
        assert!(self.open.len() == 1, "a loop is still open");
        self.kernel.body = self.open.remove(0).statements;
        self.kernel
    }

    /// A new argument: a size or a stride.
    pub fn argument(&mut self, name: &str) -> Sym {
        let symbol = self.symbol(name);
        self.kernel.arguments.push(symbol);
        symbol
    }

    /// A new symbol, known in the whole kernel. If the name is taken, a number is put after it.
    pub fn symbol(&mut self, name: &str) -> Sym {
        let name = identifier(name);
        let taken = |name: &str| self.kernel.symbols.values().any(|known| known == name);
        let numbered = (1..).map(|number| format!("{name}_{number}"));
        let free = std::iter::once(name.clone()).chain(numbered).find(|name| !taken(name));
        self.kernel.symbols.push(free.expect("numbers do not run out"))
    }

    /// Sets how many blocks run; returns the symbol of the block's number.
    pub fn blocks(&mut self, count: Expr) -> Sym {
        self.kernel.blocks = count;
        self.kernel.block
    }

    /// A new buffer parameter.
    pub fn buffer(&mut self, name: &str, dtype: DType, access: Access) -> Buffer {
        let (name, align) = (identifier(name), dtype.size() as u32);
        self.kernel.buffers.push(BufferDecl { name, dtype, access, align, over: None })
    }

    /// A new scratch array of `len` elements.
    pub fn scratch(&mut self, dtype: DType, len: Expr) -> Scratch {
        self.kernel.scratch.push(ScratchDecl { dtype, len, private: false })
    }

    /// A new private array: each element is of one lane.
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
}

/// Bodies.
impl KernelBuilder {
    /// Opens a loop over a new variable and returns that; a lane takes `width` neighbours at a time.
    pub fn open_loop(&mut self, name: &str, begin: Expr, end: Expr, kind: LoopKind, width: u32) -> Sym {
        let var = self.symbol(name);
        self.symbols[var] = self.open.len();
        let header = Some(Loop { var, begin, end, kind, width, body: Vec::new() });
        self.open.push(OpenBody { header, statements: Vec::new() });
        var
    }

    /// Closes the innermost open loop.
    ///
    /// # Panics
    /// If no loop is open: a mistake of the pass that writes the kernel.
    pub fn close_loop(&mut self) {
        let OpenBody { header, statements } = self.open.pop().expect("the kernel's own body is open");
        let header = header.expect("a loop is open");
        self.push(Stmt::For(Loop { body: statements, ..header }));
    }

    /// A loop over lanes, its body written by a closure.
    pub fn for_lanes<T>(&mut self, begin: Expr, end: Expr, body: impl FnOnce(&mut Self, Sym) -> T) -> T {
        let var = self.open_loop("x0", begin, end, LoopKind::Lanes, 1);
        let result = body(self, var);
        self.close_loop();
        result
    }

    /// The open loops, outermost first; their bodies are empty.
    pub fn loops(&self) -> impl Iterator<Item = &Loop> {
        self.open.iter().filter_map(|body| body.header.as_ref())
    }

    /// Whether the loop over lanes is open.
    pub fn in_lanes(&self) -> bool {
        self.loops().any(|open| open.kind.is_over_lanes())
    }

    /// The number of the innermost open body.
    pub fn innermost(&self) -> usize {
        self.open.len() - 1
    }

    /// The outermost body where values and the symbols of an index are known.
    pub fn body_of(&self, values: &[Value], index: &Expr) -> usize {
        let values = values.iter().map(|&value| self.values[value]);
        values.chain(index.symbols().into_iter().map(|sym| self.symbols[sym])).max().unwrap_or(0)
    }

    /// Sets the bodies within `body` aside, so that what is written next runs before the loops that are open there.
    pub fn step_out(&mut self, body: usize) -> Vec<OpenBody> {
        self.open.split_off(body + 1)
    }

    /// Goes back to where [`step_out`](Self::step_out) left.
    pub fn step_in(&mut self, within: Vec<OpenBody>) {
        self.open.extend(within);
    }

    /// A statement in a body that is open.
    pub fn push_in(&mut self, body: usize, statement: Stmt) {
        self.open[body].statements.push(statement);
    }

    fn push(&mut self, statement: Stmt) {
        self.push_in(self.innermost(), statement);
    }

    /// A new value, defined by a statement in a body that is open.
    pub fn define_in(&mut self, body: usize, dtype: DType, statement: impl FnOnce(Value) -> Stmt) -> Value {
        let value = self.kernel.values.push(dtype);
        self.values[value] = body;
        self.push_in(body, statement(value));
        value
    }

    fn define(&mut self, dtype: DType, statement: impl FnOnce(Value) -> Stmt) -> Value {
        self.define_in(self.innermost(), dtype, statement)
    }
}

/// Statements in the innermost open body.
impl KernelBuilder {
    /// A constant.
    pub fn constant(&mut self, constant: Scalar) -> Value {
        self.define(constant.dtype(), |value| Stmt::Const { value, constant })
    }

    /// An index expression as an i64.
    pub fn index(&mut self, index: Expr) -> Value {
        self.define(DType::I64, |value| Stmt::Index { value, index })
    }

    /// A new symbol for an i64 value, for index expressions where the value is known.
    pub fn bind(&mut self, name: &str, value: Value) -> Sym {
        let symbol = self.symbol(name);
        let body = self.values[value];
        self.symbols[symbol] = body;
        self.push_in(body, Stmt::Bind { symbol, value });
        symbol
    }

    /// A scalar op on operands of its compute dtypes; the dtype of the result follows from them.
    pub fn apply(&mut self, op: ScalarOp, args: &[Value]) -> Value {
        let dtype = self.result_dtype(op, args);
        self.define(dtype, |value| Stmt::Apply { value, op, args: args.to_vec() })
    }

    /// The dtype of a scalar op's result on these operands.
    pub fn result_dtype(&self, op: ScalarOp, args: &[Value]) -> DType {
        let dtypes: Vec<DType> = args.iter().map(|&arg| self.dtype(arg)).collect();
        op.result_dtype(&dtypes)
    }

    /// A value as another dtype; the value itself if it has that dtype.
    pub fn cast(&mut self, arg: Value, dtype: DType) -> Value {
        if self.dtype(arg) == dtype {
            return arg;
        }
        self.define(dtype, |value| Stmt::Cast { value, arg })
    }

    /// An element of memory.
    pub fn load(&mut self, place: impl Into<Place>, index: Expr) -> Value {
        self.load_if(place, index, None)
    }

    /// An element of memory where the guard holds, else zero.
    pub fn load_if(&mut self, place: impl Into<Place>, index: Expr, guard: Option<Value>) -> Value {
        let place = place.into();
        self.define(self.element_dtype(place), |value| Stmt::Load { value, place, index, guard })
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
        let accumulator = self.kernel.accumulators.push(self.dtype(init));
        self.push(Stmt::Open { accumulator, init });
        accumulator
    }

    /// The current contents of an accumulator.
    pub fn get(&mut self, accumulator: Accumulator) -> Value {
        self.define(self.accumulator_dtype(accumulator), |value| Stmt::Get { value, accumulator })
    }

    /// Replaces the contents of an accumulator.
    pub fn set(&mut self, accumulator: Accumulator, value: Value) {
        self.push(Stmt::Set { accumulator, value });
    }

    /// The copies of all lanes combined, one value per state of the monoid: in the dtypes of the accumulators, or f64
    /// for f32 where `widens`.
    pub fn reduce(&mut self, monoid: Monoid, accumulators: &[Accumulator], widens: bool) -> Vec<Value> {
        let body = self.innermost();
        let mut value = |&accumulator: &Accumulator| {
            let dtype = match self.kernel.accumulators[accumulator] {
                DType::F32 if widens => DType::F64,
                dtype => dtype,
            };
            let value = self.kernel.values.push(dtype);
            self.values[value] = body;
            value
        };
        let values: Vec<Value> = accumulators.iter().map(&mut value).collect();
        let accumulators = accumulators.to_vec();
        self.push(Stmt::Reduce { values: values.clone(), monoid, accumulators });
        values
    }

    /// Announces that an element will be loaded soon, or later if `l2`.
    pub fn prefetch(&mut self, buffer: Buffer, index: Expr, l2: bool) {
        self.push(Stmt::Prefetch { buffer, index, l2 });
    }

    /// Orders accesses to scratch before it and after it.
    pub fn barrier(&mut self) {
        self.push(Stmt::Barrier);
    }
}

/// A name as one in the text of a kernel: a further result of a node goes by `n4.1`.
pub fn identifier(name: &str) -> String {
    name.replace('.', "_")
}
