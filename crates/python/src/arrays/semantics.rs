//! Classes whose arrays are more than their elements: masks, units, tensors that represent others. Reading them as plain
//! elements would lose their meaning, so they are rejected by name, as inputs and as destinations.
//!
//! The class itself decides: it is `numpy.ma.MaskedArray`, or it defines one of the protocols by which NumPy and torch let a
//! class override their functions. `numpy.matrix` and `numpy.memmap` define none.

use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};

/// Why arrays of a subclass of NumPy's are rejected.
///
/// # Errors
/// When reading the class's attributes fails.
pub fn of_numpy(class: &Bound<'_, PyType>) -> PyResult<Option<String>> {
    for base in class.mro().iter() {
        let base = base.cast_into::<PyType>()?;
        let (module, name) = (base.module()?, base.qualname()?);
        if name == "ndarray" && module == "numpy" {
            break;
        }
        if name == "MaskedArray" && module.to_str()?.starts_with("numpy.ma") {
            return Ok(Some("masked arrays are not supported: give filled(…) of it, or its data".to_owned()));
        }
        if let Some(protocol) = defined(&base, &["__array_ufunc__", "__array_function__"])? {
            return Ok(Some(with_meaning(class, protocol, "numpy.asarray(…)")?));
        }
    }
    Ok(None)
}

/// Why values of a class of JAX's are rejected.
///
/// # Errors
/// When reading the class's attributes fails.
pub fn of_jax(class: &Bound<'_, PyType>) -> PyResult<Option<String>> {
    for base in class.mro().iter() {
        let base = base.cast_into::<PyType>()?;
        if !base.module()?.to_str()?.starts_with("jax") {
            continue;
        }
        let reason = match base.qualname()?.to_str()? {
            "Tracer" => {
                "it is a JAX tracer, which stands for an array: call outside of jax.jit, grad and vmap"
            }
            "PRNGKeyArray" => "it is an array of JAX's random keys: give jax.random.key_data of it",
            _ => continue,
        };
        return Ok(Some(reason.to_owned()));
    }
    Ok(None)
}

/// The protocol by which a class overrides functions of torch. A compiled graph has the functions that it calls instead.
const OVERRIDES: &str = "__torch_function__";
const INSTEAD: &str = "as_subclass(torch.Tensor) of it, or what it wraps";

/// Why tensors of a subclass of torch's are rejected, and whether compiled graphs take their elements all the same.
///
/// # Errors
/// When reading the class's attributes fails.
pub fn of_torch(class: &Bound<'_, PyType>) -> PyResult<(Option<String>, bool)> {
    let reason = |reason: String| Ok((Some(reason), false));
    let py = class.py();
    let plain = py.import("torch")?.getattr("Tensor")?;
    if !class.is_subclass(&plain)? {
        return Ok((None, false)); // a dtype, say
    }
    let mut overriding = None;
    let disabled = py.import("torch._C")?.getattr("_disabled_torch_function_impl")?;
    for base in class.mro().iter().take_while(|base| !base.is(&plain)) {
        let base = base.cast_into::<PyType>()?;
        // Parameters have this one, which does not change torch's functions.
        let is_disabled = base.getattr("__torch_function__")?.is(&disabled);
        if base.qualname()? == "FakeTensor" && base.module()?.to_str()?.starts_with("torch") {
            return reason("it is a fake tensor, which has sizes and no elements".to_owned());
        }
        if let Some(protocol) = defined(&base, &["__torch_dispatch__"])? {
            return reason(with_meaning(class, protocol, INSTEAD)?);
        }
        overriding = overriding.or(defined(&base, if is_disabled { &[] } else { &[OVERRIDES] })?);
    }
    let reason = overriding.map(|protocol| with_meaning(class, protocol, INSTEAD)).transpose()?;
    Ok((reason, overriding.is_some()))
}

/// The first of these attributes that a class itself defines.
fn defined(class: &Bound<'_, PyType>, names: &[&'static str]) -> PyResult<Option<&'static str>> {
    let own = class.getattr("__dict__")?;
    for name in names {
        if own.contains(PyString::new(class.py(), name))? {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

fn with_meaning(class: &Bound<'_, PyType>, protocol: &str, instead: &str) -> PyResult<String> {
    let (module, name) = (class.module()?, class.qualname()?);
    Ok(format!(
        "arrays of {module}.{name} have a meaning of their own ({protocol}) that would be lost: give {instead}"
    ))
}
