//! Arrays of a GPU as inputs: their places, their owners, and the order in which their elements are computed.

use std::sync::Arc;

use cuda::{Event, Stream};
use ferrofuse::{DType, GpuArgument};
use ir::array::{Array, Layout};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::GpuArray;
use crate::arrays::{Imported, Library, Owner, Place};
use crate::errors;
use crate::gpu::device::{self, Held, failed};
use crate::gpu::{OnGpu, OpenDevice, Streams};

/// An array of a GPU as an input.
pub struct InputOnGpu<'py> {
    pub at: OnGpu,
    /// Whether its users may write to it.
    pub writable: bool,
    /// Whether it is a copy of the input.
    pub is_copy: bool,
    pub holder: Holder<'py>,
}

/// The owner of its elements, and the order in which they are computed.
pub enum Holder<'py> {
    /// An object of our class, with its stream.
    Own(Bound<'py, GpuArray>),
    /// An object of a library that has streams: ordered by the library's current stream.
    Borrowed(Bound<'py, PyAny>, Arc<Library>),
    /// An array exported for the device's stream, or by a library with streams.
    Imported(Arc<Imported>),
    /// An object that gives the address of its memory and, by number, a stream.
    Named(Bound<'py, PyAny>, Option<usize>),
}

impl<'py> InputOnGpu<'py> {
    /// An object of our class, if it is one.
    pub fn of_ours(object: &Bound<'py, PyAny>) -> Option<InputOnGpu<'py>> {
        let array = object.cast::<GpuArray>().ok()?;
        let (at, writable) = (array.get().place(), array.get().is_writable());
        Some(InputOnGpu { at, writable, is_copy: false, holder: Holder::Own(array.clone()) })
    }

    /// An object with `__cuda_array_interface__`, if it is one.
    ///
    /// # Errors
    /// For values of the interface that are not supported.
    pub fn named(object: &Bound<'py, PyAny>, place: Place<'_>) -> PyResult<Option<InputOnGpu<'py>>> {
        let py = object.py();
        match object.getattr_opt(intern!(py, "__cuda_array_interface__"))? {
            Some(interface) => by_name(object, &interface.cast_into::<PyDict>()?, place).map(Some),
            None => Ok(None),
        }
    }

    /// Its library, if known.
    pub fn library(&self) -> Option<&Arc<Library>> {
        match &self.holder {
            Holder::Borrowed(_, library) => Some(library),
            Holder::Imported(imported) => imported.library(),
            Holder::Own(_) | Holder::Named(..) => None,
        }
    }

    /// Its library's streams, if it has them.
    pub fn streams(&self) -> Option<&Streams> {
        self.library()?.streams.as_ref()
    }

    /// Why a call on the host rejects it.
    pub fn not_of_host(&self, place: Place<'_>) -> PyErr {
        let message =
            format!("{place}: lies on cuda:{}, where an array of the host is expected", self.at.ordinal);
        Python::attach(|py| errors::input(py, message))
    }

    /// The elements.
    pub fn argument(&self) -> GpuArgument<'_> {
        let OnGpu { address, dtype, layout, .. } = self.at.clone();
        // SAFETY: the library guarantees sizes and strides. The holder keeps the memory until the call has returned, and the
        // device longer if the library would reuse it before the work is done. The work begins after earlier work of the
        // array's stream. A write during others' reads is the caller's own race, as with every function of the library.
        unsafe { GpuArgument::from_raw_parts(address, dtype, layout, self.writable && !self.is_copy) }
    }

    /// Its owner, for a view of it.
    pub fn owner(&self) -> Owner {
        match &self.holder {
            Holder::Imported(imported) => Owner::Imported { _imported: Arc::clone(imported) },
            Holder::Own(array) => Owner::Object { _object: array.clone().into_any().unbind() },
            Holder::Borrowed(object, _) | Holder::Named(object, _) => {
                Owner::Object { _object: object.clone().unbind() }
            }
        }
    }

    /// A copy on the host, after the work that computes the elements.
    ///
    /// # Errors
    /// Errors of the driver or the library.
    pub fn downloaded(&self, py: Python<'_>, device: &Arc<OpenDevice>) -> PyResult<Array> {
        let stream = &device.stream;
        self.await_on(py, stream, device)?;
        GpuArray::around(self.at.clone(), false, self.owner(), Arc::clone(stream), device).downloaded()
    }

    /// Makes a stream wait for the work that computes the elements.
    ///
    /// # Errors
    /// Errors of the driver or the library.
    pub fn await_on(&self, py: Python<'_>, stream: &Stream, device: &OpenDevice) -> PyResult<()> {
        let made_on = match (&self.holder, self.streams()) {
            (_, Some(streams)) => streams.current(py, device)?,
            (Holder::Own(array), _) => Arc::clone(array.get().stream()),
            (Holder::Named(_, None), _) => return Ok(()),
            // SAFETY: the interface guarantees that the stream lives.
            (Holder::Named(_, Some(number)), _) => unsafe { device.stream_of(*number) }?,
            (Holder::Imported(_) | Holder::Borrowed(..), None) => Arc::clone(&device.stream),
        };
        follow(stream, &made_on)
    }

    /// Ensures that the memory is not reused before a stream's current work is done; returns an object that must be held for
    /// that.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn kept(&self, stream: &Stream) -> PyResult<Option<Held>> {
        match &self.holder {
            // Its memory is freed in the order of its stream.
            Holder::Own(array) => follow(array.get().stream(), stream).map(|()| None),
            Holder::Imported(imported) => Ok(Some(Box::new(Arc::clone(imported)))),
            Holder::Borrowed(object, _) | Holder::Named(object, _) => {
                Ok(Some(Box::new(object.clone().unbind())))
            }
        }
    }
}

