//! The inputs of a call, as passed and as read, and the requested outputs. Runs nothing itself.

use std::ffi::CString;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};

use ferrofuse::{Argument, ArrayView, Definition, Error, InputError, Output, Stream};
use ir::array::StridedArray;
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use smallvec::SmallVec;

use crate::arrays::{self, Given, InputOnGpu, Kind, Place, Wanted, library};
use crate::errors;

/// The hint about gradients.
const GRADIENTS: &str = "ferrofuse.autograd(forward, backward) makes a function that torch differentiates; \
     torch.no_grad(), or detach() of the input, says that none is wanted";

/// The hint about traces.
const TRACED: &str =
    "call outside of it, or trace a function that ferrofuse.autograd(forward, backward) makes";
/// The hint about derivatives in forward mode.
const TANGENTS: &str =
    "calls have no derivative in forward mode; give detach() of the input if none is wanted";

type Objects<'py> = SmallVec<[Bound<'py, PyAny>; 8]>;

/// The inputs of a call.
pub struct Inputs<'a, 'py> {
    definition: &'a Definition,
    objects: Objects<'py>,
    given: Vec<Given<'py>>,
}

impl<'a, 'py> Inputs<'a, 'py> {
    /// A list of arrays and numbers, one for each input.
    ///
    /// # Errors
    /// For too few or too many, and for an object that is no array or number for its input.
    pub fn new(definition: &'a Definition, inputs: &Bound<'py, PyAny>) -> PyResult<Inputs<'a, 'py>> {
        Inputs::read(inputs.py(), definition, flat(inputs)?)
    }

    fn read(py: Python<'py>, definition: &'a Definition, objects: Objects<'py>) -> PyResult<Inputs<'a, 'py>> {
        let expected = definition.input_decls().len();
        if expected != objects.len() {
            let message = format!("expected {expected} inputs, got {}", objects.len());
            return Err(errors::input(py, message));
        }
        let one = |(number, input)| Given::new(input, Place::Input(definition, number));
        let given = collected(expected, objects.iter().enumerate().map(one))?;
        Ok(Inputs { definition, given, objects })
    }

    /// As [`Inputs::new`], for a call by a compiled graph.
    ///
    /// # Errors
    /// As [`Inputs::new`].
    pub fn of_graph(definition: &'a Definition, inputs: &Bound<'py, PyAny>) -> PyResult<Inputs<'a, 'py>> {
        let error = match Inputs::new(definition, inputs) {
            Err(error) => error,
            read => return read,
        };
        let (mut objects, mut is_changed) = (flat(inputs)?, false);
        for object in &mut objects {
            if let Some(plain) = library::plain_in_graphs(object)? {
                (*object, is_changed) = (plain, true);
            }
        }
        if is_changed { Inputs::read(inputs.py(), definition, objects) } else { Err(error) }
    }

