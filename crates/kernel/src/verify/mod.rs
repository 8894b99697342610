//! The invariants of a kernel. Takes any kernel, returns all violations, each with its statement; changes nothing.
//!
//! Of the head:
//! * The kernel, its symbols and its buffers are named by C identifiers; no two symbols share a name, and none has a
//!   name that index expressions use themselves (`min`, `max`, `overflow`).
//! * `lanes` is a power of two from 1 to [`MAX_LANES`], so that the tree of a `reduce` is full; warps are a power of two of
//!   them, and all teams have [`MAX_LANES`] at most. Several teams have private scratch only.
//! * A cluster has [`MAX_CLUSTER`](super::MAX_CLUSTER) blocks at most, of `lanes` lanes each, in warps of 32. They share
//!   nothing.
//! * The arguments and the block's symbol are declared and all different.
//! * Assumptions are about arguments; a divisor is at least 2, an upper bound is not negative. Buffers are aligned to a
//!   power of two, at least to their elements.
//! * The number of blocks and the lengths of scratch arrays are expressions over arguments.
//!
//! Of ids and scopes:
//! * Every id that is used is declared. Every declared value and accumulator has exactly one definition.
//! * A value or accumulator is used only after its definition and inside the body that holds it.
//! * Loops nest at most [`MAX_NESTING`] deep. A loop's variable is declared and not in use outside the loop.
//! * A bound symbol is declared and not in use where it is bound; it is in scope until the end of the body.
//! * Index expressions use only arguments, the block, the variables of enclosing loops and bound symbols in scope.
//!
//! Of lanes:
//! * A loop over lanes is not inside another. Bounds of loops do not depend on the variable of a loop over lanes,
//!   nor on a symbol bound to a varying value.
//! * Lanes take a power of two of iterations at a time, at most [`MAX_WIDTH`](super::MAX_WIDTH); other loops take one.
//! * `fetch` stands in a loop over lanes, `await`, `barrier` and `reduce` in uniform code: outside such loops. Several teams
//!   have no barrier, and reduce at most [`GPU_WARP`] lanes, all at once.
//! * The body of a `transpose` loop is a loop over lanes, with bounds that do not depend on it, that loads an element and
//!   stores it, from a buffer to scratch or back. It advances by one element with the one loop and by one with the other.
//! * An accumulator with a copy per lane (opened or set inside a loop over lanes) is read by `get` only inside such
//!   loops; outside, only by `reduce`, which takes no other accumulators.
//!
//! Of types and memory:
//! * No value, buffer, scratch array or accumulator is complex: kernels hold the parts.
//! * Operands of an op have its compute dtypes and the result is of its result dtype; half types are cast first.
//! * Loaded, stored and accumulated values are of the dtype of the place or accumulator; an `index` is an i64, a
//!   constant of its value's dtype, a guard a bool.
//! * A `reduce` has one value and one accumulator per state of its monoid, of the state's dtype; half types are not
//!   reduced, and Welford's states are floats.
//! * A `fetch` goes from a `read` buffer to a private array of its dtype.
//! * Loads are from `read` buffers and scratch, a `prefetch` from `read` buffers, stores to `write` buffers and scratch,
//!   faults in `faults` buffers, whose words are i64, like all bound and reported values.
//!
//! Not here, because they depend on the data: indices in bounds, races, uninitialised scratch, accesses of what is in flight (`interpret`).

mod head;
mod statements;

use std::collections::BTreeSet;
use std::fmt;

use cranelift_entity::SecondaryMap;
use index::Sym;
use thiserror::Error;

use super::uniformity::{per_lane, uniformity};
use super::{Accumulator, Kernel, Loop, MAX_LANES, MAX_NESTING, Stmt, Value, print};

/// One broken rule.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("in `{statement}`: {message}")]
pub struct Violation {
    /// The statement as text; of a loop, its head.
    pub statement: String,
    pub message: String,
}

/// All broken rules, in the order of the text.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct Violations(pub Vec<Violation>);

impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(Violation::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

/// Checks every rule of the list above.
pub fn verify(kernel: &Kernel) -> Result<(), Violations> {
    let mut check = Check::new(kernel);
    check.head();
    if nesting(&kernel.body) > MAX_NESTING {
        check.fail(format!("loops nest more than {MAX_NESTING} deep"));
    } else {
        check.per_lane = per_lane(kernel);
        check.uniform = uniformity(kernel);
        check.body(&kernel.body);
        check.all_defined();
    }
    if check.violations.is_empty() { Ok(()) } else { Err(Violations(check.violations)) }
}

/// How deep loops nest, counted without recursion.
fn nesting(body: &[Stmt]) -> usize {
    let mut deepest = 0;
    let mut open = vec![body.iter()];
    while let Some(statements) = open.last_mut() {
        match statements.next() {
            Some(Stmt::For(for_loop)) => open.push(for_loop.body.iter()),
            Some(_) => {}
            None => drop(open.pop()),
        }
        deepest = deepest.max(open.len().saturating_sub(1));
        if deepest > MAX_NESTING {
            break;
        }
    }
    deepest
}

/// The state of a value or accumulator in the walk.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Life {
    #[default]
    Undefined,
    InScope,
    Over,
}

