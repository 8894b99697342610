//! The table of LLVM's C functions, filled from a shared library by `dlopen`.
//!
//! Takes a path or searches the well-known names, newest tested version first; gives a [`Library`] whose
//! targets are initialised, or the reason why not. The library is opened `RTLD_LOCAL`, so that it cannot
//! collide with another LLVM in the process, and is never unloaded: LLVM's static destructors and threads
//! do not survive that. Nothing here compiles.

use crate::error::{Error, INSTALL, OLDEST};
use crate::target::TargetMachineSpec;
use libloading::os::unix::Library as Handle;
use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_uint, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A handle to some object of LLVM: context, module, target machine, memory buffer, error.
pub(crate) type Ref = *mut c_void;
type Text = *const c_char;
type OwnedText = *mut c_char;
/// What LLVM calls with each diagnostic; the second argument is ours.
pub(crate) type DiagnosticHandler = extern "C" fn(Ref, *mut c_void);

/// Versions searched for, in this order; the first is the one tested most.
const VERSIONS: std::ops::RangeInclusive<u32> = OLDEST..=25;

/// Options that libLLVM gets once, like the command line of its tools. Loop strength reduction replaces additions of the
/// loop's variable to addresses by stepped pointers, but x86 and Arm add it within a load: the pass took a fifth of a
/// compilation, of a rotary embedding nearly half, and the code was no faster. Scheduling after register allocation took a
/// fifteenth, and out-of-order processors do not need it.
pub(crate) const OPTIONS: [&CStr; 2] = [c"-disable-lsr", c"-disable-post-ra"];

