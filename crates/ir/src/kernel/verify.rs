//! What must hold of a kernel. Takes any kernel, gives all violations with the statement each is in; changes nothing.
//!
//! Of the head:
//! * The kernel, its symbols and its buffers are named by C identifiers; no two symbols share a name, and none has a
//!   name that index expressions use themselves (`min`, `max`, `overflow`).
//! * `lanes` is a power of two from 1 to [`MAX_LANES`], so that the tree of a `reduce` is full.
//! * The arguments and the block's symbol are declared and all different.
//! * The number of blocks and the lengths of scratch arrays are expressions over arguments.
//!
//! Of ids and scopes:
//! * Every id that is used is declared. Every declared value and accumulator has exactly one definition.
//! * A value or accumulator is used only after its definition and inside the body that holds it.
//! * Loops nest at most [`MAX_NESTING`] deep. A loop's variable is declared and not in use outside the loop.
//! * Index expressions speak of arguments, the block and the variables of enclosing loops only.
//!
//! Of lanes:
//! * A loop over lanes is not inside another. Bounds of loops do not depend on the variable of a loop over lanes.
//! * `barrier` and `reduce` stand in uniform code: outside loops over lanes.
//! * An accumulator with a copy per lane (opened or set inside a loop over lanes) is read by `get` only inside such
//!   loops; outside, only by `reduce`, which takes no other accumulators.
//!
//! Of types and memory:
//! * Operands of an op have its compute dtypes and the result is of its result dtype; halves are cast first.
//! * Loaded, stored and accumulated values are of the dtype of the place or accumulator; an `index` is an i64, a
//!   constant of its value's dtype, a guard a bool.
//! * A `reduce` has one value and one accumulator per state of its monoid, of the state's dtype; halves are not
//!   reduced, and Welford's states are floats.
//! * Loads are from `read` buffers and scratch, stores to `write` buffers and scratch.
//!
//! Not here, because they depend on the data: indices in bounds, races, uninitialised scratch (`interpret.rs`).

use std::collections::BTreeSet;
use std::fmt;

use cranelift_entity::{EntityRef, SecondaryMap};
use thiserror::Error;

use super::combine::computes;
use super::uniformity::per_lane;
use super::{Access, Accumulator, Kernel, Loop, LoopKind, MAX_LANES, MAX_NESTING, Place, Stmt, Value, print};
use crate::DType;
use crate::index::{Expr, Sym};
use crate::ops::{Monoid, Operand, Prim, signature};

/// One broken rule.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("in `{statement}`: {message}")]
pub struct Violation {
    /// The statement as text; of a loop, its head.
    pub statement: String,
    /// What is wrong.
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
            Some(Stmt::For(turns)) => open.push(turns.body.iter()),
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

/// Where a value or accumulator is on its way.
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
    arguments: BTreeSet<Sym>,
    symbols: BTreeSet<Sym>,
    lane: Option<Sym>,
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
            arguments,
            symbols,
            lane: None,
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