struct Check<'k> {
    kernel: &'k Kernel,
    violations: Vec<Violation>,
    statement: String,
    values: SecondaryMap<Value, Life>,
    accumulators: SecondaryMap<Accumulator, Life>,
    per_lane: SecondaryMap<Accumulator, bool>,
    uniform: SecondaryMap<Value, bool>,
    arguments: BTreeSet<Sym>,
    symbols: BTreeSet<Sym>,
    lane: Option<Sym>,
    /// The bound symbols in scope that differ from lane to lane.
    varying: BTreeSet<Sym>,
}

impl<'k> Check<'k> {
    fn new(kernel: &'k Kernel) -> Self {
        let arguments: BTreeSet<Sym> = kernel.arguments.iter().copied().collect();
        let mut symbols = arguments.clone();
        symbols.insert(kernel.block);
        Self {
            kernel,
            violations: Vec::new(),
            statement: format!("kernel {}", kernel.name),
            values: SecondaryMap::new(),
            accumulators: SecondaryMap::new(),
            per_lane: SecondaryMap::new(),
            uniform: SecondaryMap::new(),
            arguments,
            symbols,
            lane: None,
            varying: BTreeSet::new(),
        }
    }

    fn fail(&mut self, message: impl Into<String>) {
        self.violations.push(Violation { statement: self.statement.clone(), message: message.into() });
    }

    fn require(&mut self, holds: bool, message: impl FnOnce() -> String) {
        if !holds {
            self.fail(message());
        }
    }

    fn body(&mut self, body: &'k [Stmt]) {
        let (mut values, mut accumulators, mut bound) = (Vec::new(), Vec::new(), Vec::new());
        for statement in body {
            self.statement = print::statement(self.kernel, statement);
            self.uses(statement);
            if let Stmt::For(for_loop) = statement {
                self.for_loop(for_loop);
            }
            if let Stmt::Bind { symbol, value } = *statement
                && self.symbols.insert(symbol)
            {
                bound.push(symbol);
                if !self.uniform[value] {
                    self.varying.insert(symbol);
                }
            }
            values.extend(statement.defined());
            statement.defined().iter().for_each(|&value| self.define(value));
            if let Stmt::Open { accumulator, .. } = *statement {
                self.open(accumulator);
                accumulators.push(accumulator);
            }
        }
        for symbol in bound {
            self.symbols.remove(&symbol);
            self.varying.remove(&symbol);
        }
        values.into_iter().for_each(|value| self.values[value] = Life::Over);
        accumulators.into_iter().for_each(|accumulator| self.accumulators[accumulator] = Life::Over);
    }

    fn define(&mut self, value: Value) {
        self.require(self.kernel.values.is_valid(value), || format!("{value} is not declared"));
        self.require(self.values[value] == Life::Undefined, || format!("{value} is defined twice"));
        self.values[value] = Life::InScope;
    }

    fn open(&mut self, accumulator: Accumulator) {
        self.require(self.kernel.accumulators.is_valid(accumulator), || {
            format!("{accumulator} is not declared")
        });
        let first = self.accumulators[accumulator] == Life::Undefined;
        self.require(first, || format!("{accumulator} is opened twice"));
        self.accumulators[accumulator] = Life::InScope;
    }

    /// Checks that all declared ids are defined somewhere.
    fn all_defined(&mut self) {
        self.statement = format!("kernel {}", self.kernel.name);
        let kernel = self.kernel;
        for value in kernel.values.keys() {
            self.require(self.values[value] != Life::Undefined, || format!("{value} is never defined"));
        }
        for accumulator in kernel.accumulators.keys() {
            let opened = self.accumulators[accumulator] != Life::Undefined;
            self.require(opened, || format!("{accumulator} is never opened"));
        }
    }

    fn for_loop(&mut self, for_loop: &'k Loop) {
        let over_lanes = for_loop.kind.is_over_lanes();
        self.require(!over_lanes || self.lane.is_none(), || "a loop over lanes inside another".into());
        self.require(self.kernel.symbols.is_valid(for_loop.var), || {
            "the loop's variable is not declared".into()
        });
        let fresh = self.symbols.insert(for_loop.var);
        self.require(fresh, || "the loop's variable is in use already".into());
        let outside = self.lane;
        if over_lanes {
            self.lane = Some(for_loop.var);
        }
        self.body(&for_loop.body);
        self.lane = outside;
        if fresh {
            self.symbols.remove(&for_loop.var);
        }
    }
}
