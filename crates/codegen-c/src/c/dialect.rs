//! The parts of a kernel's text that differ between dialects of C: words, and functions from facts to text. Everything else
//! is the same in all of them.
//!
//! A dialect is one value of [`Dialect`]. Every lane of a block runs the whole text, as a thread or as lanes that take
//! turns at barriers.

use ops::{CSpelling, DType, Scalar, ScalarOp};

use super::reduce::{BlockReduction, Reduction};
use super::snippet::{Helper, Snippet};

/// A dialect of C.
#[derive(Debug)]
pub struct Dialect {
    /// Its name in errors, as in `CUDA`.
    pub name: &'static str,
    /// The opening of every text, such as includes.
    pub preamble: &'static str,
    /// Words that texts of functions may use, each with the lines that define it.
    pub macros: &'static [(&'static str, &'static str)],
    /// Whether a word may not name a buffer, a symbol or a kernel: keywords, and words that texts of the dialect declare.
    pub is_taken: fn(&str) -> bool,
    /// The type of a variable. Storage types have names of their own, from [`Snippet`].
    pub type_name: fn(DType) -> &'static str,
    /// A constant of f32 or f64 by its bits, for values without digits.
    pub float_of_bits: fn(Scalar) -> String,
    /// The templates of an op.
    pub spelling: fn(ScalarOp) -> &'static CSpelling,
    /// A type or function that texts call.
    pub snippet: fn(Snippet) -> &'static Helper,
    /// The function of a kernel.
    pub function: KernelFunction,
    /// The block and its lanes.
    pub block: BlockWords,
    /// Which loops are unrolled.
    pub unrolling: Unrolling,
    /// Neighbours that are loaded and stored together.
    pub vectors: Vectors,
    /// Asynchronous copies.
    pub asynchronous: Asynchronous,
    /// States of a fold that has several.
    pub structures: Structures,
    /// The functions that combine the states of all lanes.
    pub reductions: Reductions,
}

/// How a dialect writes the function of a kernel.
#[derive(Debug)]
pub struct KernelFunction {
    /// The line of comment that says how it is launched: over `blocks`, of `lanes` lanes, in clusters of `cluster` blocks.
    pub launched: fn(blocks: &str, lanes: u32, cluster: u32) -> String,
    /// The text before the name, for blocks of `lanes` lanes in clusters of `cluster`; `walks`: lanes may each walk loops of
    /// their own.
    pub head: fn(lanes: u32, cluster: u32, walks: bool) -> String,
    /// The text between `*` and a buffer's name: no other pointer reaches its elements.
    pub restrict: &'static str,
    /// The text before the return type of a function that kernels call.
    pub inline: &'static str,
    /// The most bytes of parameters that a launch has room for.
    pub most_parameter_bytes: usize,
    /// Variables that texts of the dialect use, each with the statement that declares it.
    pub variables: &'static [(&'static str, &'static str)],
    /// How it writes launches of several members; `None` if each has a launch of its own.
    pub batch: Option<BatchForm>,
}

/// How a dialect writes launches of several members.
#[derive(Debug)]
pub struct BatchForm {
    /// The most bytes of a table of parameters.
    pub most_bytes: usize,
    /// The text before the name of the function that computes a block of a member.
    pub head: &'static str,
    /// The parameter of that function which has the number of the block.
    pub block: &'static str,
    /// The function that is launched.
    pub launched: fn(&BatchText<'_>) -> String,
}

/// The function that is launched for several members. Its table has the first block of each member, and the parameters of
/// each, in words of 64 bits; members that are missing begin after the last block. It calls the function of this name
/// followed by `_member`.
#[derive(Debug)]
pub struct BatchText<'a> {
    /// The text before its name.
    pub head: String,
    /// Its name.
    pub name: &'a str,
    /// The most members.
    pub members: usize,
    /// The type of each parameter.
    pub types: Vec<String>,
}

/// How a dialect writes a block, its lanes and its memory.
#[derive(Clone, Copy, Debug)]
pub struct BlockWords {
    /// The number of the block.
    pub number: &'static str,
    /// The most blocks of a launch.
    pub most: i64,
    /// The number of the lane in the block.
    pub lane: &'static str,
    /// The statement that waits for all lanes.
    pub barrier: &'static str,
    /// The statement that declares `smem`, the bytes of the block's scratch, aligned to vectors.
    pub scratch: &'static str,
    /// The function that lowers the number at an address to a smaller one, atomically.
    pub atomic_min: &'static str,
}

