//! NVRTC and nvdisasm: takes CUDA C++ and an architecture, returns the compiler's remarks and the text of the instructions.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use codegen_c::cuda::NVRTC_OPTIONS;
use cuda::{Cubin, LibraryPaths, Nvrtc};
use thiserror::Error;

use super::Counts;

/// The folder in which `make setup` puts the two.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.cuda-tools/nvidia");

/// NVRTC and nvdisasm.
#[derive(Debug)]
pub struct Tools {
    nvrtc: Nvrtc,
    nvdisasm: PathBuf,
}

/// Why a text has no machine code.
#[derive(Debug, Error)]
pub enum CompileError {
    /// NVRTC rejects it, or fails.
    #[error(transparent)]
    Nvrtc(#[from] cuda::Error),
    /// nvdisasm fails.
    #[error("nvdisasm: {0}")]
    Disassembler(String),
    /// The machine code cannot be written to a file.
    #[error("the machine code cannot be written: {0}")]
    File(#[from] std::io::Error),
}

impl Tools {
    /// The two, or why they cannot be used.
    pub fn find() -> Result<Tools, String> {
        let folder = Path::new(FOLDER);
        let library = folder.join("cuda_nvrtc/lib/libnvrtc.so.12");
        let nvdisasm = folder.join("cu13/bin/nvdisasm");
        if !library.exists() || !nvdisasm.exists() {
            return Err("NVRTC and nvdisasm are not in .cuda-tools: `make setup` fetches them".to_owned());
        }
        let paths = LibraryPaths { nvrtc: Some(library), ..LibraryPaths::default() };
        let nvrtc = Nvrtc::open(&paths).map_err(|error| error.to_string())?;
        Ok(Tools { nvrtc, nvdisasm })
    }

    /// The counts of each kernel of a text, in the order of their names.
    ///
    /// # Errors
    /// When NVRTC rejects the text.
    pub fn counts(&self, source: &str, architecture: &str) -> Result<Vec<Counts>, CompileError> {
        let options = [NVRTC_OPTIONS.as_slice(), &["--ptxas-options=-v"]].concat();
        let Cubin { bytes, log } = self.nvrtc.compile(source, architecture, &options)?;
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("kernels.cubin");
        fs::write(&path, bytes)?;
        // `-ndf` skips data flow analysis, which takes a third of the time and adds nothing that is counted.
        let output = Command::new(&self.nvdisasm).args(["-c", "-ndf"]).arg(&path).output()?;
        if !output.status.success() {
            return Err(CompileError::Disassembler(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        Ok(Counts::of(&String::from_utf8_lossy(&output.stdout), &log))
    }

    /// The same for each of these texts, compiled together: a kernel may differ in a few instructions from its text compiled
    /// alone.
    ///
    /// # Errors
    /// When NVRTC rejects one of them: it names `unit_` and its number.
    pub fn counts_of_each(
        &self,
        sources: &[&str],
        architecture: &str,
    ) -> Result<Vec<Vec<Counts>>, CompileError> {
        let mut units: Vec<Vec<Counts>> = vec![Vec::new(); sources.len()];
        let numbered: Vec<(usize, &str)> = sources.iter().copied().enumerate().collect();
        for together in numbered.chunks(TOGETHER) {
            for counts in self.counts(&joined(together), architecture)? {
                let (unit, kernel) = unit_and_kernel(&counts.kernel).expect("it stands in a unit");
                units[unit].push(Counts { kernel: kernel.to_owned(), ..counts });
            }
        }
        units.iter_mut().for_each(|counts| counts.sort_by(|a, b| a.kernel.cmp(&b.kernel)));
        Ok(units)
    }
}

/// The number of texts compiled together: nvdisasm takes 0.4 s to start, a kernel a hundredth of that.
const TOGETHER: usize = 32;

/// One text that contains these, each in a namespace with its number.
fn joined(sources: &[(usize, &str)]) -> String {
    let unit = |(number, source): &(usize, &str)| {
        let source = source.replace("extern \"C\" ", "");
        format!("namespace unit_{number} {{\n#line 1 \"unit_{number}\"\n{source}\n}}\n")
    };
    sources.iter().map(unit).collect()
}

/// The unit and the name of a kernel with this mangled name: `_ZN`, then each name after its length.
fn unit_and_kernel(mangled: &str) -> Option<(usize, &str)> {
    let (unit, rest) = identifier(mangled.strip_prefix("_ZN")?)?;
    let (kernel, _) = identifier(rest)?;
    Some((unit.strip_prefix("unit_")?.parse().ok()?, kernel))
}

/// The name after its length, and the rest.
fn identifier(text: &str) -> Option<(&str, &str)> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit())?;
    let length: usize = text[..digits].parse().ok()?;
    text[digits..].split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_found_by_their_mangled_names() {
        assert_eq!(unit_and_kernel("_ZN7unit_127softmaxEPKfPf"), Some((12, "softmax")));
        assert_eq!(unit_and_kernel("_ZN7unit_12"), None);
        assert_eq!(unit_and_kernel("softmax"), None);
    }
}
