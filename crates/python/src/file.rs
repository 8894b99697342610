//! Files that the package writes atomically.

use std::io::Error;
use std::path::PathBuf;

use files::Targets;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

/// Writes a text to a regular file, or to a new one, by way of a file beside it: a failure changes nothing.
/// Symlinks are followed, and an existing file keeps its mode.
///
/// # Errors
/// OSError, with the path.
#[pyfunction]
pub fn write_file(py: Python<'_>, path: PathBuf, text: &str) -> PyResult<()> {
    let write = || -> Result<(), Error> {
        let targets = Targets::new(&[&path], &[]).map_err(|failed| failed.error)?;
        targets.write(|_, file| file.write_all(text.as_bytes())).map_err(|failed| failed.error)
    };
    py.detach(write).map_err(|error| match error.raw_os_error() {
        Some(code) => match py.import("os").and_then(|os| os.call_method1("strerror", (code,))) {
            Ok(reason) => PyOSError::new_err((code, reason.unbind(), path.into_os_string())),
            Err(error) => error,
        },
        None => PyOSError::new_err(format!("{}: {error}", path.display())),
    })
}
