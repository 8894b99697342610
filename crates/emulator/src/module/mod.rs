//! A compiled text, loaded into this process: takes the bytes of its shared library, gives its kernels.

mod function;

use std::ffi::{CStr, CString, c_char};
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd};
use std::sync::Arc;

use libloading::Library;

pub use function::Function;

use crate::Error;
use crate::launch::LaunchEntry;
use crate::static_shared::StaticShared;

/// `cuemu_signature_NAME` of `device/launch.h`.
type SignatureEntry = unsafe extern "C" fn() -> *const c_char;

/// `cuemu_sizes_NAME` of `device/launch.h`.
type SizesEntry = unsafe extern "C" fn() -> *const u32;

/// `cuemu_cluster_NAME` of `device/launch.h`.
type ClusterEntry = unsafe extern "C" fn() -> u32;

/// What a library has of a kernel.
struct Entries {
    launch: LaunchEntry,
    signature: SignatureEntry,
    sizes: SizesEntry,
    cluster: ClusterEntry,
}

/// A compiled text. Cheap to clone; unloaded with the last of its clones and functions.
#[derive(Clone, Debug)]
pub struct Module {
    loaded: Arc<Loaded>,
}

#[derive(Debug)]
struct Loaded {
    library: Library,
    static_shared: StaticShared,
    /// Kept while the library is loaded, so that no other library gets its path.
    _file: File,
}

impl Module {
    /// Loads a library that [`compile`](crate::compile::compile) made.
    pub(crate) fn load(bytes: &[u8]) -> Result<Module, Error> {
        let static_shared = StaticShared::of(bytes).map_err(|error| Error::BadLibrary(error.to_string()))?;
        let mut file = memory_file()?;
        file.write_all(bytes)?;
        // SAFETY: the library was made from our headers and a text of kernels; its only initialisers are those of
        // constants in that text, which the caller of `compile` answers for.
        let library = unsafe { Library::new(format!("/proc/self/fd/{}", file.as_raw_fd())) }?;
        Ok(Module { loaded: Arc::new(Loaded { library, static_shared, _file: file }) })
    }

    /// The kernel of this name.
    ///
    /// # Errors
    /// [`Error::NoKernel`].
    pub fn function(&self, name: &str) -> Result<Function, Error> {
        let Entries { launch: entry, signature, sizes, cluster } =
            self.entries(name).ok_or_else(|| Error::NoKernel(name.to_owned()))?;
        // SAFETY: the entry gives a constant string that ends with a zero.
        let signature = unsafe { CStr::from_ptr(signature()) }.to_string_lossy().into_owned();
        // SAFETY: the entry gives constants, one for each parameter.
        let parameter_bytes = unsafe { std::slice::from_raw_parts(sizes(), signature.len()) }.to_vec();
        // SAFETY: the entry gives a constant.
        let cluster = unsafe { cluster() };
        let is_kernel = |name: &str| self.entries(name).is_some();
        let static_shared_bytes = self.loaded.static_shared.bytes(name, is_kernel);
        let name = name.to_owned();
        Ok(Function {
            name,
            signature,
            parameter_bytes,
            static_shared_bytes,
            cluster,
            entry,
            _module: self.clone(),
        })
    }

    fn entries(&self, name: &str) -> Option<Entries> {
        let (library, symbol) =
            (&self.loaded.library, |of: &str| CString::new(format!("cuemu_{of}_{name}")).ok());
        let (launch, signature) = (symbol("launch")?, symbol("signature")?);
        let (sizes, cluster) = (symbol("sizes")?, symbol("cluster")?);
        // SAFETY: `device/launch.h` defines functions of these names with these types; who copies them out keeps the
        // module.
        unsafe {
            Some(Entries {
                launch: *library.get::<LaunchEntry>(launch.as_bytes_with_nul()).ok()?,
                signature: *library.get::<SignatureEntry>(signature.as_bytes_with_nul()).ok()?,
                sizes: *library.get::<SizesEntry>(sizes.as_bytes_with_nul()).ok()?,
                cluster: *library.get::<ClusterEntry>(cluster.as_bytes_with_nul()).ok()?,
            })
        }
    }
}

/// A file without a name, which leaves nothing behind when the process ends.
fn memory_file() -> Result<File, Error> {
    // SAFETY: the name ends with a zero.
    let descriptor = unsafe { libc::memfd_create(c"ferrofuse-kernels".as_ptr(), libc::MFD_CLOEXEC) };
    if descriptor < 0 {
        return Err(std::io::Error::last_os_error().into());
    }
    // SAFETY: the descriptor is new, so nobody else closes it.
    Ok(unsafe { File::from_raw_fd(descriptor) })
}
