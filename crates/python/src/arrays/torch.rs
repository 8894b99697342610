//! torch's tensors beyond their memory: tensors without plain elements, autograd's rules for writes, and views that torch
//! knows to be views. Takes tensors as passed; reads and writes no element.

use ferrofuse::{ArrayView, DType, share_openmp};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// The elements of a view.
pub struct ElementsAt<'v> {
    /// The address of the element at index zero.
    pub first: usize,
    pub dtype: DType,
    pub sizes: &'v [usize],
    /// In elements.
    pub strides: &'v [isize],
}

impl<'v> From<&'v ArrayView<'_>> for ElementsAt<'v> {
    fn from(view: &'v ArrayView<'_>) -> ElementsAt<'v> {
        let (first, dtype) = (view.as_ptr() as usize, view.dtype());
        ElementsAt { first, dtype, sizes: view.sizes(), strides: view.strides() }
    }
}

/// The functions of torch that are used.
pub struct Torch {
    module: Py<PyAny>,
    /// Tells autograd that a tensor was written to; exists from torch 2.1 on.
    increment_version: Option<Py<PyAny>>,
    /// Whether `torch.jit.trace` records this thread's ops.
    is_tracing: Py<PyAny>,
    /// The number of this thread's modes that see all ops.
    modes: Py<PyAny>,
    /// The module of forward-mode derivatives.
    forward_mode: Py<PyAny>,
}

impl Torch {
    /// The installed torch. From now on calls run on the threads of its OpenMP.
    ///
    /// # Errors
    /// When it cannot be imported.
    pub fn new(py: Python<'_>) -> PyResult<Torch> {
        share_openmp();
        let graph = py.import("torch.autograd.graph")?;
        let increment_version = graph.getattr("increment_version").ok().map(Bound::unbind);
        let bare = py.import("torch._C")?;
        Ok(Torch {
            module: py.import("torch")?.into_any().unbind(),
            increment_version,
            is_tracing: bare.getattr("_is_tracing")?.unbind(),
            modes: bare.getattr("_len_torch_dispatch_stack")?.unbind(),
            forward_mode: py.import("torch.autograd.forward_ad")?.into_any().unbind(),
        })
    }

    /// The kind of a tensor without plain elements, and what to pass instead; `None` for other tensors.
    ///
    /// # Errors
    /// Errors of torch.
    pub fn kind(&self, tensor: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
        let py = tensor.py();
        let module = self.module.bind(py);
        let bare = module.getattr("_C")?;
        let has = |flag: &str| tensor.getattr(flag)?.is_truthy();
        let keys = bare.call_method1("_dispatch_keys", (tensor,))?;
        // Batches of is_grads_batched are older than torch.func, and are none of its tensors.
        let batched = bare.call_method1("_dispatch_key_parse", ("Batched",))?;
        if bare.getattr("_functorch")?.call_method1("is_functorch_wrapped_tensor", (tensor,))?.is_truthy()?
            || keys.call_method1("has", (batched,))?.is_truthy()?
        {
            return Ok(Some("is within a torch.func transform: call outside of vmap and grad".to_owned()));
        }
        if module.call_method1("_is_functional_tensor", (tensor,))?.is_truthy()? {
            return Ok(Some("is a functional tensor, which stands for one that is traced".to_owned()));
        }
        let device = tensor.getattr("device")?;
        if has("is_meta")? {
            return Ok(Some("is a meta tensor, which has sizes and no elements".to_owned()));
        }
        if !["cpu", "cuda"].contains(&device.getattr("type")?.str()?.to_str()?) {
            return Ok(Some(format!(
                "lies on the device {device}, which is neither the CPU nor a GPU of NVIDIA's"
            )));
        }
        if has("is_nested")? {
            return Ok(Some("is a nested tensor: give one that is padded (to_padded_tensor)".to_owned()));
        }
        if has("is_quantized")? {
            return Ok(Some("is a quantized tensor: give dequantize() of it".to_owned()));
        }
        let layout = tensor.getattr("layout")?;
        if !layout.is(&module.getattr("strided")?) {
            return Ok(Some(format!("is a tensor of layout {layout}: give to_dense() of it")));
        }
        if tensor.call_method0("_is_zerotensor")?.is_truthy()? {
            return Ok(Some("is a tensor of zeros without memory: give clone() of it".to_owned()));
        }
        Ok(None)
    }

