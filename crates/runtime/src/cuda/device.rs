//! A GPU, opened, and the facts that the compiler needs.

use std::sync::Arc;

use codegen_c::cuda::NVRTC_OPTIONS;
use cuda::{Cubin, CublasLt, Cuda, Error, Gpu, Nvrtc, Reports, Stream, StridedCopy};
use kernel::NO_FAULT;
use target::{GpuModel, Target};

use super::faults::{Watched, earlier};
use super::products::Products;

/// The share of the memory's bandwidth that a copy reaches.
const COPY_SHARE: f64 = 0.9;

/// A GPU with the stream that calls from the host run on. Any number of threads may call executables on it.
#[derive(Debug)]
pub struct CudaDevice {
    gpu: Arc<Gpu>,
    cuda: Arc<Cuda>,
    stream: Arc<Stream>,
    copies: StridedCopy,
    products: Products,
    faults: Arc<Reports<Watched>>,
}

impl CudaDevice {
    /// The GPU of this number.
    ///
    /// # Errors
    /// That there is none, or what the driver says.
    pub fn open(cuda: &Arc<Cuda>, ordinal: usize) -> Result<CudaDevice, Error> {
        let gpu = Arc::new(Gpu::open(cuda, ordinal)?);
        let stream = Arc::new(Stream::new(&gpu)?);
        Ok(CudaDevice {
            faults: Arc::new(Reports::new(&gpu, NO_FAULT)),
            gpu,
            cuda: Arc::clone(cuda),
            stream,
            copies: StridedCopy::default(),
            products: Products::default(),
        })
    }

    /// What users call it, as in `cuda:0`.
    pub fn name(&self) -> String {
        format!("cuda:{}", self.gpu.ordinal())
    }

    /// Fills all memory that calls allocate from now on with NaN, so that a check finds elements that no kernel wrote.
    pub fn poison(&self) {
        self.gpu.poison();
    }

    /// Its architecture, as in `sm_90`.
    pub fn architecture(&self) -> String {
        self.gpu.architecture()
    }

    /// Bytes of its last-level cache.
    pub fn cache_bytes(&self) -> usize {
        usize::try_from(self.gpu.facts().l2_bytes).unwrap_or(0)
    }

    /// The machine code of CUDA C++ for it.
    ///
    /// # Errors
    /// What the compiler says of the text.
    pub fn compile(&self, text: &str) -> Result<Cubin, Error> {
        self.cuda.nvrtc.compile(text, &self.gpu.architecture(), &NVRTC_OPTIONS)
    }

    /// Another GPU of the machine.
    ///
    /// # Errors
    /// As [`CudaDevice::open`].
    pub fn sibling(&self, ordinal: usize) -> Result<CudaDevice, Error> {
        CudaDevice::open(&self.cuda, ordinal)
    }

    /// A stream of its own, which does not wait for the default one.
    ///
    /// # Errors
    /// What the driver says.
    pub fn new_stream(&self) -> Result<Stream, Error> {
        Stream::new(&self.gpu)
    }

    /// A stream of the caller's, by its `CUstream` as a number; 0 is the default stream.
    ///
    /// # Safety
    /// As [`Stream::of_caller`].
    ///
    /// # Errors
    /// A stream of another device.
    pub unsafe fn stream_of_caller(&self, raw: usize) -> Result<Stream, Error> {
        // SAFETY: the caller's.
        unsafe { Stream::of_caller(&self.gpu, raw) }
    }

    /// The facts that the compiler needs: those of its class of GPUs, with its own numbers where the driver reports them.
    pub fn target(&self) -> Target {
        let facts = self.gpu.facts();
        let known = GpuModel::named(&self.gpu.architecture()).or_else(|| GpuModel::named("h100"));
        let known = known.expect("it is in the table");
        let multiprocessors = u64::try_from(facts.multiprocessors).unwrap_or(0).max(1);
        let bandwidth =
            if facts.bandwidth > 0 { COPY_SHARE * facts.bandwidth as f64 } else { known.bandwidth };
        Target::gpu(&GpuModel {
            multiprocessors,
            shared_bytes: u64::try_from(facts.shared_bytes).unwrap_or(known.shared_bytes),
            bandwidth,
            throughput: known.throughput * multiprocessors as f64 / known.multiprocessors as f64,
            max_cluster: if facts.capability < (9, 0) { 1 } else { known.max_cluster },
            ..known.clone()
        })
    }

    /// Checks for an index out of range in earlier calls: the first is an error, once.
    ///
    /// # Errors
    /// [`crate::Error::Earlier`].
    pub fn check(&self) -> Result<(), crate::Error> {
        match earlier(&self.faults) {
            None => Ok(()),
            Some(error) => Err(crate::Error::Earlier { device: self.name(), error: Box::new(error) }),
        }
    }

    pub(super) fn faults(&self) -> &Arc<Reports<Watched>> {
        &self.faults
    }

    pub(crate) fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    pub(crate) fn stream(&self) -> &Arc<Stream> {
        &self.stream
    }

    pub(super) fn nvrtc(&self) -> &Nvrtc {
        &self.cuda.nvrtc
    }

    /// cuBLASLt, which is opened when it is first needed.
    ///
    /// # Errors
    /// That there is none.
    pub(super) fn cublaslt(&self) -> Result<&Arc<CublasLt>, Error> {
        self.cuda.cublaslt()
    }

    pub(super) fn products(&self) -> &Products {
        &self.products
    }

    pub(super) fn copies(&self) -> &StridedCopy {
        &self.copies
    }
}
