//! NVRTC and nvdisasm: takes CUDA C++ and an architecture, gives the compiler's remarks and the text of the instructions.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use codegen_c::cuda::NVRTC_OPTIONS;
use cuda::{Cubin, LibraryPaths, Nvrtc};
use thiserror::Error;

use super::Counts;

/// Where `make setup` puts the two.
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
    /// NVRTC rejects it, or does not do what it should.
    #[error(transparent)]
    Nvrtc(#[from] cuda::Error),
    /// nvdisasm does not do what it should.
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

    /// The counts of each kernel of a text, in the order of the machine code.
    ///
    /// # Errors
    /// When NVRTC rejects the text.
    pub fn counts(&self, source: &str, architecture: &str) -> Result<Vec<Counts>, CompileError> {
        let options = [NVRTC_OPTIONS.as_slice(), &["--ptxas-options=-v"]].concat();
        let Cubin { bytes, log } = self.nvrtc.compile(source, architecture, &options)?;
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("kernel.cubin");
        fs::write(&path, bytes)?;
        // The analysis of data flow, which takes a third of the time, adds nothing that is counted.
        let output = Command::new(&self.nvdisasm).args(["-c", "-ndf"]).arg(&path).output()?;
        if !output.status.success() {
            return Err(CompileError::Disassembler(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        Ok(Counts::of(&String::from_utf8_lossy(&output.stdout), &log))
    }
}
