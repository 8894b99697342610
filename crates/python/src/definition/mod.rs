//! A definition under construction, as built from Python.
//!
//! Every method takes Python objects and returns values of the definition. A rejected call adds no line.

pub mod bodies;
mod lambda;
mod objects;
mod task;
mod value;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ferrofuse::{Definition, DefinitionBuilder, printed_names, result_name, value_name};
use frontend::define::DefineError;
use frontend::text::{NameStyle, Which, print_record};
use ir::definition::{Action, CallArgument, NamedValue, Object};
use ir::graph::Type;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

pub use task::ValueTask;
pub use value::{TensorView, Val};

use crate::errors;
use crate::executable::Executable;
use value::Meaning;

/// A definition under construction.
#[pyclass(frozen, module = "ferrofuse._native")]
pub struct Builder {
    builder: Mutex<DefinitionBuilder>,
    /// The number of open `with` blocks.
    blocks: AtomicUsize,
}

type Declare = fn(&mut DefinitionBuilder, Vec<CallArgument>) -> Result<Object, DefineError>;

#[pymethods]
impl Builder {
    #[new]
    fn new() -> Builder {
        Builder::from(DefinitionBuilder::new())
    }

    /// A builder that continues the definition in a text.
    #[staticmethod]
    fn read(py: Python<'_>, text: &str) -> PyResult<Builder> {
        let read = ferrofuse::define(text).map_err(|error| errors::definition(py, error.to_string()))?;
        Ok(Builder::from(DefinitionBuilder::going_on(read)))
    }

    /// A separate builder that continues from here.
    fn copy(&self) -> Builder {
        Builder::from(self.lock().clone())
    }

    /// Begins a `with` block: calls are accepted until all blocks have ended.
    fn open(&self) {
        self.blocks.fetch_add(1, Ordering::Relaxed);
    }

    /// Ends a `with` block.
    fn close(&self) {
        self.blocks.fetch_sub(1, Ordering::Relaxed);
    }

    /// Sets the file and the line of the user's program that the next statement comes from.
    pub fn at(&self, file: &str, line: usize) {
        self.lock().set_line(file, line);
    }

