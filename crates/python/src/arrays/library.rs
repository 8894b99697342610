//! The libraries whose arrays come in and go out: how each exports its arrays and imports ours.
//!
//! Looked up once for each class of arrays. An unknown library is still accepted by `__dlpack__`; NumPy, which needs none of
//! this, is in `numpy`.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyImportError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyType;

use super::dlpack::{self, Exchange};
use super::torch::Torch;
use super::{GpuArray, OutputMemory, semantics};
use crate::errors;
use crate::gpu::Streams;

/// The number of cached classes; beyond these (classes made in a loop) each look-up is repeated.
const MOST_CLASSES: usize = 64;

/// The values of `like`, as errors list them.
const NAMES: &str = "'numpy', 'torch', 'jax' or 'cupy'";

/// A library of arrays.
pub struct Library {
    /// Makes an array from a capsule, or from an object with `__dlpack__`.
    import: Py<PyAny>,
    /// Makes a capsule from an array; `None` means the array's own `__dlpack__`.
    pub export: Option<Py<PyAny>>,
    /// Its C functions for both, which are faster.
    pub exchange: Option<Exchange>,
    /// Whether its arrays are immutable.
    pub is_constant: bool,
    /// Whether its arrays may have stride 0.
    pub has_strides: bool,
    /// Further functions of torch.
    pub torch: Option<Torch>,
    /// Its functions for GPUs, if it has streams.
    pub streams: Option<Streams>,
    /// Why arrays of this class are rejected.
    pub rejected: Option<String>,
    /// Whether compiled graphs take them all the same, as plain tensors.
    is_plain_in_graphs: bool,
}

type Classes = Mutex<Vec<(Py<PyType>, Arc<Library>)>>;
static CLASSES: Classes = Mutex::new(Vec::new());

/// The library of an object's class, if known.
///
/// # Errors
/// When a module of that name lacks an expected attribute.
pub fn of(object: &Bound<'_, PyAny>) -> PyResult<Option<Arc<Library>>> {
    of_class(&object.get_type())
}

fn of_class(class: &Bound<'_, PyType>) -> PyResult<Option<Arc<Library>>> {
    let known = CLASSES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, library)) = known.iter().find(|(known, _)| known.is(class)) {
        return Ok(Some(Arc::clone(library)));
    }
    drop(known); // a look-up runs Python, which may call this again
    let Some(library) = look_up(class)? else { return Ok(None) };
    let library = Arc::new(library);
    let mut known = CLASSES.lock().unwrap_or_else(PoisonError::into_inner);
    if known.len() < MOST_CLASSES {
        known.push((class.clone().unbind(), Arc::clone(&library)));
    }
    Ok(Some(library))
}

/// The library that an argument `like` names; `None` for NumPy.
///
/// # Errors
/// As `named`, and for an object that is no name.
pub fn like(like: &Bound<'_, PyAny>) -> PyResult<Option<Arc<Library>>> {
    let py = like.py();
    let Ok(name) = like.extract::<String>() else {
        let given = like.repr()?;
        return Err(errors::argument(py, format!("like must be {NAMES}, but is {given}")));
    };
    named(py, &name, &format!("like='{name}'"))
}

/// The library of this name; `None` for NumPy.
///
/// # Errors
/// For a name of no library, and when the library cannot be imported, with the argument that requested it.
pub fn named(py: Python<'_>, name: &str, asked: &str) -> PyResult<Option<Arc<Library>>> {
    let (module, class) = match name {
        "numpy" => return Ok(None),
        "torch" => ("torch", "Tensor"),
        "jax" => ("jax", "Array"),
        "cupy" => ("cupy", "ndarray"),
        _ => {
            return Err(PyValueError::new_err(format!("like must be {NAMES}, but is '{name}'")));
        }
    };
    let module = py.import(module).map_err(|error| missing(py, name, asked, error))?;
    let class = module.getattr(class)?.cast_into::<PyType>()?;
    of_class(&class)
}

/// torch, if it is installed with GPUs: the library for a call that names a GPU and has no arrays.
///
/// # Errors
/// When torch lacks an expected attribute.
pub fn with_gpus(py: Python<'_>) -> PyResult<Option<Arc<Library>>> {
    let Ok(torch) = py.import("torch") else { return Ok(None) };
    let Some(cuda) = torch.getattr_opt("cuda")? else { return Ok(None) };
    match cuda.call_method0("is_available")?.is_truthy()? {
        true => named(py, "torch", "device="),
        false => Ok(None),
    }
}