    fn head(&mut self) {
        let kernel = self.kernel;
        self.require(is_identifier(&kernel.name), || "the kernel's name is no identifier".into());
        self.require(kernel.lanes.is_power_of_two() && kernel.lanes <= MAX_LANES, || {
            format!("{} lanes: not a power of two from 1 to {MAX_LANES}", kernel.lanes)
        });
        self.symbol_names();
        self.arguments_and_block();
        self.over_arguments(&kernel.blocks, "the number of blocks");
        for buffer in kernel.buffers.values() {
            self.require(is_identifier(&buffer.name), || format!("`{}` is no identifier", buffer.name));
        }
        for (id, scratch) in &kernel.scratch {
            self.over_arguments(&scratch.len, &format!("the length of {id}"));
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
    }

    fn body(&mut self, body: &'k [Stmt]) {
        let (mut values, mut accumulators) = (Vec::new(), Vec::new());
        for statement in body {
            self.statement = print::statement(self.kernel, statement);
            self.uses(statement);
            if let Stmt::For(turns) = statement {
                self.turns(turns);
            }
            values.extend(statement.defined());
            statement.defined().iter().for_each(|&value| self.define(value));
            if let Stmt::Open { accumulator, .. } = *statement {
                self.open(accumulator);
                accumulators.push(accumulator);
            }
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

    /// Whatever is declared is defined somewhere.
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

    fn turns(&mut self, turns: &'k Loop) {
        let over_lanes = turns.kind == LoopKind::Lanes;
        self.require(!over_lanes || self.lane.is_none(), || "a loop over lanes inside another".into());
        self.require(self.kernel.symbols.is_valid(turns.var), || {
            "the loop's variable is not declared".into()
        });
        let fresh = self.symbols.insert(turns.var);
        self.require(fresh, || "the loop's variable is in use already".into());
        let outside = self.lane;
        if over_lanes {
            self.lane = Some(turns.var);
        }
        self.body(&turns.body);
        self.lane = outside;
        if fresh {
            self.symbols.remove(&turns.var);
        }
    }

    fn uses(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Apply { value, op, args } => self.apply(*value, *op, args),
            Stmt::Cast { arg, .. } => self.value(*arg),
            Stmt::Const { value, constant } => self.typed(*value, constant.dtype(), "the constant"),
            Stmt::Index { value, index } => {
                self.index(index);
                self.typed(*value, DType::I64, "an index");
            }
            Stmt::Load { value, place, index, guard } => {
                self.place(*place, Access::Read, *value);
                self.index(index);
                self.guard(*guard);
            }
            Stmt::Store { place, index, value, guard } => {
                self.value(*value);
                self.place(*place, Access::Write, *value);
                self.index(index);
                self.guard(*guard);
            }
            Stmt::Open { accumulator, init } => {
                self.value(*init);
                self.accumulated(*accumulator, *init);
            }
            Stmt::Get { value, accumulator } => self.get(*value, *accumulator),
            Stmt::Set { accumulator, value } => {
                self.value(*value);
                self.accumulator(*accumulator);
                self.accumulated(*accumulator, *value);
            }
            Stmt::Reduce { values, monoid, accumulators } => self.reduce(values, *monoid, accumulators),
            Stmt::For(turns) => self.bounds(turns),
            Stmt::Barrier => self.uniform_code("barrier"),
        }
    }

    fn value(&mut self, value: Value) {
        let problem = match self.values[value] {
            Life::InScope => return,
            Life::Undefined => "used before its definition",
            Life::Over => "used outside the body that defines it",
        };
        self.fail(format!("{value} is {problem}"));
    }

    fn accumulator(&mut self, accumulator: Accumulator) {
        let problem = match self.accumulators[accumulator] {
            Life::InScope => return,
            Life::Undefined => "used before it is opened",
            Life::Over => "used outside the body that opens it",
        };
        self.fail(format!("{accumulator} is {problem}"));
    }

    fn apply(&mut self, value: Value, op: Prim, args: &[Value]) {
        args.iter().for_each(|&arg| self.value(arg));
        let dtypes: Option<Vec<DType>> =
            args.iter().map(|&arg| self.kernel.values.get(arg).copied()).collect();
        let Some(dtypes) = dtypes else { return };
        let operands: Vec<Operand> = dtypes.iter().map(|&dtype| Operand::tensor(dtype)).collect();
        match signature(op, &operands) {
            Err(error) => self.fail(error.to_string()),
            Ok(signature) => {
                self.require(signature.compute.as_slice() == dtypes, || {
                    format!("operands must be cast to {}", names(&signature.compute))
                });
                self.typed(value, signature.result_compute, "the result");
            }
        }
    }

    fn place(&mut self, place: Place, access: Access, value: Value) {
        let declared = match place {
            Place::Buffer(buffer) => self.kernel.buffers.get(buffer).map(|decl| (decl.dtype, decl.access)),
            Place::Scratch(scratch) => self.kernel.scratch.get(scratch).map(|decl| (decl.dtype, access)),
        };
        let Some((dtype, allowed)) = declared else { return self.fail(format!("{place} is not declared")) };
        self.require(allowed == access, || match access {
            Access::Read => format!("load from {place}, which is written"),
            Access::Write => format!("store to {place}, which is read"),
        });
        self.typed(value, dtype, &format!("an element of {place}"));
    }

    fn guard(&mut self, guard: Option<Value>) {
        if let Some(guard) = guard {
            self.value(guard);
            self.typed(guard, DType::Bool, "a guard");
        }
    }

    fn get(&mut self, value: Value, accumulator: Accumulator) {
        self.accumulator(accumulator);
        self.accumulated(accumulator, value);
        let readable = self.lane.is_some() || !self.per_lane[accumulator];
        self.require(readable, || format!("{accumulator} has a copy per lane: `reduce` it in uniform code"));
    }

    fn reduce(&mut self, values: &[Value], monoid: Monoid, accumulators: &[Accumulator]) {
        self.uniform_code("reduce");
        let element = accumulators.first().and_then(|&first| self.kernel.accumulators.get(first));
        let Some(&element) = element else { return self.fail("reduce of nothing that is declared") };
        self.require(computes(monoid, element), || {
            format!("{} does not compute in {element}", monoid.name())
        });
        let states = monoid.state_dtypes(element);
        self.require(values.len() == states.len() && accumulators.len() == states.len(), || {
            format!("the states of {} are {}", monoid.name(), names(&states))
        });
        for ((&value, &accumulator), state) in values.iter().zip(accumulators).zip(states) {
            self.accumulator(accumulator);
            self.accumulated(accumulator, value);
            self.typed(value, state, "the state");
            let many = self.per_lane[accumulator];
            self.require(many, || format!("{accumulator} has one copy only: nothing to reduce"));
        }
    }

    fn uniform_code(&mut self, what: &str) {
        self.require(self.lane.is_none(), || format!("{what} inside a loop over lanes"));
    }

    fn bounds(&mut self, turns: &Loop) {
        for bound in [&turns.begin, &turns.end] {
            self.index(bound);
            let varying = self.lane.is_some_and(|lane| bound.mentions(lane));
            self.require(!varying, || "a bound depends on the lane".into());
        }
    }

    fn index(&mut self, index: &Expr) {
        let strangers: Vec<String> =
            index.symbols().difference(&self.symbols).map(|&s| self.name(s)).collect();
        self.require(strangers.is_empty(), || format!("not in scope here: {}", strangers.join(", ")));
    }

    fn name(&self, symbol: Sym) -> String {
        self.kernel.symbols.get(symbol).cloned().unwrap_or_else(|| format!("symbol {}", symbol.index()))
    }

    fn accumulated(&mut self, accumulator: Accumulator, value: Value) {
        if let Some(&dtype) = self.kernel.accumulators.get(accumulator) {
            self.typed(value, dtype, &format!("{accumulator}"));
        }
    }

    /// Values that are not declared are reported where they are defined or used.
    fn typed(&mut self, value: Value, dtype: DType, what: &str) {
        if let Some(&given) = self.kernel.values.get(value) {
            self.require(given == dtype, || format!("{what} is of dtype {dtype}, but {value} of {given}"));
        }
    }
}

fn names(dtypes: &[DType]) -> String {
    let names: Vec<String> = dtypes.iter().map(DType::to_string).collect();
    names.join(", ")
}

/// Whether a C compiler takes the text as a name.
fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
