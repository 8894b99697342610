//! What calls give: scalars (`Val`) and tensors (`TensorView`). Python's operators are added by the pure-Python half.

use ir::define::{Object, Value};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::builder::Builder;
use crate::data_type::DataType;
use crate::{errors, objects};

/// A scalar of a definition: an input, a constant, or computed from such.
#[pyclass(frozen, subclass, module = "ferrofuse")]
pub struct Val {
    builder: Py<Builder>,
    object: Object,
}

/// A tensor of a definition.
#[pyclass(frozen, extends = Val, module = "ferrofuse")]
pub struct TensorView;

#[pymethods]
impl Val {
    /// Applies an op to operands; what operators are made of.
    #[pyo3(signature = (op, *operands))]
    fn _apply<'py>(
        this: &Bound<'py, Self>,
        op: &str,
        operands: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        apply(this, op, operands)
    }

    /// An operator of two operands. With one that is nothing of the language it is the other's to decide.
    fn _combine<'py>(
        this: &Bound<'py, Self>,
        op: &str,
        left: &Bound<'py, PyAny>,
        right: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = this.py();
        for operand in [left, right] {
            if !operand.is_instance_of::<Val>() && objects::number(operand)?.is_none() {
                return Ok(py.NotImplemented().into_bound(py));
            }
        }
        apply(this, op, &PyTuple::new(py, [left, right])?)
    }

    /// `==` gives a value of the definition, so values are hashed by which they are.
    fn __hash__(this: &Bound<'_, Self>) -> isize {
        this.as_ptr() as isize >> 4
    }

    fn __bool__(this: &Bound<'_, Self>) -> PyResult<bool> {
        let message =
            "a value of a definition has no truth value before the definition runs; use fd.ops.where";
        Err(errors::argument(this.py(), message))
    }

    /// The dtype.
    fn dtype(&self, py: Python<'_>) -> DataType {
        DataType(match &self.object {
            Object::Value(value) => Some(self.builder.bind(py).get().ty(*value).dtype),
            Object::Number(scalar) => Some(scalar.dtype()),
            _ => None,
        })
    }

    /// Whether it is known only when the definition runs.
    fn is_symbolic(&self) -> bool {
        matches!(self.object, Object::Value(_))
    }

    /// Whether it is a tensor.
    fn is_tensor(&self, py: Python<'_>) -> bool {
        self.object.as_value().is_some_and(|value| self.builder.bind(py).get().is_tensor(value))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        match &self.object {
            Object::Value(value) => {
                let ty = self.builder.bind(py).get().ty(*value);
                let kind = if self.is_tensor(py) { "TensorView" } else { "Val" };
                format!("{kind}({ty})")
            }
            Object::Number(scalar) => format!("Val({scalar})"),
            _ => "Val()".to_owned(),
        }
    }
}

#[pymethods]
impl TensorView {
    /// Number of dimensions.
    #[getter]
    fn ndim(this: &Bound<'_, Self>) -> usize {
        let val = this.as_super().get();
        val.object.as_value().map_or(0, |value| val.builder.bind(this.py()).get().ty(value).rank())
    }

    /// The size of a dimension, a scalar of the definition.
    fn size<'py>(this: &Bound<'py, Self>, dim: i64) -> PyResult<Bound<'py, PyAny>> {
        apply(this.as_super(), "size", &(this, dim).into_pyobject(this.py())?)
    }

    /// The sizes of all dimensions, scalars of the definition.
    fn shape<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        apply(this.as_super(), "shape", &(this,).into_pyobject(this.py())?)
    }
}

impl Val {
    /// What it stands for, in a definition that it must belong to. Constants belong to all.
    ///
    /// # Errors
    /// `DefinitionError` for a value of another definition.
    pub fn object_in(&self, builder: &Bound<'_, Builder>) -> PyResult<Object> {
        if self.object.as_value().is_some() && !self.builder.bind(builder.py()).is(builder) {
            return Err(errors::definition(builder.py(), "a value of another FusionDefinition is given"));
        }
        Ok(self.object.clone())
    }

    /// A scalar for Python.
    ///
    /// # Errors
    /// When Python has no memory.
    pub fn wrap<'py>(builder: &Bound<'py, Builder>, object: Object) -> PyResult<Bound<'py, PyAny>> {
        let val = Val { builder: builder.clone().unbind(), object };
        Ok(Bound::new(builder.py(), val)?.into_any())
    }
}

impl TensorView {
    /// A tensor for Python.
    ///
    /// # Errors
    /// When Python has no memory.
    pub fn wrap<'py>(builder: &Bound<'py, Builder>, value: Value) -> PyResult<Bound<'py, PyAny>> {
        let val = Val { builder: builder.clone().unbind(), object: Object::Value(value) };
        let tensor = PyClassInitializer::from(val).add_subclass(TensorView);
        Ok(Bound::new(builder.py(), tensor)?.into_any())
    }
}

fn apply<'py>(of: &Bound<'py, Val>, op: &str, operands: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
    let py = of.py();
    of.get().builder.bind(py).call_method1("call", (op, operands, py.None()))
}
