//! `DataType`: the dtypes under nvFuser's names.
//!
//! The members come from the table of dtypes. Besides them there are `Null`, which means no dtype, and nvFuser's dtypes that
//! are not supported: these can be named, and are rejected where they are used.

use ops::DType;
use pyo3::exceptions::PyNotImplementedError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// A dtype: `DataType.Float`, `DataType.BFloat16`, … `DataType.Null` stands for none.
#[pyclass(frozen, eq, hash, module = "ferrofuse", name = "DataType")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct DataType(Member);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Member {
    Null,
    Known(DType),
    /// nvFuser's name, and torch's.
    Unsupported(&'static str, &'static str),
}

/// Floats of four bits: one per byte, and two per byte.
const UNSUPPORTED: [(&str, &str); 2] =
    [("Float4_e2m1fn", "float4_e2m1fn"), ("Float4_e2m1fn_x2", "float4_e2m1fn_x2")];

impl DataType {
    /// A dtype of the table, or `Null`.
    pub fn new(dtype: Option<DType>) -> DataType {
        DataType(dtype.map_or(Member::Null, Member::Known))
    }
}

#[pymethods]
impl DataType {
    /// Its name: `Float`.
    #[getter]
    fn name(&self) -> &'static str {
        match self.0 {
            Member::Null => "Null",
            Member::Known(dtype) => dtype.nvfuser_name(),
            Member::Unsupported(name, _) => name,
        }
    }

    /// The name that NumPy and torch have for it: `float32`; `None` for `Null`.
    #[getter]
    fn numpy_name(&self) -> Option<&'static str> {
        match self.0 {
            Member::Null => None,
            Member::Known(dtype) => Some(dtype.numpy_name()),
            Member::Unsupported(_, name) => Some(name),
        }
    }

    /// Bytes of an element; 0 for `Null` and for unsupported dtypes.
    #[getter]
    fn itemsize(&self) -> usize {
        if let Member::Known(dtype) = self.0 { dtype.size() } else { 0 }
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
    module.add_function(wrap_pyfunction!(data_type, module)?)?;
    let class = module.getattr("DataType")?;
    for dtype in DType::ALL {
        class.setattr(dtype.nvfuser_name(), DataType::new(Some(dtype)))?;
    }
    for (name, torch) in UNSUPPORTED {
        class.setattr(name, DataType(Member::Unsupported(name, torch)))?;
    }
    class.setattr("Index", DataType::new(Some(DType::I64)))?;
    class.setattr("Null", DataType::new(None))
}

/// The dtype that a Python object names, as [`named_by`]; `None` if it names none.
#[pyfunction]
fn data_type(object: &Bound<'_, PyAny>) -> PyResult<Option<DataType>> {
    match object.cast::<DataType>() {
        Ok(member) => Ok(Some(*member.get())),
        Err(_) => Ok(named_by(object)?.map(DataType::new)),
    }
}

/// The dtype that a Python object names: a `DataType`, one of Python's number types, a dtype of NumPy or torch.
///
/// # Errors
/// For a dtype that is not supported.
pub fn named_by(object: &Bound<'_, PyAny>) -> PyResult<Option<Option<DType>>> {
    let Ok(member) = object.cast::<DataType>() else { return Ok(of_another_library(object)) };
    match member.get().0 {
        Member::Null => Ok(Some(None)),
        Member::Known(dtype) => Ok(Some(Some(dtype))),
        Member::Unsupported(name, _) => {
            let message = format!(
                "DataType.{name} is not supported: only nvFuser's block-scaled matmuls take floats of four bits"
            );
            Err(PyNotImplementedError::new_err(message))
        }
    }
}

fn of_another_library(object: &Bound<'_, PyAny>) -> Option<Option<DType>> {
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
        "complex" => Some(Some(DType::C128)),
        other => other.trim_start_matches("torch.").parse().ok().map(Some),
    }
}