/// How a dialect unrolls loops.
#[derive(Debug)]
pub struct Unrolling {
    /// The line before a loop of which this number of iterations is unrolled, or all.
    pub pragma: fn(Option<u64>) -> String,
    /// How many iterations of a loop are unrolled whose lanes do not wait for each other; 1 for none.
    pub iterations: fn(&LoopShape) -> u64,
}

/// The properties that unrolling depends on.
#[derive(Clone, Copy, Debug)]
pub struct LoopShape {
    /// Whether each lane runs the loop for itself.
    pub in_lanes: bool,
    /// Whether each lane has at most one iteration of the inner loops.
    pub is_once: bool,
    /// Statements of the body and of loops in it.
    pub statements: usize,
}

/// How a dialect writes vectors: structures with one field `at`, an array.
#[derive(Debug)]
pub struct Vectors {
    /// The most vectors of each operand that a lane loads before it uses the first, in a loop with at most as many.
    pub most_in_flight: i64,
    /// The most bytes that it loads in this way: they stay in registers.
    pub most_bytes: i64,
    /// The most vectors of a private array that a lane holds in registers.
    pub most_private: i64,
    /// The most bytes of registers of a lane, in a block of `lanes` lanes.
    pub register_bytes: fn(lanes: u32) -> u64,
    /// The declaration of a variable, whose name may be followed by a length in brackets.
    pub declared: fn(&VectorVariable<'_>) -> String,
    /// The declaration of a variable that is loaded from an address.
    pub declared_as: fn(&VectorVariable<'_>, address: &str) -> String,
    /// A load into a variable.
    pub load: fn(&VectorVariable<'_>, address: &str) -> String,
    /// A store of a variable to a buffer.
    pub store: fn(&VectorVariable<'_>, address: &str) -> String,
    /// A store of a variable to scratch.
    pub store_to_scratch: fn(&VectorVariable<'_>, address: &str) -> String,
}

/// How a dialect writes asynchronous copies from buffers to scratch.
#[derive(Debug)]
pub struct Asynchronous {
    /// The statement that begins to copy `width` neighbours from one address to another.
    pub fetch: fn(width: u32, to: &str, from: &str) -> String,
    /// The statement that commits what was begun as a group, and waits until at most `pending` groups are incomplete.
    pub wait: fn(pending: u32) -> String,
}

/// A variable that holds a vector.
#[derive(Clone, Copy, Debug)]
pub struct VectorVariable<'a> {
    /// The type of its elements in memory.
    pub element: &'a str,
    /// How many there are.
    pub width: u32,
    /// The name of the variable, or an element of an array of them.
    pub variable: &'a str,
}

/// How a dialect writes structures.
#[derive(Debug)]
pub struct Structures {
    /// The definition of a type with these fields, each `type name;`.
    pub declared: fn(name: &str, fields: &str) -> String,
    /// A value of a type from these comma-separated parts.
    pub value: fn(name: &str, parts: &str) -> String,
    /// The same for a function's return value.
    pub returned: fn(name: &str, parts: &str) -> String,
    /// The lines that name the fields of a value.
    pub unpacked: fn(&Unpacked<'_>) -> Vec<String>,
}

/// A structure whose fields get names.
#[derive(Debug)]
pub struct Unpacked<'a> {
    /// The type of the structure.
    pub structure: &'a str,
    /// The value.
    pub value: &'a str,
    /// The fields, in order.
    pub fields: Vec<UnpackedField>,
}

/// A field that gets a name.
#[derive(Debug)]
pub struct UnpackedField {
    /// Its type.
    pub type_name: &'static str,
    /// Its name in the structure.
    pub field: String,
    /// The variable that it becomes.
    pub variable: String,
}

/// How a dialect combines the states of all lanes of a block.
#[derive(Debug)]
pub struct Reductions {
    /// Whether functions of one name may take different types. If not, names say the dtypes.
    pub overloads: bool,
    /// The function for a reduction: all lanes call it, and it returns the result to all.
    pub over_block: fn(&BlockReduction<'_>) -> String,
    /// A call of it with a lane's states.
    pub call: fn(&BlockReduction<'_>, states: &str) -> String,
    /// The functions that it calls, besides the one that combines two states.
    pub needs: fn(&Reduction) -> &'static [Snippet],
    /// Bytes of a block's memory that the functions of these reductions declare.
    pub bytes: fn(&[&Reduction]) -> u32,
}
