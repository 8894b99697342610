//! The results of calls: scalars (`Val`) and tensors (`TensorView`). Python code of the package adds their operators.

use ferrofuse::CodeTarget;
use ir::definition::{NamedValue, Object, Term};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyDict, PyTuple};

use super::{Builder, ValueTask};
use crate::arrays::{require_no_array, single_constant};
use crate::data_type::DataType;
use crate::executable::{Chosen, Executable, PlannedCall};
use crate::{errors, machine};

/// The meaning of a `Val`.
#[derive(Clone)]
pub enum Meaning {
    /// A value or a constant of the definition.
    Object(Object),
    /// An expression of a lambda's parameters, while the lambda is traced.
    Term(Term),
}

/// A scalar of a definition: an input, a constant, or computed from such.
#[pyclass(frozen, subclass, module = "ferrofuse")]
pub struct Val {
    builder: Py<Builder>,
    meaning: Meaning,
}

/// A tensor of a definition.
#[pyclass(frozen, extends = Val, module = "ferrofuse")]
pub struct TensorView;

#[pymethods]
impl Val {
    /// Applies an op to operands in a line of the user's program; operators use it.
    #[pyo3(signature = (op, place, *operands, **keywords))]
    fn _apply<'py>(
        this: &Bound<'py, Self>,
        op: &str,
        place: (PyBackedStr, usize),
        operands: &Bound<'py, PyTuple>,
        keywords: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        this.get().builder.get().at(&place.0, place.1);
        this.get().builder.bind(this.py()).call_method1("call", (op, operands, keywords))
    }

    /// An operator of two operands. With one that is nothing of the language it is the other's to decide.
    fn _combine<'py>(
        this: &Bound<'py, Self>,
        op: &str,
        left: &Bound<'py, PyAny>,
        right: &Bound<'py, PyAny>,
        place: (PyBackedStr, usize),
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = this.py();
        for operand in [left, right] {
            if !operand.is_instance_of::<Val>() && single_constant(operand)?.is_none() {
                require_no_array(op, operand)?;
                return Ok(py.NotImplemented().into_bound(py));
            }
        }
        this.get().builder.get().at(&place.0, place.1);
        apply(this, op, &PyTuple::new(py, [left, right])?)
    }

    /// `==` gives a value of the definition, so values are hashed by which they are.
    fn __hash__(this: &Bound<'_, Self>) -> isize {
        this.as_ptr() as isize >> 4
    }

    fn __bool__(this: &Bound<'_, Self>) -> PyResult<bool> {
        let message = "a value of a definition has no truth value before the definition runs: a branch on it cannot be \
             taken; use fd.ops.where";
        Err(errors::misused(this.py(), message))
    }

    /// The dtype.
    fn dtype(&self, py: Python<'_>) -> DataType {
        DataType::new(match &self.meaning {
            Meaning::Object(Object::Value(value)) => Some(self.builder.bind(py).get().ty(*value).dtype),
            Meaning::Object(Object::Number(scalar)) => Some(scalar.dtype()),
            _ => None,
        })
    }

    /// Whether it is known only when the definition runs.
    fn is_symbolic(&self) -> bool {
        !matches!(self.meaning, Meaning::Object(Object::Number(_)))
    }

    /// Whether it is a tensor.
    fn is_tensor(&self, py: Python<'_>) -> bool {
        self.value().is_some_and(|value| self.builder.bind(py).get().is_tensor(value))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        match &self.meaning {
            Meaning::Object(Object::Value(value)) => {
                let ty = self.builder.bind(py).get().ty(*value);
                let kind = if self.is_tensor(py) { "TensorView" } else { "Val" };
                format!("{kind}({ty})")
            }
            Meaning::Object(Object::Number(scalar)) => format!("Val({scalar})"),
            Meaning::Object(_) => "Val()".to_owned(),
            Meaning::Term(_) => "Val(of a lambda)".to_owned(),
        }
    }
}

