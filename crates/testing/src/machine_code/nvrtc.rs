//! NVRTC and nvdisasm: takes CUDA C++ and an architecture, gives the compiler's remarks and the text of the instructions.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr;

use codegen::cuda::NVRTC_OPTIONS;
use libloading::Library;
use thiserror::Error;

use super::Counts;

/// Where `make setup` puts the two.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.cuda-tools/nvidia");

/// NVRTC and nvdisasm.
#[derive(Debug)]
pub struct Tools {
    nvrtc: Library,
    nvdisasm: PathBuf,
}

/// Why a text has no machine code.
#[derive(Debug, Error)]
pub enum CompileError {
    /// NVRTC rejects it.
    #[error("NVRTC: {log}")]
    Rejected {
        /// What it says.
        log: String,
    },
    /// A function of NVRTC, or nvdisasm, does not do what it should.
    #[error("{0}")]
    Tool(String),
}

/// An `nvrtcProgram`.
type Program = *mut c_void;

impl From<libloading::Error> for CompileError {
    fn from(error: libloading::Error) -> CompileError {
        CompileError::Tool(error.to_string())
    }
}

impl Tools {
    /// The two, or why they cannot be used.
    pub fn find() -> Result<Tools, String> {
        let folder = Path::new(FOLDER);
        let library = folder.join("cuda_nvrtc/lib/libnvrtc.so.12");
        let nvdisasm = folder.join("cu13/bin/nvdisasm");
        if !library.exists() || !nvdisasm.exists() {
            return Err("NVRTC and nvdisasm are not in .cuda-tools: `make setup` fetches them".to_owned());
        }
        // SAFETY: NVIDIA's library, whose hash was checked when it was fetched; its initialisers may run.
        let nvrtc = unsafe { Library::new(&library) }.map_err(|error| error.to_string())?;
        Ok(Tools { nvrtc, nvdisasm })
    }

    /// The counts of each kernel of a text, in the order of the machine code.
    ///
    /// # Errors
    /// When NVRTC rejects the text.
    pub fn counts(&self, source: &str, architecture: &str) -> Result<Vec<Counts>, CompileError> {
        let (cubin, log) = self.compile(source, architecture)?;
        let folder = tempfile::tempdir().map_err(|error| CompileError::Tool(error.to_string()))?;
        let path = folder.path().join("kernel.cubin");
        fs::write(&path, cubin).map_err(|error| CompileError::Tool(error.to_string()))?;
        let output = Command::new(&self.nvdisasm).arg("-c").arg(&path).output();
        let output = output.map_err(|error| CompileError::Tool(error.to_string()))?;
        if !output.status.success() {
            return Err(CompileError::Tool(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        Ok(Counts::of(&String::from_utf8_lossy(&output.stdout), &log))
    }

    /// Machine code, and what ptxas says of it.
    fn compile(&self, source: &str, architecture: &str) -> Result<(Vec<u8>, String), CompileError> {
        let program = self.program(source)?;
        let result = self.compile_program(program, architecture);
        // SAFETY: NVRTC's function has this type; the program was created by it and is not used afterwards.
        unsafe {
            let mut program = program;
            let destroy =
                self.nvrtc.get::<unsafe extern "C" fn(*mut Program) -> c_int>(b"nvrtcDestroyProgram\0")?;
            destroy(&mut program);
        }
        result
    }

    fn program(&self, source: &str) -> Result<Program, CompileError> {
        type Create = unsafe extern "C" fn(
            *mut Program,
            *const c_char,
            *const c_char,
            c_int,
            *const *const c_char,
            *const *const c_char,
        ) -> c_int;
        let source = CString::new(source).map_err(|error| CompileError::Tool(error.to_string()))?;
        let mut program: Program = ptr::null_mut();
        // SAFETY: NVRTC's function has this type; the strings end with zero and outlive the call, and there are no headers.
        let status = unsafe {
            let create = self.nvrtc.get::<Create>(b"nvrtcCreateProgram\0")?;
            create(&mut program, source.as_ptr(), c"kernel.cu".as_ptr(), 0, ptr::null(), ptr::null())
        };
        if status == 0 {
            Ok(program)
        } else {
            Err(CompileError::Tool(format!("nvrtcCreateProgram: {status}")))
        }
    }

    fn compile_program(
        &self,
        program: Program,
        architecture: &str,
    ) -> Result<(Vec<u8>, String), CompileError> {
        type Compile = unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int;
        let architecture = format!("--gpu-architecture={architecture}");
        let options = NVRTC_OPTIONS.into_iter().chain([architecture.as_str(), "--ptxas-options=-v"]);
        let options: Vec<CString> =
            options.map(|text| CString::new(text).expect("options hold no zero")).collect();
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        // SAFETY: NVRTC's function has this type; the options end with zero and outlive the call.
        let status = unsafe {
            let compile = self.nvrtc.get::<Compile>(b"nvrtcCompileProgram\0")?;
            compile(program, pointers.len() as c_int, pointers.as_ptr())
        };
        let log = self.bytes(program, [b"nvrtcGetProgramLogSize\0", b"nvrtcGetProgramLog\0"])?;
        let log = CStr::from_bytes_until_nul(&log)
            .map(|log| log.to_string_lossy().into_owned())
            .unwrap_or_default();
        if status != 0 {
            return Err(CompileError::Rejected { log });
        }
        Ok((self.bytes(program, [b"nvrtcGetCUBINSize\0", b"nvrtcGetCUBIN\0"])?, log))
    }

    /// Bytes that NVRTC gives in two calls: how many, then the bytes.
    fn bytes(&self, program: Program, [size, get]: [&[u8]; 2]) -> Result<Vec<u8>, CompileError> {
        let mut length = 0_usize;
        // SAFETY: NVRTC's functions have these types; the buffer has as many bytes as the first call asks for.
        unsafe {
            let size = self.nvrtc.get::<unsafe extern "C" fn(Program, *mut usize) -> c_int>(size)?;
            let get = self.nvrtc.get::<unsafe extern "C" fn(Program, *mut u8) -> c_int>(get)?;
            size(program, &mut length);
            let mut bytes = vec![0; length];
            let status = get(program, bytes.as_mut_ptr());
            if status == 0 {
                Ok(bytes)
            } else {
                Err(CompileError::Tool(format!("NVRTC gives no bytes: {status}")))
            }
        }
    }
}
