//! The outputs of a call on a GPU: arrays of the library of its inputs, in that library's memory if it has streams, else in
//! our own.

use std::sync::Arc;

use cuda::Stream;
use ferrofuse::{DType, Error, GpuArgument, GpuOutput, GpuTensor, Interrupted, OutputForm};
use ir::array::Layout;
use pyo3::prelude::*;

use super::{GpuArray, InputOnGpu};
use crate::arrays::{ElementsAt, Given, Library, Wanted, library};
use crate::errors;
use crate::gpu::{OnGpu, OpenDevice};

/// The kind of outputs.
pub enum KindOnGpu {
    /// Arrays of our class.
    Own,
    /// Arrays of a library.
    Of(Arc<Library>),
}

impl KindOnGpu {
    /// The requested kind, else that of the first array of a GPU among the inputs, else that of calls without arrays.
    ///
    /// # Errors
    /// For a library of the host, and when a library cannot be imported.
    pub fn of(py: Python<'_>, given: &[Given<'_>], wanted: Wanted<'_>) -> PyResult<KindOnGpu> {
        if let Some(like) = wanted.like {
            return library::like(like)?.map(KindOnGpu::Of).ok_or_else(|| {
                let message = "like='numpy' asks for arrays of the host, and the call is one on a GPU: \
                               leave it out, and copy the outputs";
                errors::argument(py, message)
            });
        }
        let first = given.iter().find_map(|given| match given {
            Given::Gpu(input) => Some(input.library()),
            _ => None,
        });
        let named = match first {
            Some(library) => library.cloned(),
            None => match &*wanted.without_arrays(py)? {
                "torch" => library::with_gpus(py)?,
                name => library::named(py, name, "a call without arrays")?,
            },
        };
        Ok(named.map_or(KindOnGpu::Own, KindOnGpu::Of))
    }

    /// The library, if it has streams.
    pub fn library(&self) -> Option<&Arc<Library>> {
        match self {
            KindOnGpu::Own => None,
            KindOnGpu::Of(library) => Some(library),
        }
    }

    /// An array around a tensor that a call computed.
    ///
    /// # Errors
    /// When the library has no such dtype.
    pub fn array<'py>(
        &self,
        py: Python<'py>,
        tensor: GpuTensor,
        device: &Arc<OpenDevice>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.adopted(py, GpuArray::new(tensor, device))
    }

    fn adopted<'py>(&self, py: Python<'py>, array: GpuArray) -> PyResult<Bound<'py, PyAny>> {
        match self {
            KindOnGpu::Own => Ok(Bound::new(py, array)?.into_any()),
            KindOnGpu::Of(library) => library.adopt(py, array),
        }
    }
}

/// Memory for the outputs of a call: arrays of the caller's, of a library, or none.
pub struct OutputsOnGpu {
    kind: KindOnGpu,
    device: Arc<OpenDevice>,
    /// For each returned output the array that it is written to.
    placed: Vec<Option<Py<PyAny>>>,
    /// The error that kept the library from making them.
    failure: Option<PyErr>,
}

impl OutputsOnGpu {
    /// Outputs of a kind, without memory yet.
    pub fn new(kind: KindOnGpu, device: &Arc<OpenDevice>) -> OutputsOnGpu {
        OutputsOnGpu { kind, device: Arc::clone(device), placed: Vec::new(), failure: None }
    }

    /// Outputs in arrays of the caller's.
    pub fn written_to(arrays: Vec<Py<PyAny>>, device: &Arc<OpenDevice>) -> OutputsOnGpu {
        let placed = arrays.into_iter().map(Some).collect();
        OutputsOnGpu { kind: KindOnGpu::Own, device: Arc::clone(device), placed, failure: None }
    }

    /// Memory of the library for the outputs of a call, if it has its own memory.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if the library raised an error, which is then in [`OutputsOnGpu::failure`].
    pub fn made(&mut self, forms: &[OutputForm]) -> Result<Vec<Option<GpuArgument<'static>>>, Error> {
        let Some(streams) = self.kind.library().and_then(|library| library.streams.as_ref()) else {
            self.placed = forms.iter().map(|_| None).collect();
            return Ok(forms.iter().map(|_| None).collect());
        };
        let ordinal = self.device.ordinal;
        let made: PyResult<Vec<_>> = Python::attach(|py| {
            let one = |form: &OutputForm| match form.input {
                Some(_) => Ok(None),
                None => streams.empty(py, form, ordinal).map(|(array, at)| Some((array.unbind(), at))),
            };
            forms.iter().map(one).collect()
        });
        let made = made.map_err(|error| {
            self.failure = Some(error);
            Error::from(Interrupted)
        })?;
        let placed = made.into_iter().map(|made| match made {
            None => (None, None),
            Some((array, OnGpu { address, dtype, layout, .. })) => {
                // SAFETY: the library allocated memory for exactly this, in the order of its current stream, which is the
                // call's; the array keeps it beyond the call.
                let argument = unsafe { GpuArgument::from_raw_parts(address, dtype, layout, true) };
                (Some(array), Some(argument))
            }
        });
        let (arrays, arguments) = placed.unzip();
        self.placed = arrays;
        Ok(arguments)
    }

    /// The error of a library when memory was requested.
    pub fn failure(&mut self) -> Option<PyErr> {
        self.failure.take()
    }

    /// The outputs of a call on these inputs, whose work is on a stream.
    ///
    /// # Errors
    /// When a library has no such dtype.
    pub fn arrays<'py>(
        &self,
        py: Python<'py>,
        wanted: Wanted<'_>,
        outputs: Vec<GpuOutput>,
        given: &[Given<'py>],
        inputs: &[Bound<'py, PyAny>],
        stream: &Arc<Stream>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let one = |(number, output): (usize, GpuOutput)| match output {
            GpuOutput::Made(tensor) => self.kind.array(py, tensor, &self.device),
            GpuOutput::Placed => {
                let array = self.placed[number].as_ref().expect("what is placed was given memory");
                Ok(array.clone_ref(py).into_bound(py))
            }
            GpuOutput::View { input, layout } => match &given[input] {
                Given::Gpu(viewed) => {
                    let view = self.view(py, viewed, layout, &inputs[input], stream)?;
                    wanted.for_view(number, view)
                }
                _ => unreachable!("what is no array of the GPU is copied"),
            },
        };
        outputs.into_iter().enumerate().map(one).collect()
    }

    /// A view of an input.
    fn view<'py>(
        &self,
        py: Python<'py>,
        viewed: &InputOnGpu<'py>,
        layout: Layout,
        object: &Bound<'py, PyAny>,
        stream: &Arc<Stream>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let OnGpu { ordinal, address, dtype, .. } = viewed.at;
        let first = address.wrapping_add_signed(layout.offset as i64 * DType::size(dtype) as i64);
        if let (Some(own), Some(torch)) =
            (self.kind.library(), viewed.library().and_then(|library| library.torch.as_ref()))
            && own.torch.is_some()
            && !viewed.is_copy
        {
            let seen =
                ElementsAt { first: first as usize, dtype, sizes: &layout.sizes, strides: &layout.strides };
            let view = torch.view(object, address as usize, &seen)?;
            return view
                .ok_or_else(|| errors::input(py, "the memory of an input was replaced while the call ran"));
        }
        let at = OnGpu { ordinal, address: first, dtype, layout: Layout { offset: 0, ..layout } };
        let array = GpuArray::around(at, viewed.writable, viewed.owner(), Arc::clone(stream), &self.device);
        self.kind.adopted(py, array)
    }
}