#[pymethods]
impl TensorView {
    /// Number of dimensions.
    #[getter]
    fn ndim(this: &Bound<'_, Self>) -> usize {
        let val = this.as_super().get();
        val.value().map_or(0, |value| val.builder.bind(this.py()).get().ty(value).rank())
    }

    /// The size of a dimension, a scalar of the definition.
    fn size<'py>(this: &Bound<'py, Self>, dim: i64) -> PyResult<Bound<'py, PyAny>> {
        apply(this.as_super(), "size", &(this, dim).into_pyobject(this.py())?)
    }

    /// The tasks that define, use or compute it: composites, groups, and the segments that the compiler finds.
    fn tasks(this: &Bound<'_, Self>) -> PyResult<Vec<ValueTask>> {
        let (py, val) = (this.py(), this.as_super().get());
        let Some(value) = val.value() else { return Ok(Vec::new()) };
        let executable = Executable::new(val.builder.get().definition(py)?, None);
        let tasks = executable.planned(
            py,
            CodeTarget::Cpu(machine::target()),
            None,
            Chosen::Searched,
            |definition, PlannedCall { plan, .. }| ferrofuse::tasks(definition, plan),
        )?;
        let tasks = tasks.map_err(|error| errors::segments(py, &error))?;
        Ok(ValueTask::of(&tasks, value.val))
    }

    /// The sizes of all dimensions, scalars of the definition.
    fn shape<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        apply(this.as_super(), "shape", &(this,).into_pyobject(this.py())?)
    }
}

impl Val {
    /// Its meaning, in a definition that it must belong to. Constants belong to all definitions.
    ///
    /// # Errors
    /// `DefinitionError` for a value of another definition, and for a lambda's parameter outside of the lambda.
    pub fn object_in(&self, builder: &Bound<'_, Builder>) -> PyResult<Object> {
        let py = builder.py();
        match &self.meaning {
            Meaning::Object(Object::Value(_)) if !self.builder.bind(py).is(builder) => {
                Err(errors::misplaced(py, "a value of another FusionDefinition is given"))
            }
            Meaning::Object(object) => Ok(object.clone()),
            Meaning::Term(_) => {
                Err(errors::misplaced(py, "a lambda's parameter has no meaning outside of the lambda"))
            }
        }
    }

    /// Its expression while a lambda is traced.
    pub fn term(&self) -> Option<&Term> {
        match &self.meaning {
            Meaning::Term(term) => Some(term),
            Meaning::Object(_) => None,
        }
    }

    fn value(&self) -> Option<NamedValue> {
        match &self.meaning {
            Meaning::Object(object) => object.as_value(),
            Meaning::Term(_) => None,
        }
    }

    /// A scalar, or an expression of a lambda, for Python.
    ///
    /// # Errors
    /// When Python has no memory.
    pub fn wrap<'py>(builder: &Bound<'py, Builder>, meaning: Meaning) -> PyResult<Bound<'py, PyAny>> {
        let val = Val { builder: builder.clone().unbind(), meaning };
        Ok(Bound::new(builder.py(), val)?.into_any())
    }
}

impl TensorView {
    /// A tensor for Python.
    ///
    /// # Errors
    /// When Python has no memory.
    pub fn wrap<'py>(builder: &Bound<'py, Builder>, value: NamedValue) -> PyResult<Bound<'py, PyAny>> {
        let val = Val { builder: builder.clone().unbind(), meaning: Meaning::Object(Object::Value(value)) };
        let tensor = PyClassInitializer::from(val).add_subclass(TensorView);
        Ok(Bound::new(builder.py(), tensor)?.into_any())
    }
}

fn apply<'py>(of: &Bound<'py, Val>, op: &str, operands: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
    let py = of.py();
    of.get().builder.bind(py).call_method1("call", (op, operands, py.None()))
}
