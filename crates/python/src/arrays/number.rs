//! Numbers for inputs: Python's, and arrays without dimensions. A number is accepted only if conversion loses nothing but
//! rounding: no complex number for a real one, no float for an integer, no integer out of the dtype's range.

use ferrofuse::{Array, DType};
use ops::Scalar;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyComplexMethods, PyFloat, PyInt};

use super::{Place, numpy, nvfuser};
use crate::errors;

/// A number as a constant: Python's own, and NumPy's, which have a dtype.
///
/// # Errors
/// When an int is beyond 64 bits.
pub fn constant(given: &Bound<'_, PyAny>) -> PyResult<Option<Scalar>> {
    if let Ok(flag) = given.cast::<PyBool>() {
        return Ok(Some(Scalar::from_bool(flag.is_true())));
    }
    if let Ok(integer) = given.cast::<PyInt>() {
        return match integer.extract::<i64>() {
            Ok(number) => Ok(Some(Scalar::from_i64(DType::I64, number))),
            Err(_) => match integer.extract::<u64>() {
                Ok(number) => Ok(Some(Scalar::from_u64(DType::U64, number))),
                Err(_) => Err(errors::too_wide(integer)),
            },
        };
    }
    if given.is_instance_of::<PyFloat>() {
        return Ok(Some(Scalar::from_f64(DType::F64, given.extract()?)));
    }
    if let Ok(number) = given.cast::<PyComplex>() {
        return Ok(Some(Scalar::complex(DType::C128, number.real(), number.imag())));
    }
    if let Some(reason) = numpy::rejected(given)? {
        return Err(errors::argument(given.py(), reason));
    }
    // NumPy's scalars are not subclasses of Python's, except float64.
    if given.hasattr("dtype")?
        && given.hasattr("item")?
        && given.getattr("ndim")?.extract::<usize>().ok() == Some(0)
    {
        return constant(&given.call_method0("item")?);
    }
    Ok(None)
}

/// A number as a constant, or the only element of an array.
///
/// # Errors
/// As [`constant`].
pub fn single_constant(given: &Bound<'_, PyAny>) -> PyResult<Option<Scalar>> {
    if let Some(number) = constant(given)? {
        return Ok(Some(number));
    }
    match shape(given) {
        Some(sizes) if sizes.iter().all(|&size| size == 1) && given.hasattr("item")? => {
            constant(&given.call_method0("item")?)
        }
        _ => Ok(None),
    }
}

/// Rejects an array of several elements among the operands of an op, and names the input to declare for it.
///
/// # Errors
/// For such an array.
pub fn require_no_array(op: &str, given: &Bound<'_, PyAny>) -> PyResult<()> {
    let Some(sizes) = shape(given) else { return Ok(()) };
    let kind = given.get_type().qualname()?;
    let spelled = given.getattr("dtype")?.str()?.to_string();
    let dtype = spelled.trim_start_matches("torch.").parse().map_or("Float", DType::nvfuser_name);
    let at = if op.is_empty() { String::new() } else { format!("`{op}`: ") };
    let rank = vec!["-1"; sizes.len()].join(", ");
    let message = format!(
        "{at}an array ({kind} of shape {sizes:?}) is no value of a definition: declare an input for it, \
         fd.define_tensor(shape=[{rank}], contiguity=True, dtype=DataType.{dtype}), and give it to the call"
    );
    Err(errors::misused(given.py(), message))
}

/// The sizes of an array of any library.
fn shape(given: &Bound<'_, PyAny>) -> Option<Vec<usize>> {
    given.getattr("dtype").ok()?;
    given.getattr("shape").ok()?.extract().ok()
}

/// The number of an object, in the dtype of its input; `None` if the object is no number.
///
/// # Errors
/// For a number of another kind, and for an integer out of the dtype's range.
pub fn of(object: &Bound<'_, PyAny>, dtype: DType, place: Place<'_>) -> PyResult<Option<Array>> {
    let number = match object.cast::<PyInt>() {
        Ok(integer) if kind(dtype) > 1 => Some(integer_for_floats(integer)?),
        _ => constant(object)?,
    };
    let Some(number) = number else { return Ok(None) };
    if kind(number.dtype()) > kind(dtype) {
        return Err(rejected(object, dtype, place)?);
    }
    if dtype.is_int() && !number.fits(dtype) {
        let message = format!("{place}: the number {} is beyond {dtype}", object.str()?);
        return Err(errors::input(object.py(), message));
    }
    let array = Array::full(number.cast(dtype), &[]);
    array.map(Some).map_err(|error| errors::input(object.py(), error.to_string()))
}

/// An integer for a dtype of floats, which more than 64 bits are rounded for too.
fn integer_for_floats(integer: &Bound<'_, PyInt>) -> PyResult<Scalar> {
    match constant(integer) {
        Ok(Some(number)) => Ok(number),
        _ => {
            let rounded = integer.extract().map_err(|_| errors::too_wide(integer))?;
            Ok(Scalar::from_f64(DType::F64, rounded))
        }
    }
}

/// The error about an object that is no number, or not one of this dtype.
///
/// # Errors
/// When Python cannot print it.
pub fn rejected(object: &Bound<'_, PyAny>, dtype: DType, place: Place<'_>) -> PyResult<PyErr> {
    let wanted = ["True or False", "an integer", "a real number", "a number"][kind(dtype)];
    let remark = nvfuser::scalar_expected(object, dtype, place)?;
    place.mismatch(object, &format!("{wanted} for a scalar of dtype {dtype}"), &remark)
}

/// Bools, integers, reals, complex numbers: each includes those before it.
fn kind(dtype: DType) -> usize {
    match dtype {
        DType::Bool => 0,
        _ if dtype.is_int() => 1,
        _ if dtype.is_float() => 2,
        _ => 3,
    }
}
