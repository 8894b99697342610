//! Sizes in an outlined definition: numbers, axes of inputs, expressions over these, or separate inputs.

use index::{Atom, Expr, Term};
use ir::definition::{CallArgument, Object};
use ops::{DType, LanguageOp};

use super::super::error::DefineError;
use super::{Origin, Outliner};

impl Outliner<'_> {
    pub(super) fn size_list<'e>(
        &mut self,
        sizes: impl IntoIterator<Item = &'e Expr>,
    ) -> Result<Object, DefineError> {
        let sizes = sizes.into_iter().map(|size| self.size(size)).collect::<Result<Vec<_>, _>>()?;
        Ok(Object::list(sizes))
    }

    /// A size as a number or a scalar: an axis of an input, an expression over such, or a separate input.
    pub(super) fn size(&mut self, size: &Expr) -> Result<Object, DefineError> {
        if let Some(n) = size.as_const() {
            return Ok(Object::int(n));
        }
        if let Some(known) = self.sizes.get(size) {
            return Ok(known.clone());
        }
        let facts = self.view.facts();
        let shown =
            self.axes.iter().find(|(shown, ..)| shown == size || facts.prove_eq(shown, size)).cloned();
        let object = match shown {
            Some((_, value, axis)) => {
                let axis = CallArgument::keyword("dim", Object::int(axis as i64));
                self.builder.call(LanguageOp::Size.name(), vec![CallArgument::positional(value), axis])?
            }
            None => match size.as_atom() {
                Some(Atom::Min(a, b)) => self.combine("minimum", a, b)?,
                Some(Atom::Max(a, b)) => self.combine("maximum", a, b)?,
                None if !size.is_overflow() => self.sum(size)?,
                _ => {
                    self.origins.push(Origin::Size(size.clone()));
                    self.builder.define_scalar(vec![CallArgument::positional(Object::DType(DType::I64))])?
                }
            },
        };
        self.sizes.insert(size.clone(), object.clone());
        Ok(object)
    }

    fn combine(&mut self, op: &str, a: &Expr, b: &Expr) -> Result<Object, DefineError> {
        let operands = [self.size(a)?, self.size(b)?];
        self.builder.call(op, operands.into_iter().map(CallArgument::positional).collect())
    }

    /// A polynomial, term by term.
    fn sum(&mut self, size: &Expr) -> Result<Object, DefineError> {
        let mut sum: Option<Object> = None;
        for term in size.terms() {
            let term = self.term(term)?;
            sum = Some(match sum {
                None => term,
                Some(sum) => self
                    .builder
                    .call("add", vec![CallArgument::positional(sum), CallArgument::positional(term)])?,
            });
        }
        Ok(sum.unwrap_or_else(|| Object::int(0)))
    }

    fn term(&mut self, term: &Term) -> Result<Object, DefineError> {
        let powers = term.monomial.factors().iter();
        let factors: Vec<Atom> =
            powers.flat_map(|(atom, power)| std::iter::repeat_n(atom.clone(), *power as usize)).collect();
        let mut product = Object::int(term.coefficient);
        for atom in factors {
            let factor = self.size(&Expr::from_atom(atom))?;
            product = match product.as_int() {
                Some(1) => factor,
                _ => {
                    let factors = vec![CallArgument::positional(product), CallArgument::positional(factor)];
                    self.builder.call("mul", factors)?
                }
            };
        }
        Ok(product)
    }
}