    /// Applies the op of this name.
    #[pyo3(signature = (op, args, kwargs))]
    fn call<'py>(
        this: &Bound<'py, Self>,
        op: &str,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        this.get().require_open(this.py(), op)?;
        check_binding(op, args, kwargs)?;
        if let Some(term) = lambda::call(this, op, args, kwargs)? {
            return Val::wrap(this, Meaning::Term(term));
        }
        let arguments = objects::arguments(this, args, kwargs)?;
        let made = this.get().lock().call(op, arguments);
        let made = made.map_err(|error| this.get().rejected(this.py(), &error))?;
        objects::result(this, &made, op == "shape")
    }

    /// Declares an input tensor.
    #[pyo3(signature = (*args, **kwargs))]
    fn define_tensor<'py>(
        this: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        this.get().require_open(this.py(), "define_tensor")?;
        declare(this, args, kwargs, |builder, given| builder.define_tensor(given).map(Object::Value))
    }

    /// Declares a scalar, an input or a constant.
    #[pyo3(signature = (*args, **kwargs))]
    fn define_scalar<'py>(
        this: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        this.get().require_open(this.py(), "define_scalar")?;
        declare(this, args, kwargs, DefinitionBuilder::define_scalar)
    }

    /// Declares several integer scalars.
    #[pyo3(signature = (*args, **kwargs))]
    fn define_vector<'py>(
        this: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        this.get().require_open(this.py(), "define_vector")?;
        declare(this, args, kwargs, DefinitionBuilder::define_vector)
    }

    /// A scalar of a list of scalars.
    #[pyo3(signature = (*args, **kwargs))]
    fn vector_item<'py>(
        this: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        this.get().require_open(this.py(), "at")?;
        declare(this, args, kwargs, DefinitionBuilder::at)
    }

    /// Opens a group, which contains everything that is added until it is closed.
    #[pyo3(signature = (*args, **kwargs))]
    fn enter_group(
        this: &Bound<'_, Self>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        this.get().require_open(this.py(), "group")?;
        let arguments = objects::arguments(this, args, kwargs)?;
        let entered = this.get().lock().enter_group(arguments);
        entered.map_err(|error| this.get().rejected(this.py(), &error))
    }

    /// Closes the innermost open group.
    fn leave_group(&self) {
        self.lock().leave_group();
    }

    /// Adds an output; `alias_input` makes it an in-place output, `stride_order` sets its order in memory.
    #[pyo3(signature = (output, alias_input = None, stride_order = None))]
    fn add_output(
        this: &Bound<'_, Self>,
        output: &Bound<'_, PyAny>,
        alias_input: Option<&Bound<'_, PyAny>>,
        stride_order: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        this.get().require_open(this.py(), "add_output")?;
        let mut output = objects::object(this, output)?;
        if let Some(order) = stride_order {
            let order = CallArgument::positional(objects::object(this, order)?);
            let ordered =
                this.get().lock().call("stride_order", vec![CallArgument::positional(output), order]);
            output = ordered.map_err(|error| this.get().rejected(this.py(), &error))?;
        }
        let alias = alias_input.map(|alias| objects::object(this, alias)).transpose()?;
        let added = this.get().lock().add_output(&output, alias.as_ref());
        added.map_err(|error| this.get().rejected(this.py(), &error))
    }

    /// Whether a value is the input of this number.
    fn expect_input(this: &Bound<'_, Self>, value: &Bound<'_, PyAny>, number: usize) -> PyResult<()> {
        let object = objects::object(this, value)?;
        let builder = this.get().lock();
        let is_given = |entry| object.as_value().is_some_and(|given| given.entry == entry);
        let diagnostic = match builder.record().inputs().iter().position(|input| is_given(input.entry)) {
            Some(place) if place == number => return Ok(()),
            Some(place) => format!(
                "inputs stand in the order in which they are defined: this is input {place}, not {number}"
            ),
            None => "only what define_tensor or define_scalar declared is an input".to_owned(),
        };
        Err(errors::definition(this.py(), diagnostic))
    }

    /// Gives a value a name for explanations and errors; the first name is kept.
    fn name(this: &Bound<'_, Self>, value: &Bound<'_, PyAny>, name: &str) -> PyResult<()> {
        if let Object::Value(value) = objects::object(this, value)? {
            this.get().lock().set_name(value, name);
        }
        Ok(())
    }

    /// The name of a value in segmentations and explanations.
    fn name_of(this: &Bound<'_, Self>, value: &Bound<'_, PyAny>) -> PyResult<String> {
        Ok(value_name(&this.get().definition(this.py())?, made(this, value)?.val))
    }

    /// The name of the result of a call, which is not that of an equal value of another call.
    fn result_name(this: &Bound<'_, Self>, value: &Bound<'_, PyAny>) -> PyResult<String> {
        Ok(result_name(&this.get().definition(this.py())?, made(this, value)?.entry))
    }

    /// The names that values, given by their names in segmentations, have in the text of the definition.
    fn printed_names(&self, py: Python<'_>, names: Vec<String>) -> PyResult<Vec<String>> {
        Ok(printed_names(&self.definition(py)?, names))
    }

    /// The definition so far as a function in nvFuser's language: all of it, or only the part that outputs depend on.
    fn text(&self, from_outputs_only: bool) -> String {
        let which = if from_outputs_only { Which::OfOutputs } else { Which::All };
        let builder = self.lock();
        print_record(builder.record(), builder.graph(), NameStyle::Long, which)
    }

    /// The inputs, and the outputs that are not written to an input.
    fn boundary<'py>(this: &Bound<'py, Self>) -> PyResult<[Vec<Bound<'py, PyAny>>; 2]> {
        let definition = this.get().definition(this.py())?;
        let record = &definition.record;
        let value = |entry| Object::Value(NamedValue { val: record.entry(entry).val, entry });
        let inputs = record.inputs().iter().map(|input| objects::result(this, &value(input.entry), false));
        let outputs = record.statements().iter().filter_map(|statement| match statement.action {
            Action::Output { value: entry, alias: None } => Some(objects::result(this, &value(entry), false)),
            _ => None,
        });
        Ok([inputs.collect::<PyResult<_>>()?, outputs.collect::<PyResult<_>>()?])
    }

    /// Every value that a statement made, in order.
    fn vals<'py>(this: &Bound<'py, Self>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let record = this.get().lock().record().clone();
        let made = record.statements().iter().flat_map(|statement| &statement.results);
        let values = made.map(|&entry| Object::Value(NamedValue { val: record.entry(entry).val, entry }));
        values.map(|value| objects::result(this, &value, false)).collect()
    }

    /// Whether there is no output yet.
    fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// The definition so far, to be compiled when it is first called, with at most `peak_memory` bytes of segment results in
    /// memory at a time.
    #[pyo3(signature = (peak_memory = None))]
    fn executable(&self, py: Python<'_>, peak_memory: Option<u64>) -> PyResult<Executable> {
        Ok(Executable::new(self.definition(py)?, peak_memory))
    }
}