/// Makes one stream wait for the current work of another.
fn follow(stream: &Stream, other: &Stream) -> PyResult<()> {
    if stream.number() == other.number() {
        return Ok(());
    }
    let event = Event::record(other).map_err(failed)?;
    stream.wait_for(&event).map_err(failed)
}

/// The values of `__cuda_array_interface__`, version 3 (numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html).
fn by_name<'py>(
    object: &Bound<'py, PyAny>,
    interface: &Bound<'py, PyDict>,
    place: Place<'_>,
) -> PyResult<InputOnGpu<'py>> {
    let py = object.py();
    let rejected = |what: String| errors::input(py, format!("{place}: its __cuda_array_interface__ {what}"));
    let entry = |key: &str| interface.get_item(key)?.ok_or_else(|| rejected(format!("has no {key}")));
    let optional = |key: &str| Ok::<_, PyErr>(interface.get_item(key)?.filter(|value| !value.is_none()));
    let (address, read_only): (u64, bool) = entry("data")?.extract()?;
    let sizes: Vec<usize> = entry("shape")?.extract()?;
    let is_empty = sizes.contains(&0);
    let typestr: String = entry("typestr")?.extract()?;
    if optional("mask")?.is_some() {
        return Err(rejected("has a mask".to_owned()));
    }
    let dtype = DType::ALL.into_iter().find(|dtype| dtype.typestr().as_deref() == Some(&*typestr));
    let dtype = dtype.ok_or_else(|| rejected(format!("has the type {typestr}, which is not supported")))?;
    let size = dtype.size() as isize;
    let layout = match optional("strides")? {
        None => Layout::dense(&sizes),
        Some(strides) => {
            let strides: Vec<isize> = strides.extract()?;
            if strides.len() != sizes.len() || strides.iter().any(|stride| stride % size != 0) {
                let what = format!("has strides {strides:?}, which are no whole elements of {size} bytes");
                return Err(rejected(what));
            }
            let strides = strides.iter().map(|stride| stride / size).collect();
            Layout { offset: 0, sizes: sizes.into_iter().collect(), strides }
        }
    };
    let stream: Option<usize> = optional("stream")?.map(|stream| stream.extract()).transpose()?;
    // Without elements there may be no address, and then no device.
    let ordinal = match (address, is_empty) {
        (0, true) => 0,
        _ => device::of_address(py, address).map_err(|error| {
            rejected(format!("names {address:#x}, which is in no GPU's memory ({})", error.value(py)))
        })?,
    };
    let at = OnGpu { ordinal, address, dtype, layout };
    Ok(InputOnGpu { at, writable: !read_only, is_copy: false, holder: Holder::Named(object.clone(), stream) })
}
