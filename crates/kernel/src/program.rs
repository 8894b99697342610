//! The kernel program: loops, loads, stores and accumulators of one launch, for any machine.
//!
//! A kernel is a grid of *blocks*, independent and run in any order. A block has `lanes` lanes: the elements of a vector
//! register on a CPU, the threads of a block on a GPU. Code inside a loop over lanes is *varying*: lane `l` takes
//! `begin + l`, `begin + l + lanes`, …, and a lane whose iteration is past the end does nothing. The last iterations, if
//! fewer than the lanes, may go to other lanes, chosen by their number alone, so that equal iterations have equal results.
//! All other code is *uniform*: every lane would compute the same, and one of them stores.
//!
//! A loop over lanes has a *width*: how many neighbouring iterations a lane takes at a time, in order. With a width of 4,
//! lane `l` takes `begin + 4l` to `begin + 4l + 3`, then the four that are `4 * lanes` further on. The body is about one of
//! them.
//!
//! This file holds the data alone. `verify` lists its invariants, `reference::interpret` defines its meaning, `print`
//! and `parse` its text. Nothing here makes decisions or knows a target.

use cranelift_entity::{PrimaryMap, entity_impl};
use index::{Expr, Sym};
use ops::{DType, Monoid, Scalar, ScalarOp};
use smallvec::{SmallVec, smallvec};

/// The most lanes a block may have, unless they are spread over several: the limit of a CUDA block.
pub const MAX_LANES: u32 = 1024;

/// The most blocks of a cluster: every GPU with clusters can run that many side by side.
pub const MAX_CLUSTER: u32 = 8;

/// Lanes per warp in a cluster, and the most lanes of one of several teams that take part in a `reduce`: larger teams would
/// need barriers.
pub const GPU_WARP: u32 = 32;

/// The most neighbouring iterations that a lane takes at a time: a vector of bytes has that many elements.
pub const MAX_WIDTH: u32 = 16;

/// The most bytes that a lane accesses at a time; such accesses are aligned to them.
pub const VECTOR_BYTES: u32 = 16;

/// The contents of a fault word without a fault: more than any reported value.
pub const NO_FAULT: i64 = i64::MAX;

/// The index that a fault word reports. Indices that are not negative are reported as one less, so that 2^63 - 1 differs
/// from [`NO_FAULT`]: 0 is out of range of nothing but an empty axis, where any index is.
pub fn index_of_fault(word: i64) -> Option<i64> {
    (word != NO_FAULT).then(|| if word < 0 { word } else { word + 1 })
}

/// The deepest that loops may nest, so that walking a kernel cannot exhaust the stack.
pub const MAX_NESTING: usize = 64;

/// A buffer in memory that the caller passes: an input, an output, or partial results between two kernels.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Buffer(u32);
entity_impl!(Buffer, "b");

/// A scratch array private to a block, shared by its lanes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Scratch(u32);
entity_impl!(Scratch, "w");

/// A value computed once, immutable, in scope until the end of the loop body that holds it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(u32);
entity_impl!(Value, "v");

/// A mutable scalar: one copy per lane when it is set inside a loop over lanes, otherwise one per block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Accumulator(u32);
entity_impl!(Accumulator, "a");

