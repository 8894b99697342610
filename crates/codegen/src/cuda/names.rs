//! C++ names for what a kernel names: its function, symbols and buffers keep their names as far as C++ allows.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use cranelift_entity::SecondaryMap;
use index::Sym;
use ir::kernel::{Buffer, Kernel};
use ops::{DType, Monoid, ScalarOp};

use super::prelude::Prelude;

/// Words of C++ and CUDA, and of the text that surrounds names.
const RESERVED: &str = "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t \
    class compl const const_cast constexpr continue decltype default delete do double dynamic_cast else enum explicit \
    export extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr \
    operator or or_eq private protected public register reinterpret_cast return short signed sizeof static \
    static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename union \
    unsigned using virtual void volatile wchar_t while xor xor_eq blockDim blockIdx gridDim threadIdx warpSize \
    min max atomicMin main smem first mine end calls j k vec load store bf16 f16 f8e4m3 f8e5m2 f8e8m0 cuemu CUEMU";

/// Words that may not name anything else: those above, and what the text of a kernel's body can call.
static TAKEN: LazyLock<BTreeSet<&'static str>> = LazyLock::new(|| {
    let templates = ScalarOp::ALL.iter().flat_map(|op| {
        let cuda = op.row().cuda;
        [cuda.f32, cuda.f64, cuda.int, cuda.unsigned, cuda.boolean].into_iter().flatten()
    });
    let helpers = ScalarOp::ALL.iter().filter_map(|op| op.row().cuda.helper);
    let called = helpers.chain(Prelude::all_texts()).flat_map(called);
    [RESERVED].into_iter().chain(templates).flat_map(words).chain(called).collect()
});

/// The identifiers and numbers of a text.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c| !is_word(c)).filter(|word| !word.is_empty())
}

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

/// The words that a parenthesis follows: functions that are defined or called.
fn called(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.split('(').filter(|before| before.ends_with(is_word)).filter_map(|before| words(before).last())
}

/// The names of one kernel, all different.
pub(super) struct CudaNames {
    /// The function.
    pub(super) kernel: String,
    symbols: SecondaryMap<Sym, String>,
    buffers: SecondaryMap<Buffer, String>,
}

impl CudaNames {
    /// Names for a kernel whose own names are identifiers of C.
    pub(super) fn new(kernel: &Kernel) -> CudaNames {
        let mut used = BTreeSet::new();
        let mut names = CudaNames {
            kernel: unique(&kernel.name, &mut used),
            symbols: SecondaryMap::new(),
            buffers: SecondaryMap::new(),
        };
        for (id, decl) in &kernel.buffers {
            names.buffers[id] = unique(&decl.name, &mut used);
        }
        for (id, name) in &kernel.symbols {
            names.symbols[id] = unique(name, &mut used);
        }
        names
    }

    pub(super) fn symbol(&self, symbol: Sym) -> &str {
        &self.symbols[symbol]
    }

    pub(super) fn buffer(&self, buffer: Buffer) -> &str {
        &self.buffers[buffer]
    }
}

/// The name, with underscores behind it while it is taken.
fn unique(name: &str, used: &mut BTreeSet<String>) -> String {
    // C++ keeps names with two leading underscores for itself.
    let mut name = if name.starts_with("__") { format!("n{name}") } else { name.to_owned() };
    while TAKEN.contains(name.as_str()) || is_ours(&name) || used.contains(&name) {
        name.push('_');
    }
    used.insert(name.clone());
    name
}

/// Names that the text gives to values, accumulators, scratch arrays, reductions and ends of loops. None ends with an underscore.
fn is_ours(name: &str) -> bool {
    let is_number = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    let is_lambda = |rest: &str| rest.strip_prefix("lambda").is_some_and(is_number);
    let is_monoid = |rest: &str| Monoid::from_name(rest).is_some() || is_lambda(rest);
    let are_dtypes = |rest: &str| rest.split('_').all(|dtype| dtype.parse::<DType>().is_ok());
    let is_structure = |(monoid, dtypes): (&str, &str)| is_monoid(monoid) && are_dtypes(dtypes);
    ["v", "a", "w", "y"].iter().any(|letter| name.strip_prefix(letter).is_some_and(is_number))
        || ["block_", "combine_"].iter().any(|prefix| name.strip_prefix(prefix).is_some_and(is_monoid))
        || name.split_once('_').is_some_and(is_structure)
        || name.ends_with("_stop")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taken_words_get_an_underscore() {
        let mut used = BTreeSet::new();
        let mut name = |name| unique(name, &mut used);
        assert_eq!(name("T0"), "T0");
        assert_eq!(name("T0"), "T0_");
        assert_eq!(name("expf"), "expf_");
        assert_eq!(name("floor_div"), "floor_div_");
        assert_eq!(name("x"), "x");
        assert_eq!(name("int"), "int_");
        assert_eq!(name("v7"), "v7_");
        assert_eq!(name("v"), "v");
        assert_eq!(name("block"), "block");
        assert_eq!(name("block_sum"), "block_sum_");
        assert_eq!(name("welford_f32"), "welford_f32_");
        assert_eq!(name("argmax_f32_i64"), "argmax_f32_i64_");
        assert_eq!(name("combine_lambda3"), "combine_lambda3_");
        assert_eq!(name("bf16"), "bf16_");
        assert_eq!(name("__syncthreads"), "n__syncthreads");
    }
}
