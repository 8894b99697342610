//! The functions that a kernel's text calls and CUDA does not have, each put before the kernel once and only if
//! needed. Takes requests, gives their text in a fixed order.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};

use indexmap::IndexSet;
use ops::Monoid;

use super::reduce::Reduction;
pub(super) use super::snippets::Snippet;

/// What has been asked for.
#[derive(Debug, Default)]
pub(super) struct Prelude {
    snippets: BTreeSet<Snippet>,
    /// Functions of the op table, in the order of their first use.
    ops: IndexSet<&'static str>,
    reductions: IndexSet<Reduction>,
    /// Texts of `reductions`.
    reduction_texts: Vec<String>,
}

impl Prelude {
    /// Asks for a function, and the type it speaks of.
    pub(super) fn add(&mut self, snippet: Snippet) {
        for needed in snippet.needs() {
            self.add(*needed);
        }
        self.snippets.insert(snippet);
    }

    /// Asks for functions of the op table.
    pub(super) fn add_op(&mut self, text: &'static str) {
        self.ops.insert(text);
    }

    /// What the functions of a reduction are named after. Lambdas are numbered as they come.
    pub(super) fn stem(&self, reduction: &Reduction) -> String {
        let number = self.reductions.get_index_of(reduction).unwrap_or(self.reductions.len());
        match reduction.monoid {
            Monoid::Lambda(_) => format!("lambda{number}"),
            ref named => named.name().to_owned(),
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

    /// Shared memory that the reductions declare.
    pub(super) fn static_shared_bytes(&self) -> u32 {
        self.reductions.iter().map(Reduction::shared_bytes).sum()
    }

    /// Every word that the fixed texts of the prelude use.
    pub(super) fn all_texts() -> impl Iterator<Item = &'static str> {
        Snippet::ALL.iter().copied().map(Snippet::text)
    }
}

impl Display for Prelude {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let snippets = self.snippets.iter().map(|snippet| snippet.text());
        let ops = self.ops.iter().copied();
        let reductions = self.reduction_texts.iter().map(String::as_str);
        let mut texts = snippets.chain(ops).chain(reductions).peekable();
        let any = texts.peek().is_some();
        texts.try_for_each(|text| f.write_str(text))?;
        f.write_str(if any { "\n" } else { "" })
    }
}
