//! Shared libraries opened by `dlopen`, and tables of their functions.
//!
//! A library is opened `RTLD_LOCAL` and never unloaded: drivers do not survive that.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use libloading::os::unix::Library as Handle;

use crate::Error;

/// Where NVIDIA's libraries are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LibraryPaths {
    /// libcuda, the driver's; without a path it is looked for by name.
    pub cuda: Option<PathBuf>,
    /// libnvrtc, likewise.
    pub nvrtc: Option<PathBuf>,
    /// libcublasLt, likewise.
    pub cublaslt: Option<PathBuf>,
    /// Folders where libnvrtc and libcublasLt are looked for before the loader's own, such as those of Python packages.
    pub folders: Vec<PathBuf>,
}

impl LibraryPaths {
    /// The places that the variables of an environment name: `FERROFUSE_LIBCUDA`, `FERROFUSE_LIBNVRTC` and
    /// `FERROFUSE_LIBCUBLASLT`; without them these folders or the usual places.
    pub fn of_environment(
        variable: impl Fn(&str) -> Option<OsString>,
        folders: Vec<PathBuf>,
    ) -> LibraryPaths {
        let path = |name| variable(name).map(PathBuf::from);
        LibraryPaths {
            cuda: path("FERROFUSE_LIBCUDA"),
            nvrtc: path("FERROFUSE_LIBNVRTC"),
            cublaslt: path("FERROFUSE_LIBCUBLASLT"),
            folders,
        }
    }

    /// Where a library may be: at its path, or under one of its names in the folders and the loader's paths.
    pub(crate) fn candidates(&self, path: Option<&PathBuf>, names: &[&str]) -> Vec<PathBuf> {
        let in_folder = |folder: &PathBuf| names.iter().map(|name| folder.join(name)).collect::<Vec<_>>();
        let by_name =
            || self.folders.iter().flat_map(in_folder).chain(names.iter().map(PathBuf::from)).collect();
        path.map_or_else(by_name, |path| vec![path.clone()])
    }
}

/// An opened library.
#[derive(Debug)]
pub(crate) struct Library {
    pub path: PathBuf,
    pub handle: Handle,
}

impl Library {
    /// Opens the first candidate that exists.
    pub fn open(name: &'static str, candidates: &[PathBuf], hint: &'static str) -> Result<Library, Error> {
        let mut rejection = None;
        for path in candidates {
            match Library::open_one(path) {
                Ok(library) => return Ok(library),
                // A name that the loader does not find is expected; a file that it rejects is an error.
                Err(error) if path.exists() => rejection = rejection.or(Some(error)),
                Err(_) => {}
            }
        }
        let tried = candidates.iter().map(|path| path.display().to_string()).collect();
        Err(rejection.unwrap_or(Error::NotFound { library: name, tried, hint }))
    }

    fn open_one(path: &Path) -> Result<Library, Error> {
        let flags = libc::RTLD_LAZY | libc::RTLD_LOCAL | libc::RTLD_NODELETE;
        // SAFETY: loading runs the library's initialisers; it is NVIDIA's by its name or by the user's word.
        let handle = unsafe { Handle::open(Some(path), flags) };
        let handle =
            handle.map_err(|error| Error::Unloadable { path: path.to_owned(), reason: error.to_string() })?;
        Ok(Library { path: path.to_owned(), handle })
    }
}

/// A struct of C functions with their names, filled from a library.
macro_rules! function_table {
    ($table:ident: $($name:ident $(as $symbol:literal)? ($($argument:ty),*) -> $result:ty;)*) => {
        /// C functions by the names of the headers.
        #[allow(non_snake_case, missing_docs)]
        #[derive(Debug)]
        pub(crate) struct $table {
            $(pub $name: unsafe extern "C" fn($($argument),*) -> $result,)*
        }

        impl $table {
            /// Finds them all.
            pub fn find(library: &$crate::library::Library) -> Result<$table, $crate::Error> {
                Ok($table { $(
                    // SAFETY: the declared signature is that of NVIDIA's headers, which keep it under this symbol.
                    $name: *unsafe { library.handle.get($crate::library::symbol!($name $(, $symbol)?).as_bytes()) }
                        .map_err(|_| $crate::Error::MissingSymbol {
                            path: library.path.clone(),
                            symbol: stringify!($name).to_owned(),
                        })?,
                )* })
            }
        }
    };
}

/// The symbol of a function, with the zero that ends it: its name, unless it says otherwise.
macro_rules! symbol {
    ($name:ident) => {
        concat!(stringify!($name), "\0")
    };
    ($name:ident, $symbol:literal) => {
        concat!($symbol, "\0")
    };
}

pub(crate) use {function_table, symbol};