    /// Their elements.
    ///
    /// # Errors
    /// For arrays of a GPU.
    pub fn views(&self) -> PyResult<Vec<ArrayView<'_>>> {
        collected(self.given.len(), self.numbered().map(|(place, given)| given.view(place)))
    }

    /// Their elements, for writing too if that is allowed.
    ///
    /// # Errors
    /// For arrays of a GPU.
    pub fn arguments(&self) -> PyResult<Vec<Argument<'_>>> {
        collected(self.given.len(), self.numbered().map(|(place, given)| given.argument(place)))
    }

    /// Arrays of their sizes: those of the host, and zeros for those of a GPU.
    ///
    /// # Errors
    /// When there is no memory.
    pub fn with_host_views<R>(
        &self,
        py: Python<'_>,
        look: impl FnOnce(&[ArrayView<'_>]) -> R,
    ) -> PyResult<R> {
        let shown = |given: &Given<'py>| given.on_gpu().map(|array| array.argument().shown()).transpose();
        let shown: Vec<Option<StridedArray>> = self
            .given
            .iter()
            .map(shown)
            .collect::<Result<_, Error>>()
            .map_err(|error| errors::failed(py, &error))?;
        let views = self.numbered().zip(&shown).map(|((place, given), shown)| match shown {
            Some(shown) => Ok(shown.view()),
            None => given.view(place),
        });
        Ok(look(&views.collect::<PyResult<Vec<_>>>()?))
    }

    fn numbered(&self) -> impl Iterator<Item = (Place<'_>, &Given<'py>)> {
        self.given.iter().enumerate().map(|(number, given)| (self.place(number), given))
    }

    /// The place of an input in diagnostics.
    pub fn place(&self, number: usize) -> Place<'_> {
        Place::Input(self.definition, number)
    }

    /// As they are read.
    pub fn given(&self) -> &[Given<'py>] {
        &self.given
    }

    /// The objects as passed.
    pub fn objects(&self) -> &[Bound<'py, PyAny>] {
        &self.objects
    }

    /// Whether some are arrays rather than numbers.
    pub fn has_arrays(&self) -> bool {
        self.given.iter().any(|given| !matches!(given, Given::Number(_)))
    }

    /// The number of random draws of the definition.
    pub fn draws(&self) -> u32 {
        self.definition.draws
    }

    /// Those that are on a GPU.
    pub fn on_gpu(&self) -> impl Iterator<Item = (Place<'_>, &InputOnGpu<'py>)> {
        self.numbered().filter_map(|(place, given)| Some((place, given.on_gpu()?)))
    }

    /// The first that is on a GPU, and the number of the GPU.
    pub fn first_on_gpu(&self) -> Option<(usize, usize)> {
        let mut given = self.given.iter().enumerate();
        given.find_map(|(number, given)| Some((number, given.on_gpu()?.at.ordinal)))
    }

    /// Rejects arrays on another device than the first that is on a GPU. Host arrays without axes count as numbers.
    ///
    /// # Errors
    /// For the first of these.
    pub fn require_on_gpu(&self, py: Python<'_>, first: usize, ordinal: usize) -> PyResult<()> {
        for (place, given) in self.numbered() {
            let device = match given.on_gpu() {
                Some(array) if array.at.ordinal == ordinal => continue,
                Some(array) => format!("cuda:{}", array.at.ordinal),
                None if given.view(place)?.sizes().is_empty() => continue,
                None => "the CPU".to_owned(),
            };
            let message = format!(
                "{place} lies on {device}, {} on cuda:{ordinal}: bring all arrays to one device",
                self.place(first)
            );
            return Err(errors::input(py, message));
        }
        Ok(())
    }

    /// Rejects arrays in which in-place outputs would be lost, or whose library does not allow writes.
    ///
    /// # Errors
    /// For the first of these.
    pub fn require_writable(&self, py: Python<'_>) -> PyResult<()> {
        for number in self.written() {
            if let Some(reason) = self.given[number].unwritable(&self.objects[number])? {
                let place = Place::Input(self.definition, number);
                return Err(errors::input(py, format!("{place} is written to, but {reason}")));
            }
        }
        Ok(())
    }

    /// Rejects inputs whose trace, tangent or in-place output a call would lose, and warns about gradients. A compiled graph
    /// that calls is itself what was traced.
    ///
    /// # Errors
    /// For the first of these inputs; the warning, if warnings are errors.
    pub fn require_usable(&self, py: Python<'_>, wanted: Wanted<'_>) -> PyResult<()> {
        if !wanted.is_of_graph() {
            self.require_unrecorded(py)?;
        }
        self.require_writable(py)?;
        self.warn_of_gradients(py)
    }

    /// Rejects a call whose results a trace of torch would take for constants, and one that loses derivatives in forward mode.
    ///
    /// # Errors
    /// For the first input that is concerned, and errors of its library.
    fn require_unrecorded(&self, py: Python<'_>) -> PyResult<()> {
        let Some((first, torch)) = self.numbered().find_map(|(place, given)| Some((place, given.torch()?)))
        else {
            return Ok(());
        };
        if let Some(tracer) = torch.tracer(py)? {
            let message =
                format!("{first} is traced by {tracer}, which would take outputs for constants: {TRACED}");
            return Err(errors::input(py, message));
        }
        if torch.is_in_forward_mode(py)? {
            for ((place, given), object) in self.numbered().zip(&self.objects) {
                if let Some(torch) = given.torch()
                    && torch.has_tangent(object)?
                {
                    let message = format!("{place} has a tangent, and outputs would have none: {TANGENTS}");
                    return Err(errors::input(py, message));
                }
            }
        }
        Ok(())
    }

    /// Warns, once in a process, about a tensor whose gradient is lost in this computation.
    ///
    /// # Errors
    /// The warning, if warnings are errors, and errors of its library.
    fn warn_of_gradients(&self, py: Python<'_>) -> PyResult<()> {
        static HAS_WARNED: AtomicBool = AtomicBool::new(false);
        if HAS_WARNED.load(Ordering::Relaxed) {
            return Ok(());
        }
        let Some(torch) = self.given.iter().find_map(Given::torch) else { return Ok(()) };
        if !torch.is_grad_enabled(py)? {
            return Ok(());
        }
        for (number, (given, objects)) in self.given.iter().zip(&self.objects).enumerate() {
            if given.requires_gradient(objects)? {
                HAS_WARNED.store(true, Ordering::Relaxed);
                let place = Place::Input(self.definition, number);
                let message = format!("{place} requires a gradient, and outputs will have none: {GRADIENTS}");
                let (category, message) = (py.get_type::<PyUserWarning>(), CString::new(message)?);
                return PyErr::warn(py, &category, &message, 2);
            }
        }
        Ok(())
    }

    /// An error in Python, also in nvFuser's words if its users look for them.
    pub fn raised(&self, py: Python<'_>, raised: PyErr, error: &Error) -> PyErr {
        let Error::Input(unfit @ (InputError::Dtype { .. } | InputError::Rank { .. })) = error else {
            return raised;
        };
        let words =
            self.numbered().find_map(|(place, given)| arrays::other_tensor(&given.view(place).ok()?, place));
        let cast = match unfit {
            InputError::Dtype { expected, given, .. } => format!(
                "; cast the array to {}, or declare the input with DataType.{}",
                expected.numpy_name(),
                given.nvfuser_name()
            ),
            _ => String::new(),
        };
        words.map_or(raised, |words| errors::unfit_input(py, unfit, format!("{error}{cast}{words}")))
    }

    /// Notifies the libraries of inputs that a call may have written to, and returns its result.
    ///
    /// # Errors
    /// The error of the call, in Python.
    pub fn notify_of_writes<T>(&self, py: Python<'_>, ran: Result<T, (PyErr, Error)>) -> PyResult<T> {
        if ran.as_ref().err().is_none_or(|(_, error)| error.may_have_written()) {
            self.written().try_for_each(|place| self.given[place].wrote(&self.objects[place]))?;
        }
        ran.map_err(|(raised, error)| self.raised(py, raised, &error))
    }

    /// The inputs that outputs are written to.
    fn written(&self) -> impl Iterator<Item = usize> {
        self.definition.fusion.outputs().iter().filter_map(|output| Some(output.alias? as usize))
    }
}