/// The program of one launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// A name that is a C identifier; it becomes the symbol of the machine code.
    pub name: String,
    /// Lanes of a block: vector elements on a CPU, threads on a GPU. A power of two, at most [`MAX_LANES`] of each
    /// block of a cluster.
    pub lanes: u32,
    /// Neighbouring lanes that a `reduce` combines before it combines these groups: the threads of a warp, or all lanes. A
    /// power of two, at most the lanes.
    pub warp: u32,
    /// Blocks that run side by side as one block of the GPU: each has a *team* of its threads. Results do not depend on
    /// their number.
    pub teams: u32,
    /// Blocks of a GPU over which the lanes are spread: a *cluster*, whose blocks run side by side and combine their
    /// results. Results do not depend on their number.
    pub cluster: u32,
    /// How many blocks run, from the sizes.
    pub blocks: Expr,
    /// The symbol that holds the block's number inside the body.
    pub block: Sym,
    /// Names of all symbols: sizes and strides (arguments, in the order of `arguments`), the block, loop variables.
    pub symbols: PrimaryMap<Sym, String>,
    /// The symbols that the caller gives as i64 arguments: sizes and strides.
    pub arguments: Vec<Sym>,
    /// What every launch guarantees about its arguments; other calls launch another kernel.
    pub assumptions: Vec<Assumption>,
    /// Memory that the caller passes.
    pub buffers: PrimaryMap<Buffer, BufferDecl>,
    /// Memory that a block has for itself.
    pub scratch: PrimaryMap<Scratch, ScratchDecl>,
    /// Type of each value.
    pub values: PrimaryMap<Value, DType>,
    /// Type and first contents of each accumulator.
    pub accumulators: PrimaryMap<Accumulator, DType>,
    pub body: Vec<Stmt>,
}

impl Kernel {
    /// How many blocks are launched: each has one of the kernel's blocks per team, or is one block of a cluster.
    pub fn launched_blocks(&self) -> Expr {
        self.blocks.ceil_div(&Expr::constant(self.teams.into())) * i64::from(self.cluster)
    }

    /// Threads of a block that is launched.
    pub fn threads(&self) -> u32 {
        self.lanes * self.teams / self.cluster
    }

    /// Whether two kernels are equal except for names, so that one code serves both.
    pub fn is_like(&self, other: &Kernel) -> bool {
        let plain = |it: &Kernel| (it.lanes, it.warp, it.teams, it.cluster, it.block, it.symbols.len());
        let is_like = |(own, other): (&BufferDecl, &BufferDecl)| {
            (own.dtype, own.access, own.align, own.over)
                == (other.dtype, other.access, other.align, other.over)
        };
        plain(self) == plain(other)
            && self.buffers.len() == other.buffers.len()
            && self.buffers.values().zip(other.buffers.values()).all(is_like)
            && (&self.blocks, &self.arguments, &self.assumptions)
                == (&other.blocks, &other.arguments, &other.assumptions)
            && (&self.scratch, &self.values, &self.accumulators)
                == (&other.scratch, &other.values, &other.accumulators)
            && self.body == other.body
    }
}

/// A property of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assumption {
    /// A number divides it.
    Multiple {
        /// The argument.
        symbol: Sym,
        /// The number, at least 2.
        of: i64,
    },
    /// It is from 0 to a number.
    AtMost {
        /// The argument.
        symbol: Sym,
        /// The number, not negative.
        most: i64,
    },
}

impl Assumption {
    /// The argument that it is about.
    pub fn symbol(self) -> Sym {
        match self {
            Assumption::Multiple { symbol, .. } | Assumption::AtMost { symbol, .. } => symbol,
        }
    }

    /// Whether it holds for a number.
    pub fn holds(self, number: i64) -> bool {
        match self {
            Assumption::Multiple { of, .. } => number % of == 0,
            Assumption::AtMost { most, .. } => (0..=most).contains(&number),
        }
    }
}

/// A buffer parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferDecl {
    /// The name of its value in the definition, for readers of the text.
    pub name: String,
    /// Element type in memory (bool is one byte).
    pub dtype: DType,
    /// What the kernel does with it: always one thing.
    pub access: Access,
    /// A power of two that divides the address of the first element, in bytes: the element's size, or more if the caller
    /// ensures it.
    pub align: u32,
    /// If it is written in place: the buffer that is read whose memory it may be. Then no element is loaded after it was
    /// stored.
    pub over: Option<Buffer>,
}

/// What a kernel does with a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Only loads.
    Read,
    /// Only stores, each element at most once.
    Write,
    /// Only `fault` statements: words of i64 that the caller sets to [`NO_FAULT`] before the launch.
    Fault,
}

/// A scratch array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScratchDecl {
    pub dtype: DType,
    /// Number of elements, from sizes alone.
    pub len: Expr,
    /// Whether each element is accessed by one lane only: such an array needs no barriers and may lie in registers.
    pub private: bool,
}

