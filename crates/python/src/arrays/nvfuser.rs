//! Diagnostics about the inputs of a call in nvFuser's words, which scripts look for, with nvFuser's names of inputs:
//! `T0_g_float[iS0{i0}]`, `d2`. They equal nvFuser's if inputs are defined before anything else. Checks nothing.

use ferrofuse::{ArrayView, DType};
use ir::definition::{DeclaredLayout, InputDecl};
use pyo3::prelude::*;
use pyo3::types::PyFloat;

use super::{Place, constant};

/// The message about an object that is no tensor, for a declared tensor; empty for objects that nvFuser's users cannot pass.
///
/// # Errors
/// When Python cannot print it.
pub fn tensor_expected(object: &Bound<'_, PyAny>, place: Place<'_>) -> PyResult<String> {
    let given = number(object)?.map(|number| format!("an at::Tensor but got scalar {number}"));
    Ok(given.map_or_else(String::new, |given| expected(place, &given)))
}

/// The message about an object that is no scalar, or one out of the dtype's range, for a declared scalar; as above.
///
/// # Errors
/// As above.
pub fn scalar_expected(object: &Bound<'_, PyAny>, dtype: DType, place: Place<'_>) -> PyResult<String> {
    if let Some(rank) = object.getattr("shape").and_then(|shape| shape.len()).ok().filter(|&rank| rank > 0) {
        let spelled = object.getattr("dtype")?.str()?.to_string().replace("torch.", "");
        let given = spelled.parse().map(type_name).unwrap_or(&spelled);
        return Ok(expected(place, &format!("a scalar but got {given} tensor of rank {rank}")));
    }
    let said = |number| {
        let dtype = type_name(dtype);
        in_words(&format!("Scalar value {number} is not compatible with the expected data type: {dtype}."))
    };
    Ok(number(object)?.map_or_else(String::new, said))
}

/// The message about a tensor of another rank or dtype than declared, if it is one.
pub fn other_tensor(given: &ArrayView<'_>, place: Place<'_>) -> Option<String> {
    let declared = place.declared()?;
    let ranks = [declared.layout.as_ref()?.shape.len(), given.sizes().len()];
    let dtypes = [declared.dtype, given.dtype()];
    let [wanted, got] = if ranks[0] != ranks[1] {
        ranks.map(|rank| format!("rank {rank}"))
    } else if dtypes[0] != dtypes[1] {
        dtypes.map(|dtype| format!("dtype {}", type_name(dtype)))
    } else {
        return None;
    };
    Some(expected(place, &format!("bound to a tensor of {wanted}, but got a tensor of {got}")))
}

fn expected(place: Place<'_>, what: &str) -> String {
    let Place::Input(definition, number) = place else { return String::new() };
    let declared = &definition.input_decls()[..=number];
    let mut numbers = Numbers::default();
    let name = declared.iter().map(|input| numbers.name(input)).last().unwrap_or_default();
    in_words(&format!("Expected input {number}, {name}, to be {what}"))
}

fn in_words(text: &str) -> String {
    format!("; in nvFuser's words: {text}")
}

/// A number as C++ prints it.
fn number(object: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    let Some(number) = constant(object)? else { return Ok(None) };
    let real = |part: &str| -> PyResult<String> {
        let part: f64 = object.getattr(part)?.extract()?;
        Ok(PyFloat::new(object.py(), part).call_method1("__format__", ("g",))?.to_string())
    };
    Ok(Some(match number.dtype() {
        DType::Bool => u8::from(object.is_truthy()?).to_string(),
        dtype if dtype.is_int() => object.str()?.to_string(),
        dtype if dtype.is_float() => real("real")?,
        _ => format!("({},{})", real("real")?, real("imag")?),
    }))
}

/// The numbers that nvFuser has assigned: to tensors, axes, and scalars, which include the sizes of axes.
#[derive(Default)]
struct Numbers {
    tensors: usize,
    axes: usize,
    scalars: usize,
    /// Whether the constants 0 and 1 exist, which all axes share.
    constants: [bool; 2],
}

impl Numbers {
    fn name(&mut self, input: &InputDecl) -> String {
        match &input.layout {
            Some(layout) => self.tensor(type_name(input.dtype), layout),
            None => format!("{}{}", prefix(input.dtype), next(&mut self.scalars)),
        }
    }

    /// Sizes get numbers before the other scalars of an axis: its start, and the 1 that is expanded.
    fn tensor(&mut self, dtype: &str, layout: &DeclaredLayout) -> String {
        let sizes: Vec<String> = layout.shape.iter().map(|&size| self.size(size)).collect();
        let axis = |(axis, size): (usize, String)| {
            self.constant(0);
            let is_expanded = layout.is_expanded(axis);
            if is_expanded {
                self.constant(1);
            }
            let number = next(&mut self.axes);
            match layout.shape[axis] {
                1 => format!("bS{number}{{1}}"),
                _ if is_expanded => format!("bS{number}{{1 ex {size}}}"),
                _ => format!("iS{number}{{{size}}}"),
            }
        };
        let axes: Vec<String> = sizes.into_iter().enumerate().map(axis).collect();
        format!("T{}_g_{dtype}[{}]", next(&mut self.tensors), axes.join(", "))
    }

    fn size(&mut self, size: i64) -> String {
        match size {
            -1 => return format!("i{}", next(&mut self.scalars)),
            0 | 1 => self.constant(size as usize),
            _ => self.scalars += 1,
        }
        size.to_string()
    }

    fn constant(&mut self, value: usize) {
        if !std::mem::replace(&mut self.constants[value], true) {
            self.scalars += 1;
        }
    }
}

fn next(count: &mut usize) -> usize {
    *count += 1;
    *count - 1
}

fn prefix(dtype: DType) -> char {
    match dtype {
        DType::Bool => 'b',
        DType::F64 => 'd',
        _ if dtype.is_int() => 'i',
        _ if dtype.is_float() => 'f',
        _ => 'c',
    }
}

fn type_name(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::I8 => "int8_t",
        DType::I16 => "int16_t",
        DType::I32 => "int",
        DType::I64 => "int64_t",
        DType::U8 => "uint8_t",
        DType::U16 => "uint16_t",
        DType::U32 => "uint32_t",
        DType::U64 => "uint64_t",
        DType::F8E8M0 => "__e8m0",
        DType::F8E4M3 => "__e4m3",
        DType::F8E5M2 => "__e5m2",
        DType::F16 => "__half",
        DType::BF16 => "__bfloat",
        DType::F32 => "float",
        DType::F64 => "double",
        DType::C64 => "std::complex<float>",
        DType::C128 => "std::complex<double>",
    }
}