macro_rules! function_table {
    ($($name:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// LLVM's C functions, by their C names.
        #[allow(non_snake_case, missing_docs)]
        pub(crate) struct Functions {
            $(pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Functions {
            fn find(handle: &Handle, path: &Path) -> Result<Functions, Error> {
                Ok(Functions { $(
                    // SAFETY: the declared signature is that of LLVM's C headers, which are stable.
                    $name: *unsafe { handle.get(concat!(stringify!($name), "\0").as_bytes()) }
                        .map_err(|_| Error::MissingSymbol { path: path.into(), symbol: stringify!($name).into() })?,
                )* })
            }
        }
    };
}

function_table! {
    LLVMContextCreate() -> Ref;
    LLVMContextDispose(Ref);
    LLVMContextSetDiagnosticHandler(Ref, DiagnosticHandler, *mut c_void);
    LLVMGetDiagInfoDescription(Ref) -> OwnedText;
    LLVMGetDiagInfoSeverity(Ref) -> c_int;
    LLVMCreateMemoryBufferWithMemoryRangeCopy(Text, usize, Text) -> Ref;
    LLVMGetBufferStart(Ref) -> *const u8;
    LLVMGetBufferSize(Ref) -> usize;
    LLVMDisposeMemoryBuffer(Ref);
    LLVMParseIRInContext(Ref, Ref, *mut Ref, *mut OwnedText) -> c_int;
    LLVMVerifyModule(Ref, c_int, *mut OwnedText) -> c_int;
    LLVMPrintModuleToString(Ref) -> OwnedText;
    LLVMDisposeModule(Ref);
    LLVMDisposeMessage(OwnedText);
    LLVMSetTarget(Ref, Text);
    LLVMSetModuleDataLayout(Ref, Ref);
    LLVMGetTargetFromTriple(Text, *mut Ref, *mut OwnedText) -> c_int;
    LLVMGetHostCPUName() -> OwnedText;
    LLVMGetHostCPUFeatures() -> OwnedText;
    LLVMCreateTargetMachine(Ref, Text, Text, Text, c_int, c_int, c_int) -> Ref;
    LLVMDisposeTargetMachine(Ref);
    LLVMCreateTargetDataLayout(Ref) -> Ref;
    LLVMDisposeTargetData(Ref);
    LLVMTargetMachineEmitToMemoryBuffer(Ref, Ref, c_int, *mut OwnedText, *mut Ref) -> c_int;
    LLVMCreatePassBuilderOptions() -> Ref;
    LLVMDisposePassBuilderOptions(Ref);
    LLVMRunPasses(Ref, Text, Ref, Ref) -> Ref;
    LLVMParseCommandLineOptions(c_int, *const Text, Text);
    LLVMGetErrorMessage(Ref) -> OwnedText;
    LLVMDisposeErrorMessage(OwnedText);
}

/// A target machine of LLVM's.
pub(crate) struct TargetMachine {
    pub spec: TargetMachineSpec,
    pub triple: CString,
    pub raw: Ref,
}

// SAFETY: LLVM ties no target machine to a thread; that one thread has it at a time is what moving it says.
unsafe impl Send for TargetMachine {}

/// An opened libLLVM with its targets initialised.
pub(crate) struct Library {
    pub functions: Functions,
    pub version: (u32, u32, u32),
    /// The name or path under which it was opened.
    pub path: PathBuf,
    /// Idle target machines: of each kind as many as ever compiled at once.
    pub machines: Mutex<Vec<TargetMachine>>,
    /// Kept only as the owner of the function pointers; never closed (`RTLD_NODELETE`).
    _handle: Handle,
}

impl Library {
    /// Opens the library at `path`, or else the first usable one of the well-known names.
    pub fn open(path: Option<&Path>) -> Result<Library, Error> {
        // LLVM's target registry is a global list without a lock, and so are its options.
        static OPENED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
        let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        let candidates = path.map_or_else(well_known_names, |path| vec![path.to_path_buf()]);
        let mut rejection = None;
        for candidate in &candidates {
            match Library::open_one(candidate) {
                Ok(library) => {
                    // Options may be given once.
                    if !opened.contains(&library.file()) {
                        library.set_options();
                        opened.push(library.file());
                    }
                    return Ok(library);
                }
                Err(Error::NotFound { .. }) => {}
                Err(error) => rejection = rejection.or(Some(error)),
            }
        }
        Err(rejection.unwrap_or_else(|| not_found(&candidates)))
    }

    fn open_one(path: &Path) -> Result<Library, Error> {
        let flags = libc::RTLD_LAZY | libc::RTLD_LOCAL | libc::RTLD_NODELETE;
        // SAFETY: loading runs the library's initialisers; it is libLLVM by its name or by the user's word.
        let handle = unsafe { Handle::open(Some(path), flags) }.map_err(|error| rejected(path, &error))?;
        let version = version(&handle).ok_or_else(|| Error::NotLlvm { path: path.into() })?;
        if version.0 < OLDEST {
            return Err(Error::TooOld { path: path.into(), version });
        }
        let functions = Functions::find(&handle, path)?;
        for target in ["X86", "AArch64"] {
            initialise_target(&handle, target);
        }
        Ok(Library { functions, version, path: path.into(), machines: Mutex::default(), _handle: handle })
    }

    /// Sets [`OPTIONS`]. One that a version does not know is silently left out.
    fn set_options(&self) {
        let arguments: Vec<Text> = [c"ferrofuse"].into_iter().chain(OPTIONS).map(CStr::as_ptr).collect();
        let count = c_int::try_from(arguments.len()).expect("a handful of options");
        // SAFETY: the arguments are C strings that live as long as the process, and the caller holds the opening lock, so
        // that no two threads of ours set options; those that compile with this library begin when it is open. Options are
        // of the library and not of its users: another user of this very file in the process should not compile meanwhile,
        // and from now on has none of what is switched off, which costs it speed and no result.
        unsafe {
            (self.functions.LLVMParseCommandLineOptions)(count, arguments.as_ptr(), c"".as_ptr());
        }
    }

    /// The file it was opened from; the name it was opened by if the dynamic loader does not tell.
    pub fn file(&self) -> PathBuf {
        let mut info = libc::Dl_info {
            dli_fname: std::ptr::null(),
            dli_fbase: std::ptr::null_mut(),
            dli_sname: std::ptr::null(),
            dli_saddr: std::ptr::null_mut(),
        };
        // SAFETY: asks about an address within the library; `info` is ours to be filled.
        let found = unsafe { libc::dladdr(self.functions.LLVMContextCreate as *const c_void, &mut info) };
        if found == 0 || info.dli_fname.is_null() {
            return self.path.clone();
        }
        // SAFETY: the loader's own string, which lives as long as the library, and that is never unloaded.
        let name = unsafe { CStr::from_ptr(info.dli_fname) };
        PathBuf::from(OsStr::from_bytes(name.to_bytes()))
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        let machines = self.machines.get_mut().unwrap_or_else(PoisonError::into_inner);
        for machine in machines.drain(..) {
            // SAFETY: the machine is ours, and this is its last use.
            unsafe { (self.functions.LLVMDisposeTargetMachine)(machine.raw) }
        }
    }
}

fn well_known_names() -> Vec<PathBuf> {
    let versioned = VERSIONS.flat_map(|v| [format!("libLLVM.so.{v}.1"), format!("libLLVM-{v}.so")]);
    versioned.chain(["libLLVM.so".to_owned()]).map(PathBuf::from).collect()
}

fn not_found(candidates: &[PathBuf]) -> Error {
    let tried = candidates.iter().map(|path| path.display().to_string()).collect();
    Error::NotFound { tried, hint: INSTALL }
}

/// Distinguishes an absent library from one that the loader rejects.
fn rejected(path: &Path, error: &libloading::Error) -> Error {
    let reason = match std::error::Error::source(error) {
        Some(cause) => cause.to_string(),
        None => error.to_string(),
    };
    let by_name = path.components().count() == 1;
    let absent = if by_name { reason.contains("No such file") } else { !path.exists() };
    if absent { not_found(&[path.into()]) } else { Error::Unloadable { path: path.into(), reason } }
}

fn version(handle: &Handle) -> Option<(u32, u32, u32)> {
    type GetVersion = unsafe extern "C" fn(*mut c_uint, *mut c_uint, *mut c_uint);
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: the signature is that of LLVM's C header, and the three pointers are to live integers.
    unsafe {
        let get_version = handle.get::<GetVersion>(b"LLVMGetVersion\0").ok()?;
        get_version(&mut major, &mut minor, &mut patch);
    }
    Some((major, minor, patch))
}

/// Registers one target's parts; a library built without the target has none of these functions, and then
/// asking for its triple is answered with an error.
fn initialise_target(handle: &Handle, target: &str) {
    for part in ["TargetInfo", "Target", "TargetMC", "AsmPrinter", "AsmParser"] {
        let name = format!("LLVMInitialize{target}{part}\0");
        // SAFETY: all these functions take and return nothing, and the caller holds the opening lock.
        unsafe {
            if let Ok(initialise) = handle.get::<unsafe extern "C" fn()>(name.as_bytes()) {
                initialise();
            }
        }
    }
}
