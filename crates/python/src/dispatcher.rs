//! Fused functions: a call goes to what was traced for arguments of these kinds.

use std::sync::OnceLock;

use ::numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyComplex, PyDict, PyFloat, PyFrozenSet, PyTuple, PyType};
use pyo3::{PyTraverseError, PyVisit, intern};
use smallvec::SmallVec;

/// A function that runs what was traced for its arguments. Its subclass traces: a call that is not known yet, or that
/// gives arguments by name, goes to its method `_call`.
#[pyclass(subclass, frozen, module = "ferrofuse._native")]
pub struct Dispatcher {
    known: OnceLock<Known>,
}

/// What was traced.
struct Known {
    /// What runs, by the key of all arguments: an object whose method `call` takes them.
    traced: Py<PyDict>,
    /// The default of each parameter.
    defaults: Py<PyTuple>,
    /// The number of parameters that may be given by position.
    positional: usize,
}

#[pymethods]
impl Dispatcher {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Dispatcher {
        Dispatcher { known: OnceLock::new() }
    }

    /// Sets what was traced, which the subclass adds to, the parameters' defaults, and how many are positional.
    fn __init__(&self, traced: Py<PyDict>, defaults: Py<PyTuple>, positional: usize) {
        self.known.get_or_init(|| Known { traced, defaults, positional });
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        this: &Bound<'py, Dispatcher>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = this.py();
        if kwargs.is_none_or(|kwargs| kwargs.is_empty())
            && let Some((traced, arguments)) = this.get().known.get().and_then(|known| known.find(args))
        {
            return traced.call_method1(intern!(py, "call"), (arguments,));
        }
        this.call_method(intern!(py, "_call"), args, kwargs)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.known.get().map_or(Ok(()), |known| visit.call(&known.traced))
    }
}

impl Known {
    /// What was traced for such arguments, and all of these. Nothing for arguments that have no key; `_call` says why.
    fn find<'py>(&self, args: &Bound<'py, PyTuple>) -> Option<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let py = args.py();
        let (given, defaults) = (args.len(), self.defaults.bind(py));
        let arguments = match given {
            _ if given > self.positional => return None,
            _ if given == defaults.len() => args.clone(),
            _ => PyTuple::new(py, args.iter().chain(defaults.iter().skip(given)).collect::<Vec<_>>()).ok()?,
        };
        let traced = self.traced.bind(py).get_item(kinds(&arguments).ok()?).ok()??;
        Some((traced, arguments))
    }
}

type Key<'py> = SmallVec<[Bound<'py, PyAny>; 12]>;

/// The key of arguments: of an array its class, its dtype and which of its axes have size 1; of a float its class; of
/// others, which are constants, their class and value.
///
/// # Errors
/// Errors of an argument's attributes.
#[pyfunction]
pub fn kinds<'py>(arguments: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyTuple>> {
    let mut key = Key::new();
    for argument in arguments.iter_borrowed() {
        let class = argument.get_type().into_any();
        match dtype_and_axes(&argument)? {
            Some((dtype, axes)) => key.extend([class, dtype, axes.into_any()]),
            None if argument.is_exact_instance_of::<PyFloat>() => key.push(class),
            None => key.extend([class, constant(&argument)?]),
        }
    }
    PyTuple::new(arguments.py(), key)
}

/// The dtype of an array, and for each axis a byte that says whether its size is 1; `None` for other objects, and for
/// types such as `numpy.float32`.
fn dtype_and_axes<'py>(
    argument: &Bound<'py, PyAny>,
) -> PyResult<Option<(Bound<'py, PyAny>, Bound<'py, PyBytes>)>> {
    let py = argument.py();
    if let Ok(array) = argument.cast_exact::<PyUntypedArray>() {
        let axes: SmallVec<[u8; 8]> = array.shape().iter().map(|&size| (size == 1).into()).collect();
        return Ok(Some((array.dtype().into_any(), PyBytes::new(py, &axes))));
    }
    if argument.is_instance_of::<PyType>() {
        return Ok(None);
    }
    let Some(shape) = argument.getattr_opt(intern!(py, "shape"))? else { return Ok(None) };
    let Some(dtype) = argument.getattr_opt(intern!(py, "dtype"))? else { return Ok(None) };
    let is_one = |size: PyResult<Bound<'py, PyAny>>| -> PyResult<u8> { Ok(size?.eq(1)?.into()) };
    let axes: SmallVec<[u8; 8]> = shape.try_iter()?.map(is_one).collect::<PyResult<_>>()?;
    Ok(Some((dtype, PyBytes::new(py, &axes))))
}

/// What tells a constant from others of its class: of floats, whose zeros are equal, the text; of tuples and sets the
/// class too of each item, as 1, 1.0 and True are equal.
fn constant<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    let items = || -> PyResult<Vec<_>> {
        value.try_iter()?.map(|item| item.and_then(|item| Ok((item.get_type(), constant(&item)?)))).collect()
    };
    if value.is_instance_of::<PyTuple>() {
        Ok(PyTuple::new(py, items()?)?.into_any())
    } else if value.is_instance_of::<PyFrozenSet>() {
        Ok(PyFrozenSet::new(py, items()?)?.into_any())
    } else if value.is_instance_of::<PyFloat>() || value.is_instance_of::<PyComplex>() {
        Ok(value.repr()?.into_any())
    } else {
        Ok(value.clone())
    }
}
