//! The errors of a call located in the definition: by the op and the line at fault.
//!
//! Takes an error of values and sizes, the definition, and the inputs of the call; returns the error in the user's terms.
//! Errors that are already in those terms stay as they are.

use std::fmt;

use ir::array::ArrayView;
use ir::definition::{Action, Definition};
use ir::graph::{InputError, SizeError, Sizes, Type, Val};
use ops::DType;
use reference::evaluate::{EvaluateError, OutOfRange};

use crate::Error;

/// The error of a call on these inputs in words of the definition.
pub fn located(error: Error, definition: &Definition, inputs: &[ArrayView<'_>]) -> Error {
    match error {
        Error::Evaluate(EvaluateError::Index { val, at }) => index(definition, val, at),
        Error::Memory { bytes: usize::MAX, .. }
        | Error::Evaluate(EvaluateError::Memory { bytes: usize::MAX })
        | Error::Input(InputError::Sizes(SizeError::Beyond { .. })) => {
            too_large(definition, inputs).unwrap_or(error)
        }
        error => error,
    }
}

fn index(definition: &Definition, val: Val, at: OutOfRange) -> Error {
    let record = &definition.record;
    let Some(site) = record.site_of(val) else {
        return Error::Index { op: definition.name_of(val), line: None, at };
    };
    let line = site.span.and_then(|span| record.line_of(span));
    // The size was added to a negative index.
    let added = if site.counts_from_end && at.index < 0 { at.size } else { 0 };
    let at = OutOfRange { axis: site.axis, index: at.index.wrapping_sub(added), ..at };
    Error::Index { op: site.op.to_owned(), line, at }
}

/// The error for the first op whose result has more bytes than a machine can count; `None` if no op has one.
fn too_large(definition: &Definition, inputs: &[ArrayView<'_>]) -> Option<Error> {
    let sizes = definition.signature().bind(inputs, &[]).ok()?;
    let record = &definition.record;
    record.statements().iter().find_map(|statement| {
        let Action::Call { op, .. } = &statement.action else { return None };
        let types = statement.results.iter().map(|&entry| definition.graph.ty(record.entry(entry).val));
        let mut counted = types.filter_map(|ty| Some((Counted::new(ty, &sizes)?, ty.dtype)));
        let (found, dtype) = counted.find(|(counted, dtype)| counted.is_too_large(*dtype))?;
        let line = statement.span.and_then(|span| record.line_of(span));
        Some(Error::TooLarge { op: (*op).to_owned(), line, dtype, sizes: found.to_string() })
    })
}

/// The sizes of a result as far as they are known; `None` for one that overflows.
struct Counted(Vec<Option<i64>>);

impl Counted {
    fn new(ty: &Type, sizes: &Sizes) -> Option<Counted> {
        let size = |size| match sizes.value(size) {
            Ok(value) => Some(Some(value)),
            Err(SizeError::Beyond { .. }) => Some(None),
            Err(_) => None,
        };
        ty.shape.iter().map(size).collect::<Option<Vec<_>>>().map(Counted)
    }

    fn is_too_large(&self, dtype: DType) -> bool {
        let element = Some(dtype.size() as i64);
        !self.0.contains(&Some(0))
            && self.0.iter().fold(element, |bytes, &size| bytes?.checked_mul(size?)).is_none()
    }
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size =
            |size: &Option<i64>| size.map_or_else(|| "2^63 or more".to_owned(), |size| size.to_string());
        write!(f, "[{}]", self.0.iter().map(size).collect::<Vec<_>>().join(", "))
    }
}
