//! A compiled definition, called with Python's arrays. Python runs on while kernels compile and run.

use std::sync::{Arc, LazyLock};

use ferrofuse::{
    CompileOptions, Definition, Generator, Machine, MachineOptions, ObjectCache, compile, explain, hints,
    plan,
};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::arrays::{Given, Kind};
use crate::{environment, errors};

/// What all executables of the process run on.
static MACHINE: LazyLock<Arc<Machine>> = LazyLock::new(|| {
    // Without a folder of its own for the cache it compiles anew in each process; `ferrofuse doctor` says why.
    let cache =
        environment::cache_options().and_then(|options| ObjectCache::open(options).ok()).map(Arc::new);
    let llvm = environment::llvm_options();
    Arc::new(Machine::new(MachineOptions { llvm, cache, ..MachineOptions::default() }))
});

/// A definition ready to be called.
#[pyclass(frozen, module = "ferrofuse._native")]
pub struct Executable {
    executable: ferrofuse::Executable,
}

impl Executable {
    /// Compiles a definition.
    ///
    /// # Errors
    /// What the compiler refuses.
    pub fn new(py: Python<'_>, definition: Definition) -> PyResult<Executable> {
        let made = py.detach(|| compile(definition, options()));
        Ok(Executable { executable: made.map_err(|error| errors::failed(py, &error))? })
    }
}

fn options() -> CompileOptions {
    let (machine, generator) = (Arc::clone(&MACHINE), Generator::shared());
    CompileOptions { machine, generator, ..CompileOptions::default() }
}

#[pymethods]
impl Executable {
    /// Calls it on a list of arrays and numbers, one for each input; gives a list of arrays of the kind that came
    /// in. Outputs that only re-index an input share its memory.
    fn run<'py>(&self, py: Python<'py>, inputs: &Bound<'py, PyList>) -> PyResult<Bound<'py, PyList>> {
        let given = self.given(inputs)?;
        let mut arguments: Vec<_>;
        let outputs = match self.writes_to_inputs() {
            false => {
                let views: Vec<_> = given.iter().map(Given::view).collect();
                py.detach(|| self.executable.run(&views))
            }
            true => {
                arguments = given.iter().map(Given::argument).collect();
                let arguments = &mut arguments;
                py.detach(move || self.executable.run_in_place(arguments))
            }
        };
        let outputs = outputs.map_err(|error| errors::failed(py, &error))?;
        let kind = Kind::of(inputs)?;
        let arrays: PyResult<Vec<_>> =
            outputs.into_iter().map(|output| kind.array(py, output, &given)).collect();
        PyList::new(py, arrays?)
    }

    /// What was decided, as text and as JSON, for the sizes of these inputs or for none in particular.
    #[pyo3(signature = (inputs = None))]
    fn explain(&self, py: Python<'_>, inputs: Option<&Bound<'_, PyList>>) -> PyResult<(String, String)> {
        let definition = self.executable.definition();
        let failed = |error: ferrofuse::Error| errors::failed(py, &error);
        let mut options = options();
        if let Some(inputs) = inputs {
            let given = self.given(inputs)?;
            let views: Vec<_> = given.iter().map(Given::view).collect();
            options.hints = hints(definition, &views).map_err(failed)?;
        }
        let plan = plan(definition, &options).map_err(failed)?;
        let explanation = explain(definition, &plan, &options.hints);
        let json = serde_json::to_string(&explanation).expect("an explanation is plain data");
        Ok((explanation.to_string(), json))
    }

    /// How many variants were compiled: one for each way that inputs lie in memory.
    #[getter]
    fn variants(&self) -> usize {
        self.executable.variants()
    }

    /// What is not as it should be, such as a missing libLLVM.
    #[getter]
    fn notice(&self) -> Option<String> {
        self.executable.latest().report.notice.clone()
    }
}

impl Executable {
    fn writes_to_inputs(&self) -> bool {
        self.executable.definition().fusion.outputs().iter().any(|output| output.alias.is_some())
    }

    fn given<'py>(&self, inputs: &Bound<'py, PyList>) -> PyResult<Vec<Given<'py>>> {
        let decls = self.executable.definition().input_decls();
        if decls.len() != inputs.len() {
            let message = format!("expected {} inputs, got {}", decls.len(), inputs.len());
            return Err(errors::input(inputs.py(), message));
        }
        let numbered = inputs.iter().zip(decls).enumerate();
        numbered.map(|(place, (input, decl))| Given::new(&input, decl, place)).collect()
    }
}
