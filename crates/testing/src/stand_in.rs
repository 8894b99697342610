//! A GPU for checks: the emulator, opened as NVIDIA's libraries, and what a check may ask of it.

use std::ffi::{CString, c_char, c_int};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cuda::{Cuda, LibraryPaths};
use emulator::Order;
use ferrofuse::CudaDevice;
use libloading::Library;

/// The function of the stand-in that sets something, by name.
type Set = unsafe extern "C" fn(*const c_char, u64) -> c_int;

/// The libraries that are opened instead of the stand-in, where checks run on a GPU.
static LIBRARIES: OnceLock<LibraryPaths> = OnceLock::new();

/// Has all checks run on a GPU of the machine, before the first of them.
pub fn use_gpu_of(libraries: LibraryPaths) {
    LIBRARIES.get_or_init(|| libraries);
}

/// The GPU that all checks share.
///
/// # Errors
/// In words: where the stand-in is not built, or the libraries do not open.
pub fn gpu() -> Result<Arc<CudaDevice>, String> {
    static GPU: OnceLock<Result<Arc<CudaDevice>, String>> = OnceLock::new();
    let open = || {
        let paths = LIBRARIES.get().cloned().map_or_else(stand_in, Ok)?;
        let cuda = Arc::new(Cuda::open(&paths).map_err(|error| error.to_string())?);
        let gpu = CudaDevice::open(&cuda, 0).map_err(|error| error.to_string())?;
        // The stand-in's memory is never zero by chance; a GPU's is.
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

/// Does work on the GPU with the threads of blocks in an order, where that can be asked of it. Others wait for it.
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

/// How many of something the stand-in has: see its control functions.
///
/// # Panics
/// When the stand-in is not built, or counts no such thing.
pub fn count(key: &str) -> u64 {
    type Get = unsafe extern "C" fn(*const c_char) -> u64;
    // SAFETY: the function has this type and keeps nothing of the name.
    let count = with_name(key, |library, name| unsafe {
        let get: Get = *library.get::<Get>(b"ferrofuse_stand_in_get\0").expect("it is the stand-in");
        get(name)
    });
    assert_ne!(count, u64::MAX, "the stand-in does not count `{key}`");
    count
}

/// Sets something of the stand-in: see its settings.
///
/// # Panics
/// When the stand-in is not built, or there is no such thing.
pub fn set(key: &str, value: u64) {
    // SAFETY: the function has this type and keeps nothing of the name.
    let set = with_name(key, |library, name| unsafe {
        let set: Set = *library.get::<Set>(b"ferrofuse_stand_in_set\0").expect("it is the stand-in");
        set(name, value)
    });
    assert_eq!(set, 0, "the stand-in has no setting `{key}` of {value}");
}

/// Asks the stand-in something by name.
fn with_name<T>(key: &str, ask: impl FnOnce(&Library, *const c_char) -> T) -> T {
    let path = emulator::library().expect("the emulator is built beside this program");
    let name = CString::new(key).expect("names hold no zero");
    // SAFETY: the library is ours, and its initialisers do nothing.
    let library = unsafe { Library::new(path) }.expect("the stand-in opens");
    let answer = ask(&library, name.as_ptr());
    // Whoever uses the GPU has it open for good.
    std::mem::forget(library);
    answer
}
