//! The rules of the head: names, lanes, symbols, and sizes that depend on arguments alone.

use std::collections::BTreeSet;

use index::Expr;

use super::{Check, MAX_LANES};
use crate::{Access, Assumption, BufferDecl, GPU_WARP, Kernel, MAX_CLUSTER};

impl Check<'_> {
    /// All rules of the head.
    pub(super) fn head(&mut self) {
        let kernel = self.kernel;
        self.require(is_identifier(&kernel.name), || "the kernel's name is no identifier".into());
        let most = MAX_LANES * kernel.cluster.clamp(1, MAX_CLUSTER);
        self.require(kernel.lanes.is_power_of_two() && kernel.lanes <= most, || {
            format!("{} lanes: not a power of two from 1 to {most}", kernel.lanes)
        });
        self.require(kernel.warp.is_power_of_two() && kernel.warp <= kernel.lanes, || {
            format!("warps of {}: not a power of two from 1 to the lanes", kernel.warp)
        });
        self.teams();
        self.cluster();
        self.symbol_names();
        self.arguments_and_block();
        self.over_arguments(&kernel.blocks, "the number of blocks");
        for buffer in kernel.buffers.values() {
            let BufferDecl { name, align, .. } = buffer;
            self.require(is_identifier(name), || format!("`{name}` is no identifier"));
            let aligned = align.is_power_of_two() && *align >= buffer.dtype.size() as u32;
            self.require(aligned, || {
                format!(
                    "`{name}` is aligned to {align} bytes, which is no power of two or less than an element"
                )
            });
            let is_read = |read| {
                kernel.buffers.get(read).is_some_and(|other: &BufferDecl| other.access == Access::Read)
            };
            let over = buffer.over.is_none_or(|read| buffer.access == Access::Write && is_read(read));
            self.require(over, || format!("`{name}` is over memory of no buffer that is read"));
        }
        self.assumptions();
        self.real_dtypes();
        for (id, scratch) in &kernel.scratch {
            self.over_arguments(&scratch.len, &format!("the length of {id}"));
        }
    }

    fn teams(&mut self) {
        let kernel = self.kernel;
        let threads = u64::from(kernel.lanes) * u64::from(kernel.teams);
        let is_whole =
            kernel.teams.is_power_of_two() && (kernel.teams == 1 || threads <= u64::from(MAX_LANES));
        self.require(is_whole, || {
            format!("{} teams: not a power of two, or of more than {MAX_LANES} lanes together", kernel.teams)
        });
        let shares = kernel.teams > 1 && kernel.scratch.values().any(|array| !array.private);
        self.require(!shares, || "the lanes of one of several teams share scratch".into());
    }

    fn cluster(&mut self) {
        let Kernel { cluster, lanes, warp, teams, ref scratch, .. } = *self.kernel;
        let whole = warp == GPU_WARP && lanes / GPU_WARP >= cluster;
        let rules = [
            (cluster.is_power_of_two() && cluster <= MAX_CLUSTER, "not a power of two from 1 to 8"),
            (whole, "each must have whole warps of 32 lanes"),
            (teams == 1, "each is several teams"),
            (scratch.values().all(|array| array.private), "they share scratch"),
        ];
        for (_, rule) in rules.into_iter().filter(|(holds, _)| cluster != 1 && !holds) {
            self.fail(format!("a cluster of {cluster} blocks: {rule}"));
        }
    }

    fn real_dtypes(&mut self) {
        let kernel = self.kernel;
        let values = kernel.values.values().chain(kernel.accumulators.values()).copied();
        let places = kernel.buffers.values().map(|buffer| buffer.dtype);
        let scratch = kernel.scratch.values().map(|scratch| scratch.dtype);
        let complex = values.chain(places).chain(scratch).find(|dtype| dtype.is_complex());
        self.require(complex.is_none(), || "kernels hold complex numbers as their parts".into());
    }

    fn assumptions(&mut self) {
        for assumption in &self.kernel.assumptions {
            let is_known = self.arguments.contains(&assumption.symbol());
            self.require(is_known, || "what is assumed is of no argument".into());
            let (holds, problem) = match *assumption {
                Assumption::Multiple { of, .. } => (of >= 2, format!("{of} divides anything or nothing")),
                Assumption::AtMost { most, .. } => (most >= 0, format!("no argument is at most {most}")),
            };
            self.require(holds, || problem);
        }
    }

    fn symbol_names(&mut self) {
        let mut seen = BTreeSet::new();
        for name in self.kernel.symbols.values() {
            self.require(is_identifier(name), || format!("`{name}` is no identifier"));
            let reserved = ["min", "max", "overflow"].contains(&name.as_str());
            self.require(!reserved, || format!("`{name}` is no name for a symbol"));
            self.require(seen.insert(name), || format!("two symbols are named `{name}`"));
        }
    }

    fn arguments_and_block(&mut self) {
        let kernel = self.kernel;
        for &symbol in kernel.arguments.iter().chain([&kernel.block]) {
            self.require(kernel.symbols.is_valid(symbol), || "an argument or block is not declared".into());
        }
        let different = self.symbols.len() == kernel.arguments.len() + 1;
        self.require(different, || "arguments and block are not all different".into());
    }

    fn over_arguments(&mut self, expr: &Expr, what: &str) {
        let holds = expr.symbols().is_subset(&self.arguments);
        self.require(holds, || format!("{what} does not depend on arguments alone"));
        self.require(!expr.is_overflow(), || format!("{what} outgrew the algebra"));
    }
}

/// Whether a C compiler takes the text as a name.
fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
