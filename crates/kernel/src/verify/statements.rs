//! The rules of one statement: its operands are in scope and of the right dtype, and it is in an allowed place.

use std::fmt::Display;

use cranelift_entity::EntityRef;
use index::{Expr, Sym};
use ops::combine::computes;
use ops::{DType, Monoid, Operand, ScalarOp, signature};

use super::{Check, Life};
use crate::{
    Access, Accumulator, Buffer, GPU_WARP, Kernel, Loop, LoopKind, MAX_WIDTH, Place, Scratch, Stmt,
    Transpose, Value,
};

impl Check<'_> {
    /// All rules of the statement itself; those of a loop's body are checked with the body.
    pub(super) fn uses(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Apply { value, op, args } => self.apply(*value, *op, args),
            Stmt::Cast { arg, .. } => self.value(*arg),
            Stmt::Const { value, constant } => self.typed(*value, constant.dtype(), "the constant"),
            Stmt::Index { value, index } => {
                self.index(index);
                self.typed(*value, DType::I64, "an index");
            }
            Stmt::Bind { symbol, value } => self.bind(*symbol, *value),
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
            Stmt::Prefetch { buffer, index, .. } => {
                self.access(Place::Buffer(*buffer), Access::Read);
                self.index(index);
            }
            Stmt::Fetch { scratch, index, buffer, from } => self.fetch(*scratch, index, *buffer, from),
            Stmt::Await { .. } => self.uniform_code("await"),
            Stmt::Fault { buffer, value, condition, .. } => {
                self.value(*value);
                self.place(Place::Buffer(*buffer), Access::Fault, *value);
                self.typed(*value, DType::I64, "what is reported");
                self.guard(Some(*condition));
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
            Stmt::Reduce { values, monoid, accumulators } => self.reduce(values, monoid, accumulators),
            Stmt::For(for_loop) => self.bounds(for_loop),
            Stmt::Barrier => {
                self.uniform_code("barrier");
                self.require(self.kernel.teams == 1, || "several teams wait for each other".into());
                self.require(self.kernel.cluster == 1, || "it is of one block of a cluster".into());
            }
        }
    }

    fn fetch(&mut self, scratch: Scratch, index: &Expr, buffer: Buffer, from: &Expr) {
        self.require(self.lane.is_some(), || "fetch outside a loop over lanes".into());
        self.index(index);
        self.index(from);
        let to = self.access(Place::Scratch(scratch), Access::Write);
        let own = self.access(Place::Buffer(buffer), Access::Read);
        self.require(to == own || to.is_none() || own.is_none(), || {
            format!("{scratch} and {buffer} are of different dtypes")
        });
        let is_private = self.kernel.scratch.get(scratch).is_none_or(|decl| decl.private);
        self.require(is_private, || format!("{scratch} is not private"));
    }

    fn value(&mut self, value: Value) {
        self.in_scope(self.values[value], &value, ["its definition", "defines"]);
    }

    fn accumulator(&mut self, accumulator: Accumulator) {
        self.in_scope(self.accumulators[accumulator], &accumulator, ["it is opened", "opens"]);
    }

    fn in_scope(&mut self, life: Life, id: &dyn Display, [begin, begins]: [&str; 2]) {
        match life {
            Life::InScope => {}
            Life::Undefined => self.fail(format!("{id} is used before {begin}")),
            Life::Over => self.fail(format!("{id} is used outside the body that {begins} it")),
        }
    }

    fn apply(&mut self, value: Value, op: ScalarOp, args: &[Value]) {
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
        if let Some(dtype) = self.access(place, access) {
            self.typed(value, dtype, &format!("an element of {place}"));
        }
    }

    /// The dtype of a place that may be accessed in this way; `None` for one that is not declared.
    fn access(&mut self, place: Place, access: Access) -> Option<DType> {
        let declared = match place {
            Place::Buffer(buffer) => self.kernel.buffers.get(buffer).map(|decl| (decl.dtype, decl.access)),
            Place::Scratch(scratch) => self.kernel.scratch.get(scratch).map(|decl| (decl.dtype, access)),
        };
        let Some((dtype, allowed)) = declared else {
            self.fail(format!("{place} is not declared"));
            return None;
        };
        self.require(allowed == access, || {
            let words = |access| match access {
                Access::Read => ("load from", "is read"),
                Access::Write => ("store to", "is written"),
                Access::Fault => ("fault in", "holds fault words"),
            };
            format!("{} {place}, which {}", words(access).0, words(allowed).1)
        });
        Some(dtype)
    }

    /// The symbol itself comes into scope with the statement's end.
    fn bind(&mut self, symbol: Sym, value: Value) {
        self.value(value);
        self.typed(value, DType::I64, "a bound value");
        let declared = self.kernel.symbols.is_valid(symbol);
        self.require(declared, || "the bound symbol is not declared".into());
        let fresh = !self.symbols.contains(&symbol);
        self.require(fresh, || "the bound symbol is in use already".into());
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

    fn reduce(&mut self, values: &[Value], monoid: &Monoid, accumulators: &[Accumulator]) {
        self.uniform_code("reduce");
        let Kernel { lanes, warp, teams, .. } = *self.kernel;
        let within = teams == 1 || (lanes <= GPU_WARP && warp == lanes);
        self.require(within, || {
            format!("{lanes} lanes of one of several teams reduce at most {GPU_WARP} at once")
        });
        let states: Option<Vec<DType>> =
            accumulators.iter().map(|&state| self.kernel.accumulators.get(state).copied()).collect();
        let Some(states) = states.filter(|states| !states.is_empty()) else {
            return self.fail("reduce of nothing that is declared");
        };
        self.require(values.len() == states.len() && states.len() == monoid.states(), || {
            format!("{} has {} states", monoid.name(), monoid.states())
        });
        let wide = states.iter().all(|&state| state == DType::F32)
            && values.iter().all(|&value| self.kernel.values.get(value) == Some(&DType::F64));
        let states = if wide { vec![DType::F64; states.len()] } else { states };
        self.require(computes(monoid, &states), || {
            format!("{} does not compute in {}", monoid.name(), names(&states))
        });
        for ((&value, &accumulator), state) in values.iter().zip(accumulators).zip(states) {
            self.accumulator(accumulator);
            self.typed(value, state, &format!("{accumulator}"));
            let many = self.per_lane[accumulator];
            self.require(many, || format!("{accumulator} has one copy only: nothing to reduce"));
        }
    }

    fn uniform_code(&mut self, what: &str) {
        self.require(self.lane.is_none(), || format!("{what} inside a loop over lanes"));
    }

    fn width(&mut self, for_loop: &Loop) {
        let Loop { width, kind, .. } = *for_loop;
        self.require(width.is_power_of_two() && width <= MAX_WIDTH, || {
            format!("lanes take {width} at a time: not a power of two from 1 to {MAX_WIDTH}")
        });
        self.require(width == 1 || kind.is_over_lanes(), || "only lanes take several at a time".into());
    }

    fn bounds(&mut self, for_loop: &Loop) {
        self.width(for_loop);
        let copies = for_loop.kind != LoopKind::Transpose || Transpose::of(for_loop).is_some();
        self.require(copies, || {
            "it is to copy a rectangle from a buffer to scratch or back, transposed, and no more".into()
        });
        for bound in [&for_loop.begin, &for_loop.end] {
            self.index(bound);
            let varying = self.lane.is_some_and(|lane| bound.mentions(lane))
                || self.varying.iter().any(|&symbol| bound.mentions(symbol));
            self.require(!varying, || "a bound depends on the lane".into());
        }
    }

    fn index(&mut self, index: &Expr) {
        let strangers: Vec<String> =
            index.symbols().difference(&self.symbols).map(|&s| self.name(s)).collect();
        self.require(strangers.is_empty(), || format!("not in scope here: {}", strangers.join(", ")));
        self.require(!index.is_overflow(), || "an index expression outgrew the algebra".into());
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
