//! A definition that is compiled for the layouts of arrays when it is first called with them, and run on Python's arrays.
//! Other Python threads run while kernels compile and run.

use std::time::{Duration, Instant};

use ferrofuse::{
    Baseline, CallFacts, CallOptions, CodeTarget, CompileOptions, Definition, EmitOptions, Error, Generator,
    Hints, NameStyle, OutputForm, Plan, PlanOptions, SegmentError, Segmentation, Stage, declared_layouts,
    emit, explain_call, explain_without_llvm, hints, in_background, of_plan, plan_for, plan_for_call,
};
use ir::graph::{Output, SymbolSource};
use pyo3::exceptions::{PyNotImplementedError, PyValueError};
use pyo3::prelude::*;

use crate::arrays::Wanted;
use crate::call::Inputs;
use crate::call_on_gpu::{CallDevice, CallOnGpu};
use crate::captured::CapturedCall;
use crate::data_type::DataType;
use crate::explanation::NativeExplanation;
use crate::gpu::OpenDevice;
use crate::on_devices::OnDevices;
use crate::runnable::ReportDict;
use crate::{errors, machine, signals};

/// Sizes, dtype and strides of an output.
type TypeOfOutput = (Vec<usize>, DataType, Vec<isize>);
/// Sizes, as expressions of Python, and dtype of an output.
type SymbolicType = (Vec<String>, DataType);

/// How a definition is cut into segments.
pub enum Chosen {
    /// As the compiler finds best.
    Searched,
    /// By a user's segmentation.
    Given(Segmentation),
    /// By a user's segmentation, within the limit on memory.
    Limited(Segmentation),
    /// By one to compare with.
    Baseline(Baseline),
}

/// A definition ready to be called.
#[pyclass(frozen, module = "ferrofuse._native")]
pub struct Executable {
    compiled: OnDevices<ferrofuse::Executable>,
    peak_memory: Option<u64>,
}

impl Executable {
    /// A definition, not compiled yet, whose segments may have `peak_memory` bytes in memory at a time.
    pub fn new(definition: Definition, peak_memory: Option<u64>) -> Executable {
        let mut options = options();
        options.plan.peak_memory = peak_memory;
        let make = move |options| ferrofuse::Executable::by_size(definition.clone(), options);
        let host = make(options.clone());
        Executable { compiled: OnDevices::new(host, options, move |options| Ok(make(options))), peak_memory }
    }

    /// The definition.
    pub fn definition(&self) -> &Definition {
        self.compiled.host().definition()
    }
}

/// The options that all executables of the process are compiled with.
pub fn options() -> CompileOptions {
    let generator = Generator::shared();
    let (machine, target) = (machine::of_process(), machine::target());
    CompileOptions { machine, target, generator, ..CompileOptions::default() }
}

