//! A GPU for checks: the emulator, opened as NVIDIA's libraries, and its controls for checks.

use std::ffi::{CString, c_char, c_int};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cuda::{Cuda, LibraryPaths};
use emulator::Order;
use ferrofuse::CudaDevice;
use libloading::Library;

/// The function of the stand-in that changes a setting by name.
type Set = unsafe extern "C" fn(*const c_char, u64) -> c_int;

/// The libraries that are opened instead of the stand-in, when checks run on a GPU.
static LIBRARIES: OnceLock<LibraryPaths> = OnceLock::new();

/// Makes all checks run on a GPU of the machine; called before the first of them.
pub fn use_gpu_of(libraries: LibraryPaths) {
    LIBRARIES.get_or_init(|| libraries);
}

/// The GPU that all checks share.
///
/// # Errors
/// A message, if the stand-in is not built, or the libraries do not open.
pub fn gpu() -> Result<Arc<CudaDevice>, String> {
    static GPU: OnceLock<Result<Arc<CudaDevice>, String>> = OnceLock::new();
    let open = || {
        let paths = LIBRARIES.get().cloned().map_or_else(stand_in, Ok)?;
        let cuda = Arc::new(Cuda::open(&paths).map_err(|error| error.to_string())?);
        let gpu = CudaDevice::open(&cuda, 0).map_err(|error| error.to_string())?;
        // Uninitialized memory of the stand-in is never zero; that of a GPU may be.
        if LIBRARIES.get().is_some() {
            gpu.poison();
        }
        Ok(Arc::new(gpu))
    };
    GPU.get_or_init(open).clone()
}

/// The stand-in as both libraries.
fn stand_in() -> Result<LibraryPaths, String> {
    let path = emulator::library().ok_or("the emulator is not built beside this program")?;
    let path = || Some(path.clone());
    Ok(LibraryPaths { cuda: path(), nvrtc: path(), cublaslt: path(), folders: Vec::new() })
}

/// Runs work on the GPU with the threads of blocks in an order, if the device supports that. Other callers wait meanwhile.
///
/// # Panics
/// When the stand-in is not built.
pub fn in_order<T>(order: Order, work: impl FnOnce() -> T) -> T {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let number = match order {
        Order::Forward => 0,
        Order::Reverse => 1,
        Order::Random(seed) => 2 + seed,
    };
    if LIBRARIES.get().is_none() {
        set("order", number);
    }
    work()
}

/// A counter of the stand-in: see its control functions.
///
/// # Panics
/// When the stand-in is not built, or has no such counter.
pub fn count(key: &str) -> u64 {
    type Get = unsafe extern "C" fn(*const c_char) -> u64;
    // SAFETY: the function has this type and does not keep the name.
    let count = with_name(key, |library, name| unsafe {
        let get: Get = *library.get::<Get>(b"ferrofuse_stand_in_get\0").expect("it is the stand-in");
        get(name)
    });
    assert_ne!(count, u64::MAX, "the stand-in does not count `{key}`");
    count
}

/// Changes a setting of the stand-in: see its settings.
///
/// # Panics
/// When the stand-in is not built, or has no such setting.
pub fn set(key: &str, value: u64) {
    // SAFETY: the function has this type and does not keep the name.
    let set = with_name(key, |library, name| unsafe {
        let set: Set = *library.get::<Set>(b"ferrofuse_stand_in_set\0").expect("it is the stand-in");
        set(name, value)
    });
    assert_eq!(set, 0, "the stand-in has no setting `{key}` of {value}");
}

/// Calls a function of the stand-in with a name.
fn with_name<T>(key: &str, ask: impl FnOnce(&Library, *const c_char) -> T) -> T {
    let path = emulator::library().expect("the emulator is built beside this program");
    let name = CString::new(key).expect("names hold no zero");
    // SAFETY: the library is ours, and its initializers do nothing.
    let library = unsafe { Library::new(path) }.expect("the stand-in opens");
    let answer = ask(&library, name.as_ptr());
    // Users of the GPU never close it.
    std::mem::forget(library);
    answer
}