/// The memory of a load or store. Indices count elements, not bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Memory of the caller.
    Buffer(Buffer),
    /// Memory of the block.
    Scratch(Scratch),
}

/// A statement. About a dozen suffice.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// `v0: f32 = add v1, v2`: a scalar op over primitives.
    Apply {
        value: Value,
        op: ScalarOp,
        /// Its operands, of the op's compute dtypes.
        args: Vec<Value>,
    },
    /// `v0: bf16 = cast v1`: conversion to the value's dtype, rounding to nearest even.
    Cast { value: Value, arg: Value },
    /// `v0: f32 = const 1.0`.
    Const {
        value: Value,
        /// Its constant, of the value's dtype.
        constant: Scalar,
    },
    /// `v0: i64 = index x1*4 + 1`: an index expression as a value.
    Index {
        /// The new value, i64.
        value: Value,
        /// The expression over arguments, the block and loop variables in scope.
        index: Expr,
    },
    /// `bind n4_at = v0`: a symbol for a value, so that index expressions can use it until the end of the body.
    Bind {
        /// The symbol, unknown before.
        symbol: Sym,
        /// An i64.
        value: Value,
    },
    /// `v0: f32 = load b0[x0*i1 + x1]`, with `if v9` only where a predicate holds (else zero).
    Load {
        /// The new value, of the dtype of the place.
        value: Value,
        place: Place,
        index: Expr,
        /// A bool value; where it is false nothing is read and the value is zero.
        guard: Option<Value>,
    },
    /// `store b1[x0] = v0`, with `if v9` only where a predicate holds.
    Store {
        place: Place,
        index: Expr,
        /// The value, of the dtype of the place.
        value: Value,
        /// A bool value; where it is false nothing is written.
        guard: Option<Value>,
    },
    /// `prefetch b0[x0*i1 + x1]`: an element that will be loaded soon, so that a machine may prefetch it. It affects no
    /// result, and any index is allowed: memory that does not exist is not accessed.
    Prefetch {
        /// A buffer that is read.
        buffer: Buffer,
        index: Expr,
        /// Whether it goes to L2 only, because more is loaded before it than L1 holds (`prefetch b0[x0 + 4096] L2`).
        l2: bool,
    },
    /// `fetch w0[x1] = b0[x0*i1 + x1]`: copies an element of a buffer to a private array while its lane continues. In a loop
    /// over lanes. The element is available after the `await` that completes its group; nothing accesses its place before.
    Fetch {
        scratch: Scratch,
        /// The destination.
        index: Expr,
        /// A buffer that is read.
        buffer: Buffer,
        /// The source.
        from: Expr,
    },
    /// `await 1`: commits the fetches since the last `await` as a group, and waits until at most `pending` groups are
    /// incomplete.
    Await { pending: u32 },
    /// `fault b2[0] = v0 if v1`: where the condition holds, the word becomes the smaller of itself and the value. The order
    /// in which lanes and blocks do so does not matter.
    Fault {
        /// A buffer of fault words.
        buffer: Buffer,
        word: u32,
        /// The reported value, an i64 below [`NO_FAULT`].
        value: Value,
        /// A bool value; where it is false nothing is reported.
        condition: Value,
    },
    /// `acc a0: f32 = v0`: opens an accumulator, in scope until the end of the enclosing body.
    Open {
        accumulator: Accumulator,
        /// Its initial value.
        init: Value,
    },
    /// `v0: f32 = get a0`.
    Get {
        value: Value,
        /// The accumulator read. After a loop over lanes has set it, only inside such a loop, or through `reduce`.
        accumulator: Accumulator,
    },
    /// `set a0 = v0`.
    Set {
        /// The accumulator written; lanes that are past the end keep theirs.
        accumulator: Accumulator,
        value: Value,
    },
    /// `v0: f32, v1: f32, v2: f32 = reduce welford a0, a1, a2`: the copies of all lanes combined into one uniform value
    /// each, in the fixed tree order that `interpret` defines: within each warp, then over the warps. If the values are f64
    /// and the accumulators f32, the copies are widened before they are combined. Machines whose lanes are not in step wait
    /// for each other here, but only `barrier` orders accesses to scratch.
    Reduce {
        /// One new value per state of the monoid.
        values: Vec<Value>,
        /// How two partial results combine.
        monoid: Monoid,
        /// One accumulator per state.
        accumulators: Vec<Accumulator>,
    },
    /// A loop.
    For(Loop),
    /// `barrier`: stores to scratch before it are visible to all lanes after it. In uniform code only.
    Barrier,
}