#[pymethods]
impl Executable {
    /// Calls it on a list of arrays and numbers, one for each input; returns a list of arrays of the library `like`, else of
    /// the kind of the inputs, else of the library `without_arrays`. Outputs that only re-index an input share its memory.
    /// With `out` they are written to these arrays. `threads` is the number of threads that it runs on. It runs on a GPU for
    /// arrays of that GPU, and with `device` also for arrays of the host.
    #[pyo3(signature = (inputs, like = None, out = None, threads = None, device = None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        inputs: &Bound<'py, PyAny>,
        like: Option<Bound<'py, PyAny>>,
        out: Option<Bound<'py, PyAny>>,
        threads: Option<Bound<'py, PyAny>>,
        device: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let wanted = Wanted::of(like.as_ref(), device.as_ref());
        self.compiled.run(py, inputs, wanted, out.as_ref(), threads.as_ref())
    }

    /// `run` for torch's tensors; for an output that is a view of an input it returns what `instead_of_views` returns for the
    /// output's number and the view.
    fn run_on_tensors<'py>(
        &self,
        py: Python<'py>,
        inputs: &Bound<'py, PyAny>,
        instead_of_views: &Bound<'py, PyAny>,
        device: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let wanted = Wanted { instead_of_views: Some(instead_of_views), ..Wanted::of(None, device) };
        self.compiled.run(py, inputs, wanted, None, None)
    }

    /// Captures a call on arrays of a GPU, to be replayed.
    #[pyo3(signature = (inputs, like = None, out = None, device = None))]
    fn capture<'py>(
        &self,
        py: Python<'py>,
        inputs: &Bound<'py, PyAny>,
        like: Option<Bound<'py, PyAny>>,
        out: Option<Bound<'py, PyAny>>,
        device: Option<Bound<'py, PyAny>>,
    ) -> PyResult<CapturedCall> {
        let inputs = Inputs::new(self.definition(), inputs)?;
        let CallDevice::Gpu(ordinal) = CallDevice::of(py, &inputs, device.as_ref())? else {
            let message = "a call is captured on arrays of a GPU: bring them there, as `to_gpu` does";
            return Err(errors::argument(py, message));
        };
        let (device, wanted) = (OpenDevice::of(py, ordinal)?, Wanted::of(like.as_ref(), device.as_ref()));
        let executable = &*self.compiled.on_gpu(&device)?;
        let call = CallOnGpu { executable, device: &device, inputs: &inputs, wanted, machine: None };
        call.capture(py, out.as_ref())
    }

    /// The outputs that `run` would return for arrays of the host: for each its sizes, its dtype, and its strides in elements.
    /// Compiles the variant if it is missing.
    fn output_types<'py>(&self, py: Python<'py>, inputs: &Bound<'py, PyAny>) -> PyResult<Vec<TypeOfOutput>> {
        let inputs = Inputs::new(self.definition(), inputs)?;
        inputs.require_writable(py)?;
        let arguments = &mut inputs.arguments()?;
        let forms = signals::interruptible(py, |interrupt| {
            self.compiled.host().output_forms(&CallOptions { interrupt, ..CallOptions::default() }, arguments)
        });
        let forms = forms.map_err(|(raised, error)| inputs.raised(py, raised, &error))?;
        let type_of = |form: OutputForm| {
            (form.layout.sizes.to_vec(), DataType::new(Some(form.dtype)), form.layout.strides.to_vec())
        };
        Ok(forms.into_iter().map(type_of).collect())
    }

    /// The sizes of each input, and the sizes and dtype of each output, as expressions of Python over the inputs' sizes: `x2_0`
    /// is that of axis 0 of input 2. `None` if a size depends on a number.
    fn symbolic_types(&self) -> Option<(Vec<Vec<String>>, Vec<SymbolicType>)> {
        let Definition { graph, fusion, .. } = self.definition();
        let name = |place| match &graph.symbols()[place] {
            SymbolSource::InputSize { ordinal, axis } => Some(format!("x{ordinal}_{axis}")),
            _ => None,
        };
        let sizes = |val| -> Option<Vec<String>> {
            let mut sizes = Vec::new();
            for size in graph.shape(val) {
                let size = fusion.facts().normalize(size);
                let is_known = !size.is_overflow() && size.symbols().into_iter().all(|at| name(at).is_some());
                sizes.push(is_known.then(|| size.display(&|at| name(at).unwrap_or_default()).to_string())?);
            }
            Some(sizes)
        };
        let inputs = fusion.inputs().iter().map(|&val| sizes(val)).collect::<Option<_>>()?;
        let type_of =
            |output: &Output| Some((sizes(output.val)?, DataType::new(Some(graph.dtype(output.val)))));
        let outputs = fusion.outputs().iter().filter(|output| output.alias.is_none()).map(type_of);
        Some((inputs, outputs.collect::<Option<_>>()?))
    }

    /// `run`, and a dict of measurements: `device`, `total`, `compile` (milliseconds; 0 for a call that compiles nothing),
    /// and `steps`, a list of names, milliseconds, milliseconds in libLLVM, and bytes of the tensors that a step reads and
    /// writes.
    #[pyo3(signature = (inputs, like = None, device = None))]
    fn profile<'py>(
        &self,
        py: Python<'py>,
        inputs: &Bound<'py, PyAny>,
        like: Option<Bound<'py, PyAny>>,
        device: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Vec<Bound<'py, PyAny>>, ReportDict<'py>)> {
        let wanted = Wanted::of(like.as_ref(), device.as_ref());
        self.compiled.profile(py, inputs, wanted)
    }

    /// Calls it without writing to inputs, and compares each output with the evaluator's. Returns the outputs, and for each
    /// a dict of `mismatches` (elements beyond their bound), `worst_ratio` (of an error to its bound), and for the element
    /// with that ratio its place, the `expected` and the `got` value.
    #[pyo3(signature = (inputs, like = None, device = None))]
    fn check<'py>(
        &self,
        py: Python<'py>,
        inputs: &Bound<'py, PyAny>,
        like: Option<Bound<'py, PyAny>>,
        device: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Vec<Bound<'py, PyAny>>, Vec<ReportDict<'py>>)> {
        let wanted = Wanted::of(like.as_ref(), device.as_ref());
        self.compiled.check(py, inputs, wanted)
    }

    /// The decisions for the sizes of these inputs or for unknown ones, with a segmentation to compare with if there is
    /// one: "greedy" or "unfused".
    #[pyo3(signature = (inputs = None, baseline = None))]
    fn explain(
        &self,
        py: Python<'_>,
        inputs: Option<&Bound<'_, PyAny>>,
        baseline: Option<&str>,
    ) -> PyResult<NativeExplanation> {
        let chosen = match baseline {
            None => Chosen::Searched,
            Some(name) => Chosen::Baseline(name.parse().map_err(|_| {
                let expected = "`against` is \"greedy\", \"unfused\", a definition or an explanation";
                PyValueError::new_err(format!("{expected}, not {name:?}"))
            })?),
        };
        let target = self.target(py, inputs)?;
        let on_evaluator = baseline.is_none() && is_without_llvm(py, target);
        self.planned(
            py,
            target,
            inputs,
            chosen,
            move |definition, PlannedCall { plan, hints, decided, time }| {
                let explanation = match on_evaluator {
                    true => explain_without_llvm(definition, hints),
                    false => explain_call(definition, plan, hints, decided).expect("its own plan"),
                };
                NativeExplanation::new(explanation, *time)
            },
        )
    }

    /// The text of a stage of the compiler, for the sizes of these inputs or for unknown ones.
    #[pyo3(signature = (stage, inputs = None))]
    fn emit(&self, py: Python<'_>, stage: &str, inputs: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
        let stage: Stage = stage.parse().map_err(PyValueError::new_err)?;
        let target = match stage {
            Stage::CUDA => self.gpu_target(py, inputs)?.unwrap_or(CodeTarget::CUDA),
            _ => CodeTarget::Cpu(machine::target()),
        };
        let text = self.planned(
            py,
            target,
            inputs,
            Chosen::Searched,
            move |definition, PlannedCall { plan, .. }| {
                let llvm = machine::of_process().llvm();
                let names = NameStyle::default();
                let options = EmitOptions { target, segment: None, names, llvm: llvm.as_ref() };
                emit(stage, definition, plan, &options)
            },
        );
        text?.map_err(|error| PyNotImplementedError::new_err(error.to_string()))
    }

    /// Whether a call on arrays of the host with the layouts of these, with sizes of the same orders of magnitude, compiles
    /// nothing.
    fn is_compiled(&self, py: Python<'_>, inputs: &Bound<'_, PyAny>) -> PyResult<bool> {
        let inputs = Inputs::new(self.definition(), inputs)?;
        let raised = |error| inputs.raised(py, errors::failed(py, &error), &error);
        self.compiled.host().is_compiled(&inputs.views()?).map_err(raised)
    }

    /// The number of variants that are compiled for the host: one for each combination of input layouts and order of magnitude
    /// of the sizes.
    #[getter]
    fn variants(&self) -> usize {
        self.compiled.host().variants()
    }
}