/// Arrays that outputs are to be written to.
pub struct Destinations<'py> {
    objects: Vec<Bound<'py, PyAny>>,
    given: Vec<Given<'py>>,
}

impl<'py> Destinations<'py> {
    /// A list of arrays, one for each returned output.
    ///
    /// # Errors
    /// For an object that is no list of arrays, and for arrays that cannot be written to.
    pub fn new(out: &Bound<'py, PyAny>) -> PyResult<Destinations<'py>> {
        if !out.is_instance_of::<PyList>() && !out.is_instance_of::<PyTuple>() {
            let kind = out.get_type().qualname()?;
            return Err(errors::argument(
                out.py(),
                format!("out must be a list or tuple of arrays, got {kind}"),
            ));
        }
        let objects: Vec<Bound<'py, PyAny>> = out.try_iter()?.collect::<PyResult<_>>()?;
        let array = |(number, array): (usize, &Bound<'py, PyAny>)| {
            let place = Place::Output(number);
            let given = Given::new(array, place)?;
            match given.unwritable(array)? {
                None => Ok(given),
                Some(reason) => {
                    Err(errors::input(array.py(), format!("{place} is written to, but {reason}")))
                }
            }
        };
        let given = objects.iter().enumerate().map(array).collect::<PyResult<_>>()?;
        Ok(Destinations { objects, given })
    }

    /// Their memory.
    ///
    /// # Errors
    /// For arrays of a GPU.
    pub fn arguments(&self) -> PyResult<Vec<Argument<'_>>> {
        let numbered = self.given.iter().enumerate();
        numbered.map(|(number, given)| given.argument(Place::Output(number))).collect()
    }

    /// The arrays, which must be on GPU number `ordinal`.
    ///
    /// # Errors
    /// For arrays on another device.
    pub fn on_gpu(&self, py: Python<'_>, ordinal: usize) -> PyResult<Vec<(Place<'_>, &InputOnGpu<'py>)>> {
        let one = |(number, given): (usize, _)| {
            let (place, array) = (Place::Output(number), Given::on_gpu(given));
            let device = match array {
                Some(array) if array.at.ordinal == ordinal => return Ok((place, array)),
                Some(array) => format!("cuda:{}", array.at.ordinal),
                None => "the CPU".to_owned(),
            };
            Err(errors::input(py, format!("{place} lies on {device}, the inputs on cuda:{ordinal}")))
        };
        self.given.iter().enumerate().map(one).collect()
    }

