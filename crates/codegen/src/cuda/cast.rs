//! Conversions between dtypes as C++ text, with the meaning of `Scalar::cast`.

use ir::DType;

use super::prelude::{Prelude, Snippet};
use super::spelling::bare;

/// `text` of dtype `from` converted to `to`: to nearest even; float to integer truncated and saturated, NaN to 0.
pub(super) fn cast(from: DType, to: DType, text: &str, prelude: &mut Prelude) -> String {
    use DType::{BF16, Bool, F16, F32, F64, I32, I64};
    match (from, to) {
        _ if from == to => text.to_owned(),
        (F16, _) => cast(F32, to, &call(Snippet::F16ToF32, text, prelude), prelude),
        (BF16, _) => cast(F32, to, &call(Snippet::Bf16ToF32, text, prelude), prelude),
        (Bool | I32 | I64, F16 | BF16) => half(to, &format!("(float){text}"), prelude),
        (F32, F16 | BF16) => half(to, text, prelude),
        (F64, F16 | BF16) => {
            let once = call(Snippet::F64ToF32Odd, text, prelude);
            half(to, &once, prelude)
        }
        (F32, Bool) => format!("({text} != 0.0f)"),
        (F64, Bool) => format!("({text} != 0.0)"),
        (_, Bool) => format!("({text} != 0)"),
        (F32, I32) => format!("__float2int_rz({})", bare(text)),
        (F32, I64) => call(Snippet::F32ToI64, text, prelude),
        (F64, I32) => call(Snippet::F64ToI32, text, prelude),
        (F64, I64) => call(Snippet::F64ToI64, text, prelude),
        (_, I32) => format!("(int){text}"),
        (_, I64) => format!("(long long){text}"),
        (_, F32) => format!("(float){text}"),
        (_, F64) => format!("(double){text}"),
    }
}

fn half(to: DType, text: &str, prelude: &mut Prelude) -> String {
    let snippet = if to == DType::F16 { Snippet::F32ToF16 } else { Snippet::F32ToBf16 };
    call(snippet, text, prelude)
}

fn call(snippet: Snippet, text: &str, prelude: &mut Prelude) -> String {
    prelude.add(snippet);
    format!("{}({})", snippet.name(), bare(text))
}
