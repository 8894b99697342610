//! Conversions between dtypes as C++ text, with the meaning of `Scalar::cast`.

use ops::DType;

use super::dtype::in_register;
use super::prelude::{Prelude, Snippet};
use super::spelling::bare;

/// `text` of dtype `from` converted to `to`: to nearest even; float to integer truncated and saturated, NaN to 0.
pub(super) fn cast(from: DType, to: DType, text: &str, prelude: &mut Prelude) -> String {
    use DType::{Bool, F32, F64, I32, I64, U64};
    match (from, to) {
        _ if from == to => text.to_owned(),
        _ if from.is_complex() || to.is_complex() => {
            unreachable!("kernels hold the parts of complex numbers")
        }
        _ if from.is_storage_only() => cast(F32, to, &call(Snippet::widening(from), text, prelude), prelude),
        (F32, _) if to.is_storage_only() => call(Snippet::narrowing(to), text, prelude),
        (F64, _) if to.is_storage_only() => {
            let once = call(Snippet::F64ToF32Odd, text, prelude);
            call(Snippet::narrowing(to), &once, prelude)
        }
        _ if to.is_storage_only() => call(Snippet::narrowing(to), &format!("(float){text}"), prelude),
        (F32, Bool) => format!("({text} != 0.0f)"),
        (F64, Bool) => format!("({text} != 0.0)"),
        (_, Bool) => format!("({text} != 0)"),
        (F32, I32) => format!("__float2int_rz({})", bare(text)),
        (F32, I64) => call(Snippet::F32ToI64, text, prelude),
        (F32, U64) => call(Snippet::F32ToU64, text, prelude),
        (F64, I32) => call(Snippet::F64ToI32, text, prelude),
        (F64, I64) => call(Snippet::F64ToI64, text, prelude),
        (F64, U64) => call(Snippet::F64ToU64, text, prelude),
        _ => format!("({}){text}", in_register(to)),
    }
}

fn call(snippet: Snippet, text: &str, prelude: &mut Prelude) -> String {
    prelude.add(snippet);
    format!("{}({})", snippet.name(), bare(text))
}
