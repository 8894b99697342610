//! Loads and stores, and the addresses of elements.

use index::Expr;
use kernel::{Loop, Place, Value};
use ops::{DType, Scalar};

use super::EmitError;
use super::body::KernelWriter;
use super::rows::Row;
use super::signature::{element_type, is_overwritten};
use super::spelling::bare;
use super::values::{Reads, Text};

impl KernelWriter<'_> {
    pub(super) fn load(
        &mut self,
        value: Value,
        place: Place,
        index: &Expr,
        guard: Option<Value>,
    ) -> Result<(), EmitError> {
        let dtype = self.kernel.values[value];
        let guard = guard.map(|guard| self.values.at_use(guard));
        let element = self.element(place, index)?;
        let element = if dtype == DType::Bool { format!("({element} != 0)") } else { element };
        let text = match guard {
            None => Text { code: element, reads: Reads::NOTHING },
            Some(guard) => {
                let zero = self.dialect.literal(Scalar::zero(dtype));
                Text { code: format!("({} ? {} : {zero})", guard.code, bare(&element)), ..guard }
            }
        };
        match place {
            Place::Buffer(buffer) => {
                let overwritten = is_overwritten(self.kernel, buffer);
                let reads = text.reads.and(Reads { overwritten, ..Reads::NOTHING });
                self.define(value, Text { reads, ..text });
            }
            // The contents of scratch may change before the value is used.
            Place::Scratch(_) => self.declare(value, &text),
        }
        Ok(())
    }

    pub(super) fn store(
        &mut self,
        place: Place,
        index: &Expr,
        value: Value,
        guard: Option<Value>,
    ) -> Result<(), EmitError> {
        let guard = guard.map(|guard| self.values.at_use(guard).code);
        let value = self.values.at_use(value).code;
        let element = self.element(place, index)?;
        let condition = self.condition(guard);
        if let Place::Buffer(buffer) = place
            && self.kernel.buffers[buffer].over.is_some()
        {
            self.write_pending_where(|reads| reads.overwritten);
        }
        self.line(&format!("{condition}{element} = {};", bare(&value)));
        Ok(())
    }

    /// The text of an element.
    pub(super) fn element(&mut self, place: Place, index: &Expr) -> Result<String, EmitError> {
        let (begin, index) = self.row(place, index)?;
        Ok(format!("{begin}[{}]", self.index(&index)?))
    }

    /// The address of the neighbours of an access, where the loop is at `first`.
    pub(super) fn address(
        &mut self,
        place: Place,
        index: &Expr,
        for_loop: &Loop,
        first: &str,
    ) -> Result<String, EmitError> {
        let (begin, index) = self.row(place, index)?;
        let rest = index - Expr::sym(for_loop.var);
        Ok(match self.index(&rest)?.as_str() {
            "0" => format!("{begin} + {first}"),
            rest => match rest.strip_prefix('-') {
                Some(less) => format!("{begin} - {less} + {first}"),
                None => format!("{begin} + {rest} + {first}"),
            },
        })
    }

    /// The base of an access, and the rest of its index: the row of a buffer, which is declared if it is new; or the array,
    /// if the row is only a number of elements per block or iteration.
    fn row(&mut self, place: Place, index: &Expr) -> Result<(String, Expr), EmitError> {
        let array = self.place_name(place);
        let Place::Buffer(buffer) = place else { return Ok((array, index.clone())) };
        let (offset, rest) = self.lists.split(&self.kernel.arguments, index);
        let is_short = offset.terms().iter().all(|term| term.monomial.factors().len() < 2);
        if is_short && offset.terms().len() < 2 || !self.scope.in_lanes {
            return Ok((array, index.clone()));
        }
        if let Some(row) = self.lists.visible().find(|row| row.buffer == buffer && row.offset == offset) {
            return Ok((row.name.clone(), rest));
        }
        let name = self.lists.free_name(&array);
        let elements = element_type(&self.kernel.buffers[buffer], self.dialect);
        let line = format!("{elements}* const {name} = {array} + {};", self.index(&offset)?);
        self.lists.declare(Row { buffer, offset, name: name.clone() }, line);
        Ok((name, rest))
    }

    /// The name of a place's array.
    fn place_name(&self, place: Place) -> String {
        match place {
            Place::Buffer(buffer) => self.names.buffer(buffer).to_owned(),
            Place::Scratch(scratch) => scratch.to_string(),
        }
    }
}
