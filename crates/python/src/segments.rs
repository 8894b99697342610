//! Segments for Python: a description of each, and running all of them in order.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use ferrofuse::{
    CompileOptions, Definition, SegmentError, SegmentedExecutable, explain_call, listed_segmentation,
    parse_schedule, read_segmentation, segments,
};
use ir::graph::Sizes;
use pyo3::prelude::*;

use crate::arrays::Wanted;
use crate::definition::Builder;
use crate::errors;
use crate::executable::{Chosen, Executable, PlannedCall, is_without_llvm, options};
use crate::explanation::NativeExplanation;
use crate::on_devices::OnDevices;
use crate::runnable::ReportDict;

/// A segment of a cut.
#[pyclass(frozen, name = "Segment", module = "ferrofuse._native")]
pub struct CutSegment {
    segment: ferrofuse::Segment,
}

#[pymethods]
impl CutSegment {
    #[getter]
    fn name(&self) -> &str {
        &self.segment.name
    }

    #[getter]
    fn inputs(&self) -> Vec<String> {
        self.segment.inputs.clone()
    }

    #[getter]
    fn outputs(&self) -> Vec<String> {
        self.segment.outputs.clone()
    }

    #[getter]
    fn recomputed(&self) -> Vec<String> {
        self.segment.recomputed.clone()
    }

    #[getter]
    fn bytes(&self) -> Option<u64> {
        self.segment.bytes
    }

    #[getter]
    fn bytes_formula(&self) -> &str {
        &self.segment.bytes_formula
    }

    #[getter]
    fn device(&self) -> Option<&str> {
        self.segment.at.device.as_deref()
    }

    #[getter]
    fn stream(&self) -> Option<u32> {
        self.segment.at.stream
    }

    #[getter]
    fn why(&self) -> &str {
        &self.segment.why
    }

    #[getter]
    fn index_map(&self) -> BTreeMap<usize, usize> {
        self.segment.index_map.clone()
    }

    /// A builder that continues its definition.
    fn builder(&self) -> Builder {
        Builder::from(self.segment.builder())
    }

    /// Rejects a definition in its place with other inputs or outputs, and a schedule that does not fit it.
    #[pyo3(signature = (builder, schedule = None))]
    fn check(&self, py: Python<'_>, builder: &Builder, schedule: Option<&str>) -> PyResult<()> {
        let edited = self.edited(py, builder, schedule)?;
        edited.check_schedule(&options()).map_err(|error| errors::segments(py, &error))
    }
}

impl CutSegment {
    fn edited(
        &self,
        py: Python<'_>,
        builder: &Builder,
        schedule: Option<&str>,
    ) -> PyResult<ferrofuse::Segment> {
        let mut segment = self.segment.clone();
        segment.replace(builder.definition(py)?).map_err(|error| errors::segments(py, &error))?;
        let parsed = schedule.map(parse_schedule).transpose();
        segment.schedule = parsed
            .map_err(|error| errors::input(py, format!("the schedule of {}: {error}", segment.name)))?;
        Ok(segment)
    }
}

/// Segments, each with the builder of the definition in its place and a schedule.
pub type EditedSegments = Vec<(Py<CutSegment>, Py<Builder>, Option<String>)>;

/// The segments as they are to run.
///
/// # Errors
/// For a definition with other inputs or outputs, and for a text that is not a schedule.
pub fn edited(py: Python<'_>, segments: &EditedSegments) -> PyResult<Vec<ferrofuse::Segment>> {
    let edited = segments
        .iter()
        .map(|(segment, builder, schedule)| segment.get().edited(py, builder.get(), schedule.as_deref()));
    edited.collect()
}

/// A segmentation of the user.
#[derive(FromPyObject)]
pub enum GivenSegmentation {
    /// As `emit("segments")` prints it.
    Text(String),
    /// For each segment the names of the values that it makes.
    Lists(Vec<Vec<String>>),
}

/// The segments of a definition, for the sizes of these inputs or for unknown ones: those that the compiler finds, or those
/// of a segmentation by hand.
#[pyfunction]
#[pyo3(signature = (executable, inputs = None, segmentation = None))]
pub fn cut(
    py: Python<'_>,
    executable: &Executable,
    inputs: Option<&Bound<'_, PyAny>>,
    segmentation: Option<GivenSegmentation>,
) -> PyResult<Vec<CutSegment>> {
    let definition = executable.definition();
    let read = |given: GivenSegmentation| match given {
        GivenSegmentation::Text(text) => read_segmentation(definition, &text),
        GivenSegmentation::Lists(lists) => listed_segmentation(definition, &lists),
    };
    let chosen = segmentation.map(read).transpose();
    let chosen = chosen.map_err(|error| errors::segments(py, &error))?;
    let made = executable.made(
        py,
        inputs,
        chosen.map_or(Chosen::Searched, Chosen::Given),
        ferrofuse::cut,
        segments,
    )?;
    let made = made.map_err(|error| errors::segments(py, &error))?;
    Ok(made.into_iter().map(|segment| CutSegment { segment }).collect())
}