/// A library that cannot be imported.
fn missing(py: Python<'_>, name: &str, asked: &str, error: PyErr) -> PyErr {
    if !error.is_instance_of::<PyImportError>(py) {
        return error;
    }
    let reason = error.value(py).to_string();
    let message = format!("{asked} asks for arrays of {name}, which cannot be imported ({reason})");
    let missing = PyImportError::new_err(message);
    missing.set_cause(py, Some(error));
    missing
}

/// Looks at the packages of the class and its bases.
fn look_up(class: &Bound<'_, PyType>) -> PyResult<Option<Library>> {
    let py = class.py();
    for base in class.mro().iter() {
        let module: String = base.getattr("__module__")?.extract()?;
        let (import, export, streams) = match module.split('.').next() {
            // The functions that `Tensor.__dlpack__` and `torch.from_dlpack` end in, without their work for other devices.
            Some("torch") => {
                let bare = py.import("torch._C")?;
                (bare.getattr("_from_dlpack")?, Some(bare.getattr("_to_dlpack")?), Some("torch"))
            }
            Some("cupy") => (py.import("cupy")?.getattr("from_dlpack")?, None, Some("cupy")),
            Some("jax" | "jaxlib") => (py.import("jax.dlpack")?.getattr("from_dlpack")?, None, None),
            _ => continue,
        };
        let (is_torch, is_constant) = (export.is_some(), streams.is_none());
        let streams = streams.map(|name| Streams::of(py, name)).transpose()?;
        let torch = is_torch.then(|| Torch::new(py)).transpose()?;
        let (rejected, is_plain_in_graphs) =
            if is_torch { semantics::of_torch(class)? } else { (semantics::of_jax(class)?, false) };
        let export = export.map(Bound::unbind);
        let (import, has_strides, exchange) = (import.unbind(), !is_constant, Exchange::of(class));
        return Ok(Some(Library {
            import,
            export,
            exchange,
            is_constant,
            has_strides,
            torch,
            streams,
            rejected,
            is_plain_in_graphs,
        }));
    }
    Ok(None)
}

/// What a compiled graph takes in place of a tensor that calls reject: a plain one, if its class only overrides functions,
/// which were called while the graph was traced.
///
/// # Errors
/// Errors of torch.
pub fn plain_in_graphs<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let library = of(object)?.filter(|library| library.is_plain_in_graphs);
    library.and_then(|library| Some(library.torch.as_ref()?.plain(object))).transpose()
}

impl Library {
    /// An array with lazy operations carried out: torch keeps a sign, and the conjugation of complex tensors, in a flag that
    /// DLPack cannot express.
    ///
    /// # Errors
    /// Errors of the library.
    pub fn resolved<'py>(
        &self,
        array: &Bound<'py, PyAny>,
        is_complex: bool,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = array.py();
        let lazy = |flag| array.call_method0(flag)?.is_truthy();
        if self.torch.is_none()
            || !(lazy(intern!(py, "is_neg"))? || is_complex && lazy(intern!(py, "is_conj"))?)
        {
            return Ok(None);
        }
        array.call_method0("resolve_conj")?.call_method0("resolve_neg").map(Some)
    }

    /// An array of the library around our array on a GPU.
    ///
    /// # Errors
    /// When the library has no such dtype.
    pub fn adopt<'py>(&self, py: Python<'py>, array: GpuArray) -> PyResult<Bound<'py, PyAny>> {
        match &self.exchange {
            Some(exchange) => exchange.array(py, array.memory()),
            None if self.torch.is_some() => {
                self.import.bind(py).call1((dlpack::export(py, array.memory())?,))
            }
            None => self.import.bind(py).call1((array,)),
        }
    }

    /// An array of the library around our memory.
    ///
    /// # Errors
    /// When the library has no such dtype.
    pub fn import<'py>(&self, py: Python<'py>, memory: OutputMemory) -> PyResult<Bound<'py, PyAny>> {
        let import = self.import.bind(py);
        match &self.exchange {
            Some(exchange) => exchange.array(py, memory.exported()),
            None if self.torch.is_some() => import.call1((dlpack::export(py, memory.exported())?,)),
            None => import.call1((memory,)),
        }
    }
}
