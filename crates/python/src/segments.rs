//! Segments in Python's hands: what each is, and all of them run in order.

use std::collections::BTreeMap;

use ferrofuse::{CodeTarget, SegmentedExecutable, parse_schedule, read_segmentation, segments};
use pyo3::prelude::*;

use crate::arrays::Wanted;
use crate::call::Inputs;
use crate::definition::Builder;
use crate::errors;
use crate::executable::{Executable, options};
use crate::machine;
use crate::runnable::{self, Told};

/// A segment as it was cut.
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

    /// Its definition, to go on with.
    fn builder(&self) -> Builder {
        Builder::from(self.segment.builder())
    }

    /// Rejects a definition in its place that takes or gives something else, and a schedule that does not fit it.
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

/// The segments of a definition, for the sizes of these inputs or for none in particular: those that the compiler finds, or of
/// a segmentation as `emit("segments")` prints it.
#[pyfunction]
#[pyo3(signature = (executable, inputs = None, segmentation = None))]
pub fn cut(
    py: Python<'_>,
    executable: &Executable,
    inputs: Option<&Bound<'_, PyAny>>,
    segmentation: Option<&str>,
) -> PyResult<Vec<CutSegment>> {
    let chosen = segmentation.map(|text| read_segmentation(executable.definition(), text)).transpose();
    let chosen = chosen.map_err(|error| errors::segments(py, &error))?;
    let made = executable.planned(py, CodeTarget::HOST, inputs, chosen, segments)?;
    let made = made.map_err(|error| errors::segments(py, &error))?;
    Ok(made.into_iter().map(|segment| CutSegment { segment }).collect())
}

/// A definition that runs as segments.
#[pyclass(frozen, module = "ferrofuse._native")]
pub struct Chain {
    chain: SegmentedExecutable,
}

#[pymethods]
impl Chain {
    /// Of the segments of a definition, each with the builder of the definition in its place and a schedule.
    #[new]
    fn new(
        py: Python<'_>,
        executable: &Executable,
        segments: Vec<(Py<CutSegment>, Py<Builder>, Option<String>)>,
    ) -> PyResult<Chain> {
        let edited = segments
            .iter()
            .map(|(segment, builder, schedule)| segment.get().edited(py, builder.get(), schedule.as_deref()));
        let edited = edited.collect::<PyResult<Vec<_>>>()?;
        let definition = executable.definition().clone();
        let chain = ferrofuse::Executable::from_segments(definition, &edited, options());
        Ok(Chain { chain: chain.map_err(|error| errors::segments(py, &error.into()))? })
    }

    /// As `Executable.run`.
    #[pyo3(signature = (inputs, like = None, without_arrays = "numpy", out = None, threads = None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        inputs: &Bound<'py, PyAny>,
        like: Option<Bound<'py, PyAny>>,
        without_arrays: &str,
        out: Option<Bound<'py, PyAny>>,
        threads: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let (machine, wanted) =
            (machine::of_call(threads.as_ref())?, Wanted { like: like.as_ref(), without_arrays });
        let inputs = Inputs::new(self.chain.definition(), inputs)?;
        runnable::run(&self.chain, py, inputs, wanted, machine, out.as_ref())
    }

    /// As `Executable.profile`; steps are called by the segment and by what it calls them, `seg1.seg0`.
    #[pyo3(signature = (inputs, like = None, without_arrays = "numpy"))]
    fn profile<'py>(
        &self,
        py: Python<'py>,
        inputs: &Bound<'py, PyAny>,
        like: Option<Bound<'py, PyAny>>,
        without_arrays: &str,
    ) -> PyResult<(Vec<Bound<'py, PyAny>>, Told<'py>)> {
        let wanted = Wanted { like: like.as_ref(), without_arrays };
        let inputs = Inputs::new(self.chain.definition(), inputs)?;
        runnable::profile(&self.chain, py, inputs, wanted, machine::of_call(None)?)
    }

    /// As `Executable.check`.
    #[pyo3(signature = (inputs, like = None, without_arrays = "numpy"))]
    fn check<'py>(
        &self,
        py: Python<'py>,
        inputs: &Bound<'py, PyAny>,
        like: Option<Bound<'py, PyAny>>,
        without_arrays: &str,
    ) -> PyResult<(Vec<Bound<'py, PyAny>>, Vec<Told<'py>>)> {
        let wanted = Wanted { like: like.as_ref(), without_arrays };
        let inputs = Inputs::new(self.chain.definition(), inputs)?;
        runnable::check(&self.chain, py, inputs, wanted, &machine::of_process())
    }
}
