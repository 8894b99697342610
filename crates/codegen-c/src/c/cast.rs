//! Conversions between dtypes as text, with the meaning of `Scalar::cast`.

use ops::DType;

use super::prelude::Prelude;
use super::snippet::Snippet;
use super::spelling::bare;

/// `text` of dtype `from` converted to `to`: to nearest even; float to integer truncated and saturated, NaN to 0.
pub(super) fn cast(from: DType, to: DType, text: &str, prelude: &mut Prelude) -> String {
    use DType::{Bool, F32, F64};
    match (from, to) {
        _ if from == to => text.to_owned(),
        _ if from.is_complex() || to.is_complex() => {
            unreachable!("kernels hold the parts of complex numbers")
        }
        _ if from.is_narrow_float() => cast(F32, to, &call(Snippet::widening(from), text, prelude), prelude),
        (F32, _) if to.is_narrow_float() => call(Snippet::narrowing(to), text, prelude),
        (F64, _) if to.is_narrow_float() => {
            let once = call(Snippet::F64ToF32Odd, text, prelude);
            call(Snippet::narrowing(to), &once, prelude)
        }
        _ if to.is_narrow_float() => {
            let float = (prelude.dialect.type_name)(F32);
            call(Snippet::narrowing(to), &format!("({float}){text}"), prelude)
        }
        (F32 | F64, _) if to.is_narrow_int() => {
            let whole = cast(from, to.compute(), text, prelude);
            cast(to.compute(), to, &whole, prelude)
        }
        (F32, Bool) => format!("({text} != 0.0f)"),
        (F64, Bool) => format!("({text} != 0.0)"),
        (_, Bool) => format!("({text} != 0)"),
        _ => match Snippet::truncating(from, to) {
            Some(snippet) => call(snippet, text, prelude),
            None => format!("({}){text}", (prelude.dialect.type_name)(to)),
        },
    }
}

fn call(snippet: Snippet, text: &str, prelude: &mut Prelude) -> String {
    format!("{}({})", prelude.call(snippet), bare(text))
}
