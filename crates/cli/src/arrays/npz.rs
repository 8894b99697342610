//! NumPy's `.npz` format: a zip archive of `.npy` files, stored or deflated.

use std::fs::File;
use std::io::{self, BufReader};

use ir::array::StridedArray;
use zip::ZipArchive;

use super::Wanted;
use super::error::Problem;
use super::npy;

/// Reads one array of an archive.
pub(super) fn read(file: File, wanted: Wanted<'_>) -> Result<StridedArray, Problem> {
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(malformed)?;
    let names = names_in(&archive);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let chosen = wanted.choose(&names)?;
    let mut entry = archive.by_name(&format!("{chosen}.npy")).map_err(malformed)?;
    let length = entry.size();
    let array = npy::read(&mut entry, length).and_then(|array| match io::copy(&mut entry, &mut io::sink()) {
        Ok(_) => Ok(array), // the checksum is compared at the end
        Err(error) => Err(Problem::System(error)),
    });
    array.map_err(|problem| match problem {
        Problem::System(error) => Problem::Malformed(format!("array {chosen}: {error}")),
        Problem::Malformed(message) => Problem::Malformed(format!("array {chosen}: {message}")),
        other => other,
    })
}

/// The names of the arrays of an archive.
pub(super) fn names(file: File) -> Result<Vec<String>, Problem> {
    ZipArchive::new(BufReader::new(file)).map(|archive| names_in(&archive)).map_err(malformed)
}

fn names_in(archive: &ZipArchive<BufReader<File>>) -> Vec<String> {
    archive.file_names().filter_map(|entry| entry.strip_suffix(".npy")).map(str::to_owned).collect()
}

fn malformed(error: zip::result::ZipError) -> Problem {
    Problem::Malformed(format!("not a readable .npz archive: {error}"))
}
