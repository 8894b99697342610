//! Names in C: a kernel's function, symbols and buffers keep their names as far as the dialect allows.

use std::collections::BTreeSet;

use cranelift_entity::SecondaryMap;
use index::{Expr, Sym};
use kernel::{Buffer, Kernel, Stmt};
use ops::{CSpelling, DType, Monoid, ScalarOp};

use super::dialect::Dialect;
use super::loops::is_once;
use super::snippet::{Helper, Snippet};

/// Words that texts of every dialect use.
const OURS: [&str; 7] = ["min", "max", "first", "mine", "end", "j", "k"];

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

/// The words that a dialect's texts use: reserved ones, and those that a kernel's body may call.
pub fn taken_words(
    reserved: &'static str,
    spelling: fn(ScalarOp) -> &'static CSpelling,
    snippet: fn(Snippet) -> &'static Helper,
) -> BTreeSet<&'static str> {
    let rows = || ScalarOp::ALL.iter().map(|&op| spelling(op));
    let templates = rows().flat_map(|row| [row.f32, row.f64, row.int, row.unsigned, row.boolean]).flatten();
    let helpers = || Snippet::ALL.iter().map(|&wanted| snippet(wanted));
    let names = helpers().map(|helper| helper.name);
    let called =
        rows().filter_map(|row| row.helper).chain(helpers().map(|helper| helper.text)).flat_map(called);
    [reserved].into_iter().chain(templates).chain(names).flat_map(words).chain(called).collect()
}

/// The names of one kernel, all different.
pub(super) struct Names {
    /// The function.
    pub(super) kernel: String,
    symbols: SecondaryMap<Sym, String>,
    buffers: SecondaryMap<Buffer, String>,
}

impl Names {
    /// Names for a kernel whose own names are identifiers of C.
    pub(super) fn new(kernel: &Kernel, dialect: &Dialect) -> Names {
        let mut used = BTreeSet::new();
        let mut unique = |name: &str| unique(name, dialect, &mut used);
        let mut names = Names {
            kernel: unique(&kernel.name),
            symbols: SecondaryMap::new(),
            buffers: SecondaryMap::new(),
        };
        for (id, decl) in &kernel.buffers {
            names.buffers[id] = unique(&decl.name);
        }
        for (id, name) in &kernel.symbols {
            names.symbols[id] = unique(name);
        }
        if let Some(var) = variable_of_block(kernel) {
            names.symbols[kernel.block] = names.symbols[var].clone();
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

/// The variable that is the number of the block: that of a loop with one iteration around the whole block.
fn variable_of_block(kernel: &Kernel) -> Option<Sym> {
    kernel.body.iter().find_map(|statement| match statement {
        Stmt::For(it) if is_once(it) && it.begin == Expr::sym(kernel.block) => Some(it.var),
        _ => None,
    })
}

/// The name, followed by underscores while it is taken.
fn unique(name: &str, dialect: &Dialect, used: &mut BTreeSet<String>) -> String {
    // C and C++ keep names with two leading underscores for themselves.
    let mut name = if name.starts_with("__") { format!("n{name}") } else { name.to_owned() };
    while (dialect.is_taken)(&name) || is_ours(&name) || used.contains(&name) {
        name.push('_');
    }
    used.insert(name.clone());
    name
}

/// Words of ours, and names that the text gives to values, accumulators, scratch arrays, reductions, ends of loops and rows. None ends with an underscore.
fn is_ours(name: &str) -> bool {
    let is_number = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    let is_lambda = |rest: &str| rest.strip_prefix("lambda").is_some_and(is_number);
    // Several folds in one call have their number after the monoid.
    let monoid =
        |rest: &str| Monoid::from_name(rest.trim_end_matches(|digit: char| digit.is_ascii_digit())).is_some();
    let is_monoid = |rest: &str| monoid(rest) || is_lambda(rest);
    let are_dtypes = |rest: &str| rest.split('_').all(|dtype| dtype.parse::<DType>().is_ok());
    let is_typed = |(monoid, dtypes): (&str, &str)| is_monoid(monoid) && are_dtypes(dtypes);
    let is_structure = |rest: &str| rest.split_once('_').is_some_and(is_typed);
    let is_reduction = |rest: &str| is_monoid(rest) || is_structure(rest);
    OURS.contains(&name)
        || ["v", "a", "w", "y", "d"].iter().any(|letter| name.strip_prefix(letter).is_some_and(is_number))
        || ["block_", "combine_"].iter().any(|prefix| name.strip_prefix(prefix).is_some_and(is_reduction))
        || is_structure(name)
        || name.ends_with("_stop")
        || name.trim_end_matches(|digit: char| digit.is_ascii_digit()).ends_with("_row")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taken_words_get_an_underscore() {
        let mut used = BTreeSet::new();
        let mut name = |name| unique(name, &crate::cuda::CUDA, &mut used);
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
        assert_eq!(name("block_max_f32"), "block_max_f32_");
        assert_eq!(name("welford_f32"), "welford_f32_");
        assert_eq!(name("argmax_f32_i64"), "argmax_f32_i64_");
        assert_eq!(name("combine_lambda3"), "combine_lambda3_");
        assert_eq!(name("block_sum2"), "block_sum2_");
        assert_eq!(name("sum2_f32"), "sum2_f32_");
        assert_eq!(name("bf16"), "bf16_");
        assert_eq!(name("x_row"), "x_row_");
        assert_eq!(name("x_row2"), "x_row2_");
        assert_eq!(name("row"), "row");
        assert_eq!(name("__syncthreads"), "n__syncthreads");
    }
}