impl From<Buffer> for Place {
    fn from(buffer: Buffer) -> Self {
        Self::Buffer(buffer)
    }
}

impl From<Scratch> for Place {
    fn from(scratch: Scratch) -> Self {
        Self::Scratch(scratch)
    }
}

impl Stmt {
    /// The values that the statement itself defines; those inside a loop are not the loop's.
    pub fn defined(&self) -> &[Value] {
        match self {
            Self::Apply { value, .. }
            | Self::Cast { value, .. }
            | Self::Const { value, .. }
            | Self::Index { value, .. }
            | Self::Load { value, .. }
            | Self::Get { value, .. } => std::slice::from_ref(value),
            Self::Reduce { values, .. } => values,
            Self::Bind { .. }
            | Self::Store { .. }
            | Self::Prefetch { .. }
            | Self::Fetch { .. }
            | Self::Await { .. }
            | Self::Fault { .. }
            | Self::Open { .. }
            | Self::Set { .. }
            | Self::For(_)
            | Self::Barrier => &[],
        }
    }

    /// The values that the statement itself uses, as often as it does; those inside a loop are not the loop's.
    pub fn used(&self) -> SmallVec<[Value; 3]> {
        match self {
            Self::Apply { args, .. } => args.as_slice().into(),
            Self::Cast { arg: value, .. }
            | Self::Bind { value, .. }
            | Self::Open { init: value, .. }
            | Self::Set { value, .. } => smallvec![*value],
            Self::Fault { value, condition, .. } => smallvec![*value, *condition],
            Self::Load { guard, .. } => guard.iter().copied().collect(),
            Self::Store { value, guard, .. } => std::iter::once(*value).chain(*guard).collect(),
            Self::Const { .. }
            | Self::Index { .. }
            | Self::Get { .. }
            | Self::Reduce { .. }
            | Self::Prefetch { .. }
            | Self::Fetch { .. }
            | Self::Await { .. }
            | Self::For(_)
            | Self::Barrier => SmallVec::new(),
        }
    }
}

/// `for x1 in 0 .. i1 lanes { … }`.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    pub var: Sym,
    pub begin: Expr,
    /// One past the last; an empty range runs nothing.
    pub end: Expr,
    /// How iterations are assigned.
    pub kind: LoopKind,
    /// Neighbouring iterations that a lane takes at a time, a power of two up to [`MAX_WIDTH`]; 1 of other loops.
    pub width: u32,
    pub body: Vec<Stmt>,
}

/// How the iterations of a loop are assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopKind {
    /// All iterations in order.
    Serial,
    /// All iterations in order, and few of them: the remainder of a loop that takes several indices an iteration. Short code
    /// matters more here than fast code.
    Remainder,
    /// All iterations in any order, some of them maybe twice. The body is a loop over lanes that copies an element: the
    /// source is contiguous along one loop, the destination along the other ([`Transpose`](super::Transpose)): a machine may
    /// take tiles of both loops at a time and transpose them in registers.
    Transpose,
    /// Iterations mapped to the lanes; never nested in another loop over lanes.
    Lanes,
    /// Iterations mapped to the lanes, equally many to each: the caller of the kernel ensures that. A machine needs no code
    /// for a last iteration that only some lanes have.
    ExactLanes,
}

impl LoopKind {
    /// Whether iterations are mapped to the lanes.
    pub fn is_over_lanes(self) -> bool {
        matches!(self, LoopKind::Lanes | LoopKind::ExactLanes)
    }
}