    /// Why a tensor cannot be written to, by torch's rules for functions that write to an argument and have no derivative.
    ///
    /// # Errors
    /// Errors of torch.
    pub fn unwritable(&self, tensor: &Bound<'_, PyAny>) -> PyResult<Option<&'static str>> {
        let py = tensor.py();
        if self.increment_version.is_none() {
            return Ok(Some("this torch cannot be told of it: in-place outputs need torch 2.1 or later"));
        }
        if self.requires_gradient(tensor)? && self.is_grad_enabled(py)? {
            let is_leaf = tensor.getattr("is_leaf")?.is_truthy()?;
            return Ok(Some(match is_leaf {
                true => "it is a leaf that requires grad: call under torch.no_grad()",
                false => {
                    "it requires grad, and the gradient of what is written is not known: give detach() of it"
                }
            }));
        }
        let is_inference = tensor.call_method0(intern!(py, "is_inference"))?.is_truthy()?;
        let is_enabled = || self.module.bind(py).call_method0("is_inference_mode_enabled")?.is_truthy();
        if is_inference && !is_enabled()? {
            return Ok(Some(
                "it is an inference tensor: call under torch.inference_mode(), or give clone() of it",
            ));
        }
        Ok(None)
    }

    /// What records this thread's ops, of which a call outside of torch is none: its results would be constants there.
    ///
    /// # Errors
    /// Errors of torch.
    pub fn tracer(&self, py: Python<'_>) -> PyResult<Option<&'static str>> {
        if self.is_tracing.bind(py).call0()?.is_truthy()? {
            return Ok(Some("torch.jit.trace"));
        }
        if self.modes.bind(py).call0()?.extract::<usize>()? == 0 {
            return Ok(None);
        }
        let mode = py.import("torch.fx.experimental.proxy_tensor")?.call_method0("get_proxy_mode")?;
        Ok((!mode.is_none()).then_some("make_fx"))
    }

    /// Whether this thread computes derivatives in forward mode.
    ///
    /// # Errors
    /// Errors of torch.
    pub fn is_in_forward_mode(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.forward_mode.bind(py).getattr(intern!(py, "_current_level"))?.extract::<i64>()? >= 0)
    }

    /// Whether a tensor has a tangent, its derivative in forward mode.
    ///
    /// # Errors
    /// Errors of torch.
    pub fn has_tangent(&self, tensor: &Bound<'_, PyAny>) -> PyResult<bool> {
        let dual = self.forward_mode.bind(tensor.py()).call_method1("unpack_dual", (tensor,))?;
        Ok(!dual.getattr("tangent")?.is_none())
    }

    /// The elements of a tensor as one without the functions that its class overrides.
    ///
    /// # Errors
    /// Errors of torch.
    pub fn plain<'py>(&self, tensor: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = tensor.py();
        let class = self.module.bind(py).getattr("Tensor")?;
        let undisturbed = py.import("torch._C")?.getattr("_disabled_torch_function_impl")?;
        undisturbed.call1((class.getattr("as_subclass")?, PyTuple::empty(py), (tensor, class)))
    }

    /// Whether autograd records the gradient of a tensor where it is enabled; computations outside of torch lose it.
    ///
    /// # Errors
    /// Errors of torch.
    pub fn requires_gradient(&self, tensor: &Bound<'_, PyAny>) -> PyResult<bool> {
        tensor.getattr(intern!(tensor.py(), "requires_grad"))?.is_truthy()
    }

    /// Whether this thread records gradients.
    ///
    /// # Errors
    /// Errors of torch.
    pub fn is_grad_enabled(&self, py: Python<'_>) -> PyResult<bool> {
        self.module.bind(py).call_method0(intern!(py, "is_grad_enabled"))?.is_truthy()
    }

    /// Tells autograd that a tensor was written to: values of it, or of tensors that share its memory as views do, that were
    /// saved for a backward pass are no longer valid.
    ///
    /// # Errors
    /// Errors of torch.
    pub fn wrote(&self, tensor: &Bound<'_, PyAny>) -> PyResult<()> {
        let Some(increment) = &self.increment_version else { return Ok(()) };
        increment.bind(tensor.py()).call1((tensor,)).map(drop)
    }

    /// A view of a tensor's elements that torch makes, so that autograd sees writes to either in both; `None` if the tensor
    /// has other memory now than when it was passed, with its element at index zero at `given`.
    ///
    /// # Errors
    /// Errors of torch.
    pub fn view<'py>(
        &self,
        tensor: &Bound<'py, PyAny>,
        given: usize,
        viewed: &ElementsAt<'_>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = tensor.py();
        if tensor.call_method0("data_ptr")?.extract::<usize>()? != given {
            return Ok(None);
        }
        let first: isize = tensor.call_method0("storage_offset")?.extract()?;
        let offset = match viewed.sizes.contains(&0) {
            true => 0, // without elements the address of the first does not matter
            false => {
                let bytes = viewed.first.wrapping_sub(given) as isize;
                first + bytes / viewed.dtype.size() as isize
            }
        };
        let plain = self.module.bind(py).getattr("Tensor")?;
        let values = tensor.call_method0("detach")?.call_method1("as_subclass", (plain,))?;
        let (sizes, strides) = (PyTuple::new(py, viewed.sizes)?, PyTuple::new(py, viewed.strides)?);
        values.call_method1("as_strided", (sizes, strides, offset)).map(Some)
    }
}