/// Whether the evaluator runs calls on this target, as libLLVM is missing.
pub fn is_without_llvm(py: Python<'_>, target: CodeTarget) -> bool {
    matches!(target, CodeTarget::Cpu(_)) && py.detach(|| machine::of_process().llvm().is_err())
}

/// A plan with the sizes that are counted with, and those that decisions are made for.
pub struct PlannedCall {
    pub plan: Plan,
    pub hints: Hints,
    pub decided: Hints,
    /// How long it took.
    pub time: Duration,
}

impl Executable {
    /// Plans as a call on these inputs does or for unknown sizes, cut as chosen, and calls a function with the
    /// plan. Signal handlers run meanwhile.
    pub fn planned<R: Send + 'static>(
        &self,
        py: Python<'_>,
        target: CodeTarget,
        inputs: Option<&Bound<'_, PyAny>>,
        chosen: Chosen,
        say: impl FnOnce(&Definition, &PlannedCall) -> R + Send + 'static,
    ) -> PyResult<R> {
        let call = inputs.map(|inputs| self.call_facts(py, inputs)).transpose()?;
        let make = move |definition: &Definition, options: &CompileOptions| {
            let (hints, begin) = (options.hints.clone(), Instant::now());
            let (plan, decided) = match call {
                Some(call) => plan_for_call(definition, target, options, call)?,
                None => (plan_for(definition, target, options)?, hints.clone()),
            };
            Ok(PlannedCall { plan, hints, decided, time: begin.elapsed() })
        };
        self.made(py, inputs, chosen, make, move |definition, planned, _| say(definition, planned))
    }

    /// Makes a plan or cut for the sizes of these inputs or for unknown ones, with a segmentation if there is one, and calls
    /// a function with it. Signal handlers run meanwhile.
    pub fn made<T: Send + 'static, R: Send + 'static>(
        &self,
        py: Python<'_>,
        inputs: Option<&Bound<'_, PyAny>>,
        chosen: Chosen,
        make: impl FnOnce(&Definition, &CompileOptions) -> Result<T, Error> + Send,
        say: impl FnOnce(&Definition, &T, &Hints) -> R + Send + 'static,
    ) -> PyResult<R> {
        let (definition, mut options) = (self.definition().clone(), self.hinted(py, inputs)?);
        options.plan = self.chosen(py, inputs, chosen, options.plan)?;
        let said = signals::interruptible(py, move |interrupt| {
            options.plan.interrupt = interrupt.clone();
            let made = make(&definition, &options)?;
            in_background(&interrupt, move || say(&definition, &made, &options.hints))
        });
        said.map_err(|(raised, error)| match of_plan(self.definition(), error) {
            SegmentError::Plan(_) => raised,
            error => errors::segments(py, &error),
        })
    }

    /// Options of a plan with what was chosen to cut by, for the layouts of these inputs or for the declared ones.
    fn chosen(
        &self,
        py: Python<'_>,
        inputs: Option<&Bound<'_, PyAny>>,
        chosen: Chosen,
        options: PlanOptions,
    ) -> PyResult<PlanOptions> {
        Ok(match (chosen, inputs) {
            (Chosen::Searched, _) => options,
            (Chosen::Limited(segmentation), _) => PlanOptions { segmentation: Some(segmentation), ..options },
            // A cut for other sizes may need more.
            (Chosen::Given(segmentation), _) => {
                PlanOptions { segmentation: Some(segmentation), peak_memory: None, ..options }
            }
            (Chosen::Baseline(baseline), Some(inputs)) => {
                baseline.options(self.definition(), &self.call_facts(py, inputs)?.layouts)
            }
            (Chosen::Baseline(baseline), None) => {
                baseline.options(self.definition(), &declared_layouts(self.definition()))
            }
        })
    }

    /// The machine that a call on these inputs runs on.
    pub fn target(&self, py: Python<'_>, inputs: Option<&Bound<'_, PyAny>>) -> PyResult<CodeTarget> {
        Ok(self.gpu_target(py, inputs)?.unwrap_or(CodeTarget::Cpu(machine::target())))
    }

    /// The architecture of the GPU that inputs are on, if they are on one.
    fn gpu_target(&self, py: Python<'_>, inputs: Option<&Bound<'_, PyAny>>) -> PyResult<Option<CodeTarget>> {
        let Some(inputs) = inputs else { return Ok(None) };
        let inputs = Inputs::new(self.definition(), inputs)?;
        let Some((_, ordinal)) = inputs.first_on_gpu() else { return Ok(None) };
        Ok(Some(OpenDevice::of(py, ordinal)?.gpu.architecture().parse().unwrap_or(CodeTarget::CUDA)))
    }

    /// What decisions depend on in a call on these inputs.
    pub fn call_facts(&self, py: Python<'_>, inputs: &Bound<'_, PyAny>) -> PyResult<CallFacts> {
        let inputs = Inputs::new(self.definition(), inputs)?;
        let facts = inputs.with_host_views(py, |views| CallFacts::of(self.definition(), views))?;
        let mut facts = facts.map_err(|error| inputs.raised(py, errors::failed(py, &error), &error))?;
        for (layout, given) in facts.layouts.iter_mut().zip(inputs.given()) {
            if let Some(array) = given.on_gpu() {
                *layout = array.argument().layout_class();
            }
        }
        Ok(facts)
    }

    /// Options to plan with, for the sizes of these inputs if there are any.
    fn hinted(&self, py: Python<'_>, inputs: Option<&Bound<'_, PyAny>>) -> PyResult<CompileOptions> {
        let mut options = options();
        options.plan.peak_memory = self.peak_memory;
        if let Some(inputs) = inputs {
            let inputs = Inputs::new(self.definition(), inputs)?;
            let raised = |error| inputs.raised(py, errors::failed(py, &error), &error);
            let hinted = inputs.with_host_views(py, |views| hints(self.definition(), views))?;
            options.hints = hinted.map_err(raised)?;
        }
        Ok(options)
    }
}
