//! `DataType`: the dtypes under nvFuser's names.
//!
//! The members come from the table of dtypes, and `Null` beside them, which stands for no dtype.

use ir::DType;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// A dtype: `DataType.Float`, `DataType.BFloat16`, … `DataType.Null` stands for none.
#[pyclass(frozen, eq, hash, module = "ferrofuse", name = "DataType")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct DataType(pub Option<DType>);

#[pymethods]
impl DataType {
    /// Its name: `Float`.
    #[getter]
    fn name(&self) -> &'static str {
        self.0.map_or("Null", DType::nvfuser_name)
    }

    /// The name that NumPy and torch have for it: `float32`; `None` for `Null`.
    #[getter]
    fn numpy_name(&self) -> Option<&'static str> {
        self.0.map(DType::numpy_name)
    }

    /// Bytes of an element; 0 for `Null`.
    #[getter]
    fn itemsize(&self) -> usize {
        self.0.map_or(0, DType::size)
    }

    fn __repr__(&self) -> String {
        format!("DataType.{}", self.name())
    }

    /// So that it can be pickled and copied.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let member = (py.get_type::<DataType>(), self.name()).into_pyobject(py)?;
        (py.import("builtins")?.getattr("getattr")?, member).into_pyobject(py)
    }
}

/// Adds the class with its members.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<DataType>()?;
    let class = module.getattr("DataType")?;
    for dtype in DType::ALL {
        class.setattr(dtype.nvfuser_name(), DataType(Some(dtype)))?;
    }
    class.setattr("Index", DataType(Some(DType::I64)))?;
    class.setattr("Null", DataType(None))
}

/// The dtype that a Python object names: a `DataType`, one of Python's number types, a dtype of NumPy or torch.
pub fn named_by(object: &Bound<'_, PyAny>) -> Option<Option<DType>> {
    if let Ok(known) = object.cast::<DataType>() {
        return Some(known.get().0);
    }
    let type_name = object.get_type().qualname().ok()?.to_string();
    let spelled = match type_name.as_str() {
        "type" => object.getattr("__name__").ok()?.to_string(),
        "dtype" => object.str().ok()?.to_string(),
        name if name.ends_with("DType") => object.str().ok()?.to_string(),
        _ => return None,
    };
    match spelled.as_str() {
        "float" => Some(Some(DType::F64)),
        "int" => Some(Some(DType::I64)),
        "bool" => Some(Some(DType::Bool)),
        other => other.trim_start_matches("torch.").parse().ok().map(Some),
    }
}
