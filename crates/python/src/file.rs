//! Files that the package writes atomically, and the text of saved definitions.

use std::io::Error;
use std::path::PathBuf;

use ferrofuse::SavedDefinition;
use files::Targets;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

use crate::errors;

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

/// A saved definition: its text, the limit of its memory, its segmentation, and the schedules of segments by name.
type Saved = (String, Option<u64>, Option<String>, Vec<(String, String)>);

/// Whether a text is a saved definition, or the end of one.
#[pyfunction]
pub fn is_saved(text: &str) -> bool {
    SavedDefinition::is_saved(text)
}

/// Takes the text of a saved definition apart.
///
/// # Errors
/// DefinitionError for a text that is not one, or of a newer version.
#[pyfunction]
pub fn read_saved(py: Python<'_>, text: &str) -> PyResult<Saved> {
    let read = SavedDefinition::read(text).map_err(|error| errors::definition(py, error.to_string()))?;
    let SavedDefinition { definition, peak_memory, segmentation, schedules } = read;
    let schedules = schedules.into_iter().map(|(segment, section)| (segment, section.text)).collect();
    Ok((definition, peak_memory, segmentation.map(|section| section.text), schedules))
}

/// The text of a saved definition.
#[pyfunction]
pub fn saved_text(
    definition: String,
    peak_memory: Option<u64>,
    segmentation: Option<String>,
    schedules: Vec<(String, String)>,
) -> String {
    let schedules = schedules.into_iter().map(|(segment, text)| (segment, text.into())).collect();
    let segmentation = segmentation.map(Into::into);
    SavedDefinition { definition, peak_memory, segmentation, schedules }.to_string()
}