    /// The arrays, as objects.
    pub fn objects(&self) -> Vec<Py<PyAny>> {
        self.objects.iter().map(|array| array.clone().unbind()).collect()
    }

    /// The arrays, after their libraries were told that they were written to.
    ///
    /// # Errors
    /// Errors of a library.
    pub fn written(self) -> PyResult<Vec<Bound<'py, PyAny>>> {
        self.given.iter().zip(&self.objects).try_for_each(|(given, objects)| given.wrote(objects))?;
        Ok(self.objects)
    }
}

/// A call.
pub struct Call<'a, 'py> {
    inputs: Inputs<'a, 'py>,
    kind: Kind,
    /// The start of its random numbers, if the caller determines it.
    pub stream: Option<Stream>,
}

impl<'a, 'py> Call<'a, 'py> {
    /// A call on these inputs. Advances torch's generator by the draws of the definition.
    ///
    /// # Errors
    /// For a library that does not exist.
    pub fn new(py: Python<'py>, inputs: Inputs<'a, 'py>, wanted: Wanted<'_>) -> PyResult<Call<'a, 'py>> {
        let kind = Kind::of(py, &inputs.given, &inputs.objects, wanted)?;
        let stream = stream(py, &kind, inputs.definition.draws)?;
        Ok(Call { inputs, kind, stream })
    }

    /// Its outputs as Python's arrays.
    ///
    /// # Errors
    /// When the library has no such dtype, or there is no memory for a copy.
    pub fn arrays<'o>(
        &self,
        py: Python<'py>,
        wanted: Wanted<'_>,
        outputs: impl IntoIterator<Item = Output<'o>, IntoIter: ExactSizeIterator>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let Inputs { definition, objects, given } = &self.inputs;
        let one = |(number, output): (usize, Output<'o>)| {
            let is_view = matches!(output, Output::View { .. });
            let array = self.kind.array(py, output, given, objects, definition)?;
            if is_view { wanted.for_view(number, array) } else { Ok(array) }
        };
        let outputs = outputs.into_iter();
        collected(outputs.len(), outputs.enumerate().map(one))
    }
}

impl<'a, 'py> Deref for Call<'a, 'py> {
    type Target = Inputs<'a, 'py>;

    fn deref(&self) -> &Self::Target {
        &self.inputs
    }
}

/// The state of torch's generator, if torch is the caller of a definition with draws. Advances it by these draws.
fn stream(py: Python<'_>, kind: &Kind, draws: u32) -> PyResult<Option<Stream>> {
    if draws == 0 || !kind.is_torch() {
        return Ok(None);
    }
    let taken = py.import("ferrofuse.torch_generator")?.call_method1("take", (draws,))?;
    let (seed, offset) = taken.extract()?;
    Ok(Some(Stream { seed, offset }))
}

/// The `count` items of a fallible iterator, which has no length itself: a list would grow and move them.
fn collected<T>(count: usize, items: impl Iterator<Item = PyResult<T>>) -> PyResult<Vec<T>> {
    let mut all = Vec::with_capacity(count);
    for item in items {
        all.push(item?);
    }
    Ok(all)
}

/// Inputs as one list: lists and tuples among them are flattened one level.
fn flat<'py>(inputs: &Bound<'py, PyAny>) -> PyResult<Objects<'py>> {
    let mut items = SmallVec::new();
    // torch's sizes (`x.shape`) are a subclass of tuple.
    let mut add = |item: Bound<'py, PyAny>| match (item.cast::<PyList>(), item.cast::<PyTuple>()) {
        (Ok(list), _) => items.extend(list.iter()),
        (_, Ok(tuple)) => items.extend(tuple.iter()),
        _ => items.push(item),
    };
    if let Ok(list) = inputs.cast::<PyList>() {
        list.iter().for_each(&mut add);
    } else if let Ok(tuple) = inputs.cast::<PyTuple>() {
        tuple.iter().for_each(&mut add);
    } else {
        let kind = inputs.get_type().qualname()?;
        return Err(errors::argument(inputs.py(), format!("inputs must be a list or tuple, got {kind}")));
    }
    Ok(items)
}
