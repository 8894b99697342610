//! Statements, one after the other, each under a comment with its text.

use index::Expr;
use kernel::{ContractedStep, Stmt, Value, print};
use ops::{DType, Scalar};

use super::operand::{Element, Operand, Type};
use super::{EmitError, Emitter, apply, convert, math};
use crate::cpu::analyses::combined::Combined;

impl Emitter<'_> {
    pub(super) fn body(&mut self, body: &[Stmt]) -> Result<(), EmitError> {
        body.iter().try_for_each(|statement| self.statement(statement))
    }

    /// A body, after the indices that it needs and that are determined already.
    pub(super) fn hoisted_body(&mut self, body: &[Stmt]) -> Result<(), EmitError> {
        let outside = self.hoist(body);
        self.body(body)?;
        self.hoisted = outside;
        Ok(())
    }

    fn statement(&mut self, statement: &Stmt) -> Result<(), EmitError> {
        let kernel = self.kernel;
        self.w.comment(print::statement(kernel, statement));
        let analyses = &self.analyses;
        let is_skipped = |&value| analyses.integer_min_max.is_idle(value) || analyses.combined.takes(value);
        if statement.defined().iter().any(is_skipped) {
            return Ok(());
        }
        match statement {
            Stmt::Apply { value, op, args } => {
                let dtype = args.last().map_or(DType::F32, |&arg| self.kernel.values[arg]);
                let steps = (self.analyses.contractions.step(*value), self.analyses.combined.at(*value));
                let result = match steps {
                    (Some(step), _) => self.contracted(step),
                    (None, Some(combined)) => self.combined(combined),
                    (None, None) => {
                        let args: Vec<Operand> = args.iter().map(|&arg| self.value(arg)).collect();
                        apply::apply(&mut self.w, *op, &args, dtype)?
                    }
                };
                self.bind(*value, result);
            }
            Stmt::Cast { value, arg } => {
                let (from, to) = (self.kernel.values[*arg], self.kernel.values[*value]);
                let result = match self.analyses.roundings.undone(*value) {
                    Some(known) => self.value(known),
                    None => {
                        let operand = self.value(*arg);
                        let has_short_nans = self.analyses.short_nans.has(*arg);
                        convert::cast_of(&mut self.w, operand, [from, to], has_short_nans)
                    }
                };
                self.bind(*value, result);
            }
            Stmt::Const { value, constant: scalar } => self.bind(*value, constant(*scalar)),
            Stmt::Index { value, index } => self.index_statement(*value, index),
            Stmt::Bind { symbol, value } => {
                let bound = self.value(*value);
                self.symbols.insert(*symbol, bound);
            }
            Stmt::Load { value, place, index, guard } => {
                let loaded = self.load(kernel.values[*value], *place, index, *guard);
                self.bind(*value, loaded);
            }
            Stmt::Store { place, index, value, guard } => self.store(*place, index, *value, *guard),
            Stmt::Prefetch { buffer, index, l2 } => self.prefetch(*buffer, index, *l2),
            Stmt::Fault { buffer, word, value, condition } => {
                self.fault(*buffer, *word, *value, *condition);
            }
            Stmt::Open { accumulator, init } => self.open(*accumulator, *init),
            Stmt::Get { value, accumulator } => {
                let contents = self.get(*accumulator);
                self.bind(*value, contents);
            }
            Stmt::Set { accumulator, value } => self.set(*accumulator, *value),
            Stmt::Reduce { values, monoid, accumulators } => {
                let states = self.reduce(values, monoid, accumulators)?;
                values.iter().zip(states).for_each(|(&value, state)| self.bind(value, state));
            }
            Stmt::For(for_loop) => self.for_loop(for_loop)?,
            // The lanes of a vector are in step, and the next instruction sees the stores of this one.
            Stmt::Fetch { .. } => unreachable!("`synchronous` has none"),
            Stmt::Await { .. } | Stmt::Barrier => {}
        }
        Ok(())
    }

    /// The sum of the previous value and a product, rounded once.
    fn contracted(&mut self, ContractedStep { before, factors, negated, .. }: ContractedStep) -> Operand {
        let [a, b] = factors.map(|factor| self.value(factor));
        let a = if negated { self.w.unary("fneg", a) } else { a };
        let before = self.value(before);
        self.w.overloaded("llvm.fma", a, &[b, before])
    }

    fn combined(&mut self, combined: Combined) -> Operand {
        match combined {
            Combined::Quotient { dividend, divisor } => {
                let [dividend, divisor] = [dividend, divisor].map(|value| self.value(value));
                self.w.binary("fdiv", dividend, divisor)
            }
            Combined::Sum { power, exponent, addend } => {
                let [exponent, addend] = [exponent, addend].map(|value| self.value(value));
                math::exponential(&mut self.w, exponent, power).plus(&mut self.w, addend)
            }
        }
    }

    fn index_statement(&mut self, value: Value, index: &Expr) {
        let operand = self.index_value(index);
        self.bind(value, operand);
    }
}

/// A constant of the kernel.
pub(super) fn constant(scalar: Scalar) -> Operand {
    let ty = Type::scalar(Element::of(scalar.dtype()));
    match scalar.dtype() {
        DType::F32 | DType::F64 => Operand::float(scalar.as_f64(), ty),
        dtype if dtype.is_storage_only() => Operand::integer(scalar.bits() as i64, ty),
        dtype if dtype.is_complex() => unreachable!("kernels hold the parts of complex numbers"),
        _ => Operand::integer(scalar.as_i64(), ty),
    }
}
