//! NVRTC: CUDA C++ in, machine code of one architecture out.

use std::ffi::{CStr, CString, c_char, c_int};
use std::fmt;
use std::path::{Path, PathBuf};
use std::ptr;

use crate::driver::Handle;
use crate::error::{Error, INSTALL};
use crate::library::{Library, LibraryPaths, function_table};

/// The names of NVRTC, newest first.
const NAMES: [&str; 4] = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"];

function_table! { Functions:
    nvrtcVersion(*mut c_int, *mut c_int) -> c_int;
    nvrtcGetErrorString(c_int) -> *const c_char;
    nvrtcCreateProgram(
        *mut Handle, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char
    ) -> c_int;
    nvrtcDestroyProgram(*mut Handle) -> c_int;
    nvrtcCompileProgram(Handle, c_int, *const *const c_char) -> c_int;
    nvrtcGetProgramLogSize(Handle, *mut usize) -> c_int;
    nvrtcGetProgramLog(Handle, *mut u8) -> c_int;
    nvrtcGetCUBINSize(Handle, *mut usize) -> c_int;
    nvrtcGetCUBIN(Handle, *mut u8) -> c_int;
}

/// Machine code, and the compiler's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cubin {
    pub bytes: Vec<u8>,
    /// Warnings, and remarks of ptxas where the options ask for them.
    pub log: String,
}

/// NVRTC, opened.
#[derive(Debug)]
pub struct Nvrtc {
    functions: Functions,
    version: (i32, i32),
    path: PathBuf,
}

/// How NVRTC returns a text: the number of bytes, then the bytes.
type Size = unsafe extern "C" fn(Handle, *mut usize) -> c_int;
type Bytes = unsafe extern "C" fn(Handle, *mut u8) -> c_int;

impl Nvrtc {
    /// Opens the library at the path, or the first of its names in the folders and where the loader looks.
    ///
    /// # Errors
    /// The paths that were tried, or why it was rejected.
    pub fn open(paths: &LibraryPaths) -> Result<Nvrtc, Error> {
        let candidates = paths.candidates(paths.nvrtc.as_ref(), &NAMES);
        let library = Library::open("libnvrtc", &candidates, INSTALL)?;
        let functions = Functions::find(&library)?;
        let mut nvrtc = Nvrtc { functions, version: (0, 0), path: library.path };
        let (mut major, mut minor) = (0, 0);
        // SAFETY: the function has this type; the numbers outlive the call.
        let code = unsafe { (nvrtc.functions.nvrtcVersion)(&mut major, &mut minor) };
        nvrtc.check("nvrtcVersion", code)?;
        nvrtc.version = (major, minor);
        Ok(nvrtc)
    }

    /// Its CUDA, major and minor.
    pub fn version(&self) -> (i32, i32) {
        self.version
    }

    /// The name or path under which it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Machine code of a text for an architecture such as `sm_90`. `options` are further compiler options.
    ///
    /// # Errors
    /// [`Error::Rejected`] with the compiler's words.
    pub fn compile(&self, source: &str, architecture: &str, options: &[&str]) -> Result<Cubin, Error> {
        let program = Program::new(self, source)?;
        let architecture_option = format!("--gpu-architecture={architecture}");
        let options = options.iter().copied().chain([architecture_option.as_str()]);
        let options: Vec<CString> = options.map(c_text).collect::<Result<_, Error>>()?;
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        // SAFETY: the function has this type; the options end with zero and outlive the call.
        let code = unsafe {
            (self.functions.nvrtcCompileProgram)(program.raw, pointers.len() as c_int, pointers.as_ptr())
        };
        let log = program.bytes(self.functions.nvrtcGetProgramLogSize, self.functions.nvrtcGetProgramLog)?;
        let log = CStr::from_bytes_until_nul(&log)
            .map(|log| log.to_string_lossy().into_owned())
            .unwrap_or_default();
        if code != 0 {
            let log = if log.trim().is_empty() { self.words(code) } else { log };
            return Err(Error::Rejected { architecture: architecture.to_owned(), log });
        }
        let bytes = program.bytes(self.functions.nvrtcGetCUBINSize, self.functions.nvrtcGetCUBIN)?;
        Ok(Cubin { bytes, log })
    }

    fn check(&self, call: &'static str, code: c_int) -> Result<(), Error> {
        if code == 0 { Ok(()) } else { Err(Error::Nvrtc { call, text: self.words(code) }) }
    }

    fn words(&self, code: c_int) -> String {
        // SAFETY: the function has this type and gives a constant of the library's.
        unsafe { CStr::from_ptr((self.functions.nvrtcGetErrorString)(code)) }.to_string_lossy().into_owned()
    }
}

impl fmt::Display for Nvrtc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}, {}", self.version.0, self.version.1, self.path.display())
    }
}

/// An `nvrtcProgram`.
struct Program<'n> {
    nvrtc: &'n Nvrtc,
    raw: Handle,
}

impl<'n> Program<'n> {
    fn new(nvrtc: &'n Nvrtc, source: &str) -> Result<Program<'n>, Error> {
        let source = c_text(source)?;
        let mut raw = ptr::null_mut();
        // SAFETY: the function has this type; the strings end with zero and outlive the call, and there are no headers.
        let code = unsafe {
            let create = nvrtc.functions.nvrtcCreateProgram;
            create(&mut raw, source.as_ptr(), c"kernel.cu".as_ptr(), 0, ptr::null(), ptr::null())
        };
        nvrtc.check("nvrtcCreateProgram", code).map(|()| Program { nvrtc, raw })
    }

    fn bytes(&self, size: Size, get: Bytes) -> Result<Vec<u8>, Error> {
        let mut length = 0_usize;
        // SAFETY: the function has this type; the number outlives the call.
        self.nvrtc.check("size of a result", unsafe { size(self.raw, &mut length) })?;
        let mut bytes = vec![0; length];
        // SAFETY: the buffer has as many bytes as the library asked for.
        self.nvrtc.check("a result", unsafe { get(self.raw, bytes.as_mut_ptr()) })?;
        Ok(bytes)
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: the program was created by this library, and nobody uses it any more.
        unsafe { (self.nvrtc.functions.nvrtcDestroyProgram)(&mut self.raw) };
    }
}

fn c_text(text: &str) -> Result<CString, Error> {
    CString::new(text)
        .map_err(|error| Error::Nvrtc { call: "nvrtcCreateProgram", text: format!("the text: {error}") })
}
