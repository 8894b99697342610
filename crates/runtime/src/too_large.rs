//! Results that are too large to be counted: which op of the definition asks for the first one.
//!
//! Takes a definition and the inputs of a call that failed for its sizes, gives the error that names the op. Decides
//! nothing about other calls.

use std::fmt;

use ir::DType;
use ir::array::ArrayView;
use ir::define::{Action, Definition};
use ir::graph::{SizeError, Sizes, Type};

use crate::Error;

/// The error of the first op whose result has more bytes than a machine can count; nothing where no op has one.
pub fn first_result(definition: &Definition, inputs: &[ArrayView<'_>]) -> Option<Error> {
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

/// The sizes of a result as far as they are known; `None` for one that is beyond the machine.
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