/// The decisions for segments, each with the builder of the definition in its place and a schedule. `segmentation` is the
/// cut into these.
#[pyfunction]
#[pyo3(signature = (executable, segments, segmentation, inputs = None))]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 passes what it converted")]
pub fn explain_segments(
    py: Python<'_>,
    executable: &Executable,
    segments: EditedSegments,
    segmentation: &str,
    inputs: Option<&Bound<'_, PyAny>>,
) -> PyResult<NativeExplanation> {
    let segments = edited(py, &segments)?;
    let chosen = limited(py, executable, segmentation)?;
    let target = executable.target(py, inputs)?;
    let (on_evaluator, options) = (is_without_llvm(py, target), options());
    let say = move |definition: &Definition, PlannedCall { plan, hints, decided, time }: &PlannedCall| {
        let options = CompileOptions { hints: hints.clone(), ..options };
        let whole = explain_call(definition, plan, hints, decided)?;
        let explained = ferrofuse::explain_segments(whole, definition, plan, &segments, target, &options)?;
        let explained = if on_evaluator { explained.without_llvm() } else { explained };
        Ok(NativeExplanation::new(explained, *time))
    };
    let explained: Result<NativeExplanation, SegmentError> =
        executable.planned(py, target, inputs, chosen, say)?;
    explained.map_err(|error| errors::segments(py, &error))
}

/// A cut within the limit on memory.
fn limited(py: Python<'_>, executable: &Executable, segmentation: &str) -> PyResult<Chosen> {
    let chosen = read_segmentation(executable.definition(), segmentation);
    Ok(Chosen::Limited(chosen.map_err(|error| errors::segments(py, &error))?))
}

/// A definition that runs as segments.
#[pyclass(frozen, module = "ferrofuse._native")]
pub struct Chain {
    chain: OnDevices<SegmentedExecutable>,
    /// The sizes of the latest call that was found to be within the limit on memory.
    within: Mutex<Option<Sizes>>,
}

#[pymethods]
impl Chain {
    /// A chain of the segments of a definition, each with the builder of the definition in its place and a schedule.
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "pyo3 passes what it converted")]
    fn new(py: Python<'_>, executable: &Executable, segments: EditedSegments) -> PyResult<Chain> {
        let edited = edited(py, &segments)?;
        let definition = executable.definition().clone();
        let make = move |options| {
            ferrofuse::Executable::from_segments(definition.clone(), &edited, options)
                .map_err(|error| Python::attach(|py| errors::segments(py, &error.into())))
        };
        let chain = OnDevices::new(make(options())?, options(), make);
        Ok(Chain { chain, within: Mutex::default() })
    }

    /// Rejects a call on inputs at whose sizes the segments need more memory than `executable` may. `segmentation` is the cut
    /// into these.
    fn require_within_limit(
        &self,
        py: Python<'_>,
        executable: &Executable,
        segmentation: &str,
        inputs: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let sizes = Some(executable.call_facts(py, inputs)?.sizes);
        if *self.within.lock().unwrap_or_else(PoisonError::into_inner) != sizes {
            let chosen = limited(py, executable, segmentation)?;
            executable.made(py, Some(inputs), chosen, ferrofuse::cut, |_, _, _| ())?;
            *self.within.lock().unwrap_or_else(PoisonError::into_inner) = sizes;
        }
        Ok(())
    }

    /// As `Executable.run`.
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
        self.chain.run(py, inputs, wanted, out.as_ref(), threads.as_ref())
    }

    /// As `Executable.profile`; the name of a step begins with that of its segment, `seg1.seg0`.
    #[pyo3(signature = (inputs, like = None, device = None))]
    fn profile<'py>(
        &self,
        py: Python<'py>,
        inputs: &Bound<'py, PyAny>,
        like: Option<Bound<'py, PyAny>>,
        device: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Vec<Bound<'py, PyAny>>, ReportDict<'py>)> {
        let wanted = Wanted::of(like.as_ref(), device.as_ref());
        self.chain.profile(py, inputs, wanted)
    }

    /// As `Executable.check`.
    #[pyo3(signature = (inputs, like = None, device = None))]
    fn check<'py>(
        &self,
        py: Python<'py>,
        inputs: &Bound<'py, PyAny>,
        like: Option<Bound<'py, PyAny>>,
        device: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Vec<Bound<'py, PyAny>>, Vec<ReportDict<'py>>)> {
        let wanted = Wanted::of(like.as_ref(), device.as_ref());
        self.chain.check(py, inputs, wanted)
    }
}
