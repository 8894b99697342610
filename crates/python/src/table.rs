//! The ops as the Python interface and its stubs need them: names, parameters, kinds, defaults, docs.

use ::ops::{self as table, OpRef, Param, ParamDefault};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::data_type::DataType;

/// Every op: a dict of `name`, `doc`, `kind` (`scalar` ops take their operands by position) and `params`, a list of dicts of
/// `name`, `kind`, `required` and `default`.
#[pyfunction]
pub fn ops(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let rows: PyResult<Vec<Bound<'_, PyDict>>> = OpRef::all().map(|op| row(py, op)).collect();
    PyList::new(py, rows?)
}

/// Every op, or the one with this name, as `ferrofuse ops --json` prints it: signature, dtypes, rule of the result, error
/// bounds, meaning.
#[pyfunction]
#[pyo3(signature = (name = None))]
pub fn describe_ops(name: Option<&str>) -> String {
    let entries: Vec<ferrofuse::OpEntry> = match name {
        Some(name) => ferrofuse::op_entry(name).into_iter().collect(),
        None => ferrofuse::op_entries().collect(),
    };
    serde_json::to_string(&entries).expect("entries are plain data")
}

/// The op with the nearest name, if one is near.
#[pyfunction]
pub fn nearest_op(name: &str) -> Option<&'static str> {
    table::lookup(name).err()?.did_you_mean
}

/// Why an op of nvFuser's does not exist here, if it is such a one.
#[pyfunction]
pub fn why_rejected(name: &str) -> Option<&'static str> {
    table::rejected(name)
}

fn row(py: Python<'_>, op: OpRef) -> PyResult<Bound<'_, PyDict>> {
    let params: PyResult<Vec<Bound<'_, PyDict>>> =
        op.params().iter().map(|param| parameter(py, param)).collect();
    let row = PyDict::new(py);
    row.set_item("name", op.name())?;
    row.set_item("doc", op.doc())?;
    row.set_item("kind", if matches!(op, OpRef::Language(_)) { "form" } else { "scalar" })?;
    row.set_item("params", PyList::new(py, params?)?)?;
    Ok(row)
}

fn parameter<'py>(py: Python<'py>, param: &Param) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("name", param.name)?;
    row.set_item("alias", param.alias)?;
    row.set_item("kind", format!("{:?}", param.kind))?;
    row.set_item("required", param.default == ParamDefault::Required)?;
    let default = match param.default {
        ParamDefault::Int(n) => n.into_pyobject(py)?.into_any(),
        ParamDefault::Float(x) => x.into_pyobject(py)?.into_any(),
        ParamDefault::Bool(flag) => flag.into_pyobject(py)?.to_owned().into_any(),
        ParamDefault::DType(dtype) => DataType::new(Some(dtype)).into_pyobject(py)?.into_any(),
        ParamDefault::Required | ParamDefault::Absent | ParamDefault::Lowest | ParamDefault::Highest => {
            py.None().into_bound(py)
        }
    };
    row.set_item("default", default)?;
    Ok(row)
}
