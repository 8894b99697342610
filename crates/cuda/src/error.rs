//! Errors between a CUDA text and its results, in words that say what to do.

use std::path::PathBuf;

use thiserror::Error;

/// The command that installs NVRTC on a machine with a driver.
pub const INSTALL: &str = "pip install nvidia-cuda-nvrtc-cu12";

/// The command that installs cuBLASLt.
pub const INSTALL_CUBLAS: &str = "products of matrices need it: pip install nvidia-cublas-cu12";

/// Everything that can fail in NVIDIA's libraries.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// No library of any of these names could be opened.
    #[error("{library} was not found (tried {}); {hint}", .tried.join(", "))]
    NotFound {
        /// `libcuda`, `libnvrtc` or `libcublasLt`.
        library: &'static str,
        /// The names or paths given to the dynamic loader, in order.
        tried: Vec<String>,
        /// How to fix it.
        hint: &'static str,
    },
    /// The file exists, but the dynamic loader rejects it.
    #[error("{} cannot be loaded: {reason}", .path.display())]
    Unloadable {
        path: PathBuf,
        /// The dynamic loader's words.
        reason: String,
    },
    /// The library lacks a function that we call.
    #[error("{} has no function {symbol}: it is not the library it should be, or older than CUDA 11.4", .path.display())]
    MissingSymbol { path: PathBuf, symbol: String },
    /// The driver is too old for what NVRTC makes.
    #[error(
        "the driver supports CUDA {}.{} and NVRTC is of CUDA {}.{}: update the driver, or take an NVRTC of CUDA {}",
        .driver.0, .driver.1, .nvrtc.0, .nvrtc.1, .driver.0
    )]
    DriverTooOld {
        /// The newest CUDA that the driver supports, major and minor.
        driver: (i32, i32),
        nvrtc: (i32, i32),
    },
    /// A device that does not exist.
    #[error("there is no device cuda:{asked}: this machine has {}", count(*.devices))]
    NoDevice { asked: usize, devices: usize },
    /// The device has no memory left, after the pool returned its unused memory.
    #[error("cuda:{device} has no memory for {bytes} bytes: {free} of {total} are free, calls hold {held}")]
    OutOfMemory {
        device: usize,
        /// The bytes that were asked for.
        bytes: usize,
        free: usize,
        total: usize,
        /// Bytes of the pool that are in use.
        held: u64,
    },
    /// A function of the driver failed.
    #[error("{call}: {name}: {text}{}", lasting(*.code))]
    Driver {
        /// The function.
        call: &'static str,
        /// The number of the error.
        code: i32,
        /// The name of the error, as in `CUDA_ERROR_INVALID_VALUE`.
        name: String,
        /// The driver's words.
        text: String,
    },
    /// NVRTC rejects a text: a bug of the compiler.
    #[error("NVRTC rejects the text for {architecture}:\n{log}")]
    Rejected { architecture: String, log: String },
    /// Machine code that is none of NVIDIA's.
    #[error("the machine code of {kernel} does not say what registers it takes")]
    NoResources { kernel: String },
    /// A function of cuBLASLt failed.
    #[error("{call}: {name}: {text}")]
    Cublas {
        call: &'static str,
        /// The name of the status, as in `CUBLAS_STATUS_NOT_SUPPORTED`.
        name: String,
        /// The library's words.
        text: String,
    },
    /// A function of NVRTC failed.
    #[error("{call}: {text}")]
    Nvrtc { call: &'static str, text: String },
}

/// The advice for an error that the context keeps.
fn lasting(code: i32) -> &'static str {
    match code {
        // Kernels that went wrong, in the order of the header.
        700 | 702 | 710 | 714..=719 => {
            " (in this call or an earlier one; the process cannot use the device any more: start it anew)"
        }
        _ => "",
    }
}

/// A number of devices in words.
fn count(devices: usize) -> String {
    match devices {
        0 => "none".to_owned(),
        1 => "one, cuda:0".to_owned(),
        more => format!("cuda:0 to cuda:{}", more - 1),
    }
}