/// A tensor that a segment makes.
fn made(builder: &Bound<'_, Builder>, value: &Bound<'_, PyAny>) -> PyResult<NamedValue> {
    let made = objects::object(builder, value)?.as_value();
    made.ok_or_else(|| errors::argument(builder.py(), "a segment makes tensors, not numbers"))
}

impl From<DefinitionBuilder> for Builder {
    fn from(builder: DefinitionBuilder) -> Builder {
        Builder { builder: Mutex::new(builder), blocks: AtomicUsize::new(0) }
    }
}

impl Builder {
    fn lock(&self) -> MutexGuard<'_, DefinitionBuilder> {
        self.builder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Rejects a call outside of the definition's `with` blocks, which would change a definition that may already have run.
    fn require_open(&self, py: Python<'_>, op: &str) -> PyResult<()> {
        match self.blocks.load(Ordering::Relaxed) {
            0 => Err(errors::closed(py, op)),
            _ => Ok(()),
        }
    }

    /// The exception for a rejected call, with its line.
    fn rejected(&self, py: Python<'_>, error: &DefineError) -> PyErr {
        errors::rejected(py, error, self.lock().line().as_ref())
    }

    /// The definition so far.
    ///
    /// # Errors
    /// When it has no output, or no sizes satisfy its constraints.
    pub fn definition(&self, py: Python<'_>) -> PyResult<Definition> {
        let finished = self.lock().clone().finish();
        finished.map_err(|error| errors::rejected(py, &error, None))
    }

    /// Whether a value is a tensor rather than a scalar of the language.
    pub fn is_tensor(&self, value: NamedValue) -> bool {
        !self.lock().is_scalar(value)
    }

    /// The type of a value.
    pub fn ty(&self, value: NamedValue) -> Type {
        self.lock().ty(value).clone()
    }
}

/// Checks that the arguments bind to parameters, with Python's messages: otherwise it is a `TypeError`.
fn check_binding(op: &str, args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
    let names: Vec<String> =
        kwargs.into_iter().flatten().map(|(name, _)| name.extract()).collect::<PyResult<_>>()?;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let bound = match ops::lookup(op) {
        Ok(found) => ops::bind(found, args.len(), &names).map(drop).map_err(|error| error.to_string()),
        Err(unknown) => Err(unknown.to_string()),
    };
    bound.map_err(|message| errors::unbound(args.py(), op, message))
}

fn declare<'py>(
    this: &Bound<'py, Builder>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
    declare: Declare,
) -> PyResult<Bound<'py, PyAny>> {
    let arguments = objects::arguments(this, args, kwargs)?;
    let declared = declare(&mut this.get().lock(), arguments);
    let declared = declared.map_err(|error| this.get().rejected(this.py(), &error))?;
    objects::result(this, &declared, true)
}
