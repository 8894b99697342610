//! Arrays in files: `.npy`, `.npz` and `.safetensors`, read and written.
//!
//! Takes a path, returns elements with a layout (a file may be in column-major order); or takes views, and returns the bytes
//! of a file. Every malformed file is a [`FileError`] that names it. The meaning of the elements is not known here.

mod error;
mod npy;
mod npz;
mod safetensors;
#[cfg(test)]
mod tests;

pub use error::{FileError, Problem, listed};
pub use npy::write as write_npy;
pub use safetensors::write as write_safetensors;

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use ir::array::{Array, ArrayView, Layout, StridedArray};
use ops::DType;

/// The array to read from a file.
#[derive(Clone, Copy, Debug)]
pub enum Wanted<'n> {
    /// The one with this name.
    Name(&'n str),
    /// The only one; or if there are several, the one with this name.
    NameOrSole(&'n str),
}

impl Wanted<'_> {
    /// The name to read from a file that has arrays with these names.
    fn choose<'n>(self, names: &[&'n str]) -> Result<&'n str, Problem> {
        match (self, names) {
            (Wanted::NameOrSole(_), [sole]) => Ok(sole),
            (Wanted::Name(name) | Wanted::NameOrSole(name), _) => {
                let found = names.iter().find(|there| **there == name);
                found.copied().ok_or_else(|| Problem::no_such_name(name, names))
            }
        }
    }
}

/// Reads one array of a file in the format that its extension says. In a `.npy` file the array has no name.
///
/// # Errors
/// When the file cannot be read, is malformed, or has no such array.
pub fn read(path: &Path, wanted: Wanted<'_>) -> Result<StridedArray, FileError> {
    let read_one = || match ending(path) {
        "npy" => npy::read_file(&mut open(path)?),
        "npz" => npz::read(open(path)?, wanted),
        "safetensors" => safetensors::read(open(path)?, wanted),
        _ => Err(Problem::Ending),
    };
    read_one().map_err(|problem| problem.of(path))
}

/// The names of the arrays of a file. In a `.npy` file the array has no name.
///
/// # Errors
/// When the file cannot be read or is malformed.
pub fn names(path: &Path) -> Result<Vec<String>, FileError> {
    let read_names = || match ending(path) {
        "npy" => Ok(Vec::new()),
        "npz" => npz::names(open(path)?),
        "safetensors" => safetensors::names(open(path)?),
        _ => Err(Problem::Ending),
    };
    read_names().map_err(|problem| problem.of(path))
}

/// Whether the extension of a file is that of a format of arrays.
pub fn is_of_arrays(path: &Path) -> bool {
    matches!(ending(path), "npy" | "npz" | "safetensors")
}

/// Whether `.npy` can hold the dtype, that is, whether NumPy has it.
pub fn npy_knows(dtype: DType) -> bool {
    dtype.typestr().is_some()
}

/// Opens a file for reading. A folder, which the system opens as well, is an error.
fn open(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() { Err(io::ErrorKind::IsADirectory.into()) } else { Ok(file) }
}

fn ending(path: &Path) -> &str {
    path.extension().and_then(|ending| ending.to_str()).unwrap_or_default()
}

/// How many bytes elements with these sizes take.
fn byte_count(dtype: DType, sizes: &[usize]) -> Result<usize, Problem> {
    let bytes = Layout::dense(sizes).numel().and_then(|numel| numel.checked_mul(dtype.size()));
    bytes.ok_or_else(|| Problem::Malformed(format!("the sizes {sizes:?} are beyond any memory")))
}

/// A bool is 0 or 1 in memory, but a file may have any byte.
fn normalize(array: &mut Array) {
    if array.dtype() == DType::Bool {
        array.as_mut_bytes().iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
    }
}

/// Writes the elements of a view in row-major order, through a dense copy if it is not dense.
fn write_elements(out: &mut dyn Write, view: &ArrayView<'_>) -> Result<(), Problem> {
    let copy = view.to_array().map_err(|_| Problem::Memory { bytes: view.numel() * view.dtype().size() })?;
    Ok(out.write_all(copy.as_bytes())?)
}
