//! The files of `run --output`: which output goes to which file is decided before anything runs; they are written together.

use std::path::{Path, PathBuf};

use ferrofuse::{Definition, Outputs};
use files::Targets;

use crate::arrays::{npy_knows, write_npy, write_safetensors};
use crate::failure::Failure;

/// The file for all outputs of dtypes that NumPy lacks.
const TOGETHER: &str = "outputs.safetensors";

/// The files of a folder that the outputs of a definition go to.
pub struct OutputFiles {
    folder: PathBuf,
    /// The names of the outputs.
    names: Vec<String>,
    /// Each file once.
    files: Vec<String>,
    targets: Targets,
}

impl OutputFiles {
    /// Checks the paths; writes nothing.
    ///
    /// # Errors
    /// When one of them cannot be written, or is an input of the command.
    pub fn new(
        folder: &Path,
        names: &[String],
        definition: &Definition,
        inputs: &[&Path],
    ) -> Result<OutputFiles, Failure> {
        let mut files: Vec<String> = Vec::new();
        for (name, output) in names.iter().zip(definition.fusion.outputs()) {
            let alone = npy_knows(definition.graph.ty(output.val).dtype);
            let file = if alone { format!("{name}.npy") } else { TOGETHER.to_owned() };
            if !files.contains(&file) {
                files.push(file);
            }
        }
        let targets = Targets::in_folder(folder, &files, inputs)?;
        Ok(OutputFiles { folder: folder.to_owned(), names: names.to_vec(), files, targets })
    }

    /// The file that an output goes to.
    pub fn of(&self, output: usize) -> PathBuf {
        let alone = format!("{}.npy", self.names[output]);
        self.folder.join(if self.files.contains(&alone) { &alone } else { TOGETHER })
    }

    /// Writes all outputs or none.
    ///
    /// # Errors
    /// When one cannot be written.
    pub fn write(&self, outputs: &Outputs<'_>) -> Result<(), Failure> {
        let named = || self.names.iter().zip(outputs.iter());
        Ok(self.targets.write(|file, out| match self.files[file].strip_suffix(".npy") {
            Some(own) => named()
                .filter(|(name, _)| *name == own)
                .try_for_each(|(_, output)| write_npy(out, &output.view())),
            None => {
                let foreign = named().filter(|(_, output)| !npy_knows(output.dtype()));
                let foreign: Vec<_> = foreign.map(|(name, output)| (name.clone(), output.view())).collect();
                write_safetensors(out, &foreign)
            }
        })?)
    }
}
