//! The functions that a kernel's text calls and its dialect lacks, each written before the kernel once and only if needed.
//! Takes requests, returns their text in a fixed order.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};

use indexmap::IndexSet;
use ops::{DType, Monoid};

use super::dialect::Dialect;
use super::names::words;
use super::reduce::Reduction;
use super::snippet::Snippet;

/// What has been asked for.
#[derive(Debug)]
pub(super) struct Prelude {
    pub(super) dialect: &'static Dialect,
    snippets: BTreeSet<Snippet>,
    /// Functions of the op table, in the order of their first use.
    ops: IndexSet<&'static str>,
    reductions: IndexSet<Reduction>,
    /// Texts of `reductions`.
    reduction_texts: Vec<String>,
}

impl Prelude {
    pub(super) fn new(dialect: &'static Dialect) -> Prelude {
        Prelude {
            dialect,
            snippets: BTreeSet::new(),
            ops: IndexSet::new(),
            reductions: IndexSet::new(),
            reduction_texts: Vec::new(),
        }
    }

    /// Requests a function, and the type that it uses.
    pub(super) fn add(&mut self, snippet: Snippet) {
        for needed in (self.dialect.snippet)(snippet).needs {
            self.add(*needed);
        }
        self.snippets.insert(snippet);
    }

    /// Requests a function, and returns its name.
    pub(super) fn call(&mut self, snippet: Snippet) -> &'static str {
        self.add(snippet);
        (self.dialect.snippet)(snippet).name
    }

    /// Requests functions of the op table.
    pub(super) fn add_op(&mut self, text: &'static str) {
        self.ops.insert(text);
    }

    /// The stem of the names of a reduction's functions. Lambdas are numbered in order.
    pub(super) fn stem(&self, reduction: &Reduction) -> String {
        let number = self.reductions.get_index_of(reduction).unwrap_or(self.reductions.len());
        let several = reduction.monoid.is_symmetric() && reduction.dtypes.len() > 1;
        let count = if several { reduction.dtypes.len().to_string() } else { String::new() };
        match reduction.monoid {
            Monoid::Lambda(_) => format!("lambda{number}"),
            ref named if self.dialect.reductions.overloads => format!("{}{count}", named.name()),
            ref named => {
                let dtypes: Vec<String> = reduction.dtypes.iter().map(DType::to_string).collect();
                format!("{}{count}_{}", named.name(), dtypes.join("_"))
            }
        }
    }

    /// Whether the reduction is new; its text must then follow.
    pub(super) fn lacks(&self, reduction: &Reduction) -> bool {
        !self.reductions.contains(reduction)
    }

    /// Adds a reduction with its text.
    pub(super) fn add_reduction(&mut self, reduction: Reduction, text: String) {
        self.reductions.insert(reduction);
        self.reduction_texts.push(text);
    }

    /// Bytes of a block's memory that the reductions declare.
    pub(super) fn reduction_bytes(&self) -> u32 {
        (self.dialect.reductions.bytes)(&self.reductions.iter().collect::<Vec<_>>())
    }
}

impl Display for Prelude {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let snippets = self.snippets.iter().map(|&snippet| (self.dialect.snippet)(snippet).text);
        let ops = self.ops.iter().copied();
        let reductions = self.reduction_texts.iter().map(String::as_str);
        let functions: Vec<&str> = snippets.chain(ops).chain(reductions).collect();
        let is_used = |name: &str| functions.iter().copied().flat_map(words).any(|word| word == name);
        let macros = self.dialect.macros.iter().filter(|(name, _)| is_used(name)).map(|&(_, text)| text);
        let texts = [self.dialect.preamble].into_iter().chain(macros).chain(functions.iter().copied());
        let mut texts = texts.filter(|text| !text.is_empty()).peekable();
        let any = texts.peek().is_some();
        texts.try_for_each(|text| f.write_str(text))?;
        f.write_str(if any { "\n" } else { "" })
    }
}
