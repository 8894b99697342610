//! Which libLLVM made the code, kept beside it: a process whose kernels are all cached never opens the library.
//!
//! The record is valid while the library's file is the same (by size and time of change), the CPU is the same (as the system
//! reports it), and the same library is asked for.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use llvm::{Identity, Llvm, LlvmOptions};
use serde::{Deserialize, Serialize};

use super::{Key, ObjectCache};

/// The name of its file.
pub(super) const NAME: &str = "libllvm.json";

/// A libLLVM, and the properties by which it is recognized.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    ferrofuse: String,
    /// The path that was asked for; `None` for the usual places.
    asked: Option<PathBuf>,
    cpu: String,
    bytes: u64,
    changed: (i64, i64),
    identity: Identity,
}

impl Record {
    /// The record of a library with its present file.
    fn of(options: &LlvmOptions, identity: Identity) -> Option<Record> {
        let file = fs::metadata(&identity.file).ok()?;
        Some(Record {
            ferrofuse: env!("CARGO_PKG_VERSION").to_owned(),
            asked: options.path.clone(),
            cpu: cpu()?,
            bytes: file.len(),
            changed: (file.mtime(), file.mtime_nsec()),
            identity,
        })
    }
}

impl ObjectCache {
    /// The libLLVM that these options found last, if nothing has changed since.
    pub fn remembered(&self, options: &LlvmOptions) -> Option<Llvm> {
        let record = self.record()?;
        let now = Record::of(options, record.identity.clone())?;
        (now == record).then(|| Llvm::remembered(record.identity))
    }

    /// The record, if it exists and this cache wrote it.
    fn record(&self) -> Option<Record> {
        serde_json::from_slice(&self.folder.read(NAME)?).ok()
    }

    /// Removes the record.
    ///
    /// # Errors
    /// When it stays.
    pub(super) fn forget(&self) -> std::io::Result<()> {
        if self.record().is_some() { self.folder.remove(NAME) } else { Ok(()) }
    }

    /// Records what these options found.
    pub fn remember(&self, options: &LlvmOptions, llvm: &Llvm) {
        let record = Record::of(options, llvm.identity().clone());
        if let Some(text) = record.and_then(|record| serde_json::to_vec_pretty(&record).ok()) {
            // If it is not recorded, the library is opened again next time.
            let _ = self.folder.write(NAME, &text);
        }
    }
}

/// A digest of the system's description of the first CPU, clock rates aside.
fn cpu() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let first = text.split("\n\n").next()?;
    let lasting = |line: &&str| !["cpu MHz", "bogomips"].iter().any(|name| line.starts_with(name));
    let lines: Vec<&str> = first.lines().filter(lasting).collect();
    Some(Key::new(&lines).file_name())
}
