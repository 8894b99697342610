//! The cache of object code on disk: machine code of kernels, keyed by everything that it depends on.
//!
//! One private folder with a file per entry and a mark that it is the cache's: a folder with other files and without the
//! mark is not used. Only files whose name and first bytes are those of an entry are ever removed. Entries are executable
//! code, so a folder that others may write to is not used. Files appear whole or not at all (written aside, then renamed),
//! so any number of processes may share the folder, and one may be killed at any time. Entries that do not read back as
//! written are removed and made again. A cache that cannot be written, or a full disk, costs only the cache: no operation
//! here fails a compilation. The folder is kept below a number of bytes; the entries unused longest go first.

mod alike;
mod entry;
mod folder;
mod remembered;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

pub use alike::{Alike, Origin, SYMBOL, without_comments};
pub use entry::Key;
use folder::{Entry, Folder};

/// Where the cache is, and how large it may become.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheOptions {
    /// Its folder, which is created if it does not exist.
    pub folder: PathBuf,
    /// About the most bytes of its entries; at the limit a quarter of them is removed.
    pub limit: u64,
}

impl CacheOptions {
    /// A cache in this folder, of the usual size.
    pub fn new(folder: PathBuf) -> CacheOptions {
        const USUAL_LIMIT: u64 = 128 << 20;
        CacheOptions { folder, limit: USUAL_LIMIT }
    }

    /// The cache that the variables of an environment ask for: in the folder `FERROFUSE_CACHE`, none if that is `none`;
    /// without it in `ferrofuse` among the user's caches (`XDG_CACHE_HOME`, or `.cache` in `HOME`), if there is such a place.
    pub fn of_environment(variable: impl Fn(&str) -> Option<OsString>) -> Option<CacheOptions> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let caches = || set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")));
        let folder = match set("FERROFUSE_CACHE") {
            Some(folder) if folder.as_os_str() == "none" => None,
            Some(folder) => Some(folder),
            None => caches().map(|caches| caches.join("ferrofuse")),
        };
        folder.map(CacheOptions::new)
    }
}

/// The statistics of the cache in this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheStatistics {
    /// Entries found and used.
    pub hits: u64,
    /// Entries not found.
    pub misses: u64,
    /// Entries that were damaged or useless.
    pub rejected: u64,
    /// Entries written.
    pub written: u64,
    /// Entries that could not be written.
    pub unwritten: u64,
}

/// The contents of the folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheContents {
    /// Number of entries.
    pub entries: usize,
    /// Bytes of their files.
    pub bytes: u64,
}

impl CacheContents {
    fn of(entries: &[Entry]) -> CacheContents {
        CacheContents { entries: entries.len(), bytes: entries.iter().map(|entry| entry.bytes).sum() }
    }
}

/// The cache of object code in one folder.
#[derive(Debug)]
pub struct ObjectCache {
    folder: Folder,
    limit: u64,
    hits: AtomicU64,
    misses: AtomicU64,
    rejected: AtomicU64,
    written: AtomicU64,
    unwritten: AtomicU64,
}

impl ObjectCache {
    /// The cache in a folder, which is created if necessary.
    ///
    /// # Errors
    /// Why the folder cannot be used: it cannot be made, is somebody else's, others may write to it, or it holds other
    /// files and was never this cache's.
    pub fn open(options: CacheOptions) -> std::io::Result<ObjectCache> {
        let ours = |name: &str| entry::is_named(name) || name == remembered::NAME || is_of_earlier(name);
        let folder = Folder::open(options.folder, ours)?;
        Ok(ObjectCache {
            folder,
            limit: options.limit,
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            rejected: AtomicU64::new(0),
            written: AtomicU64::new(0),
            unwritten: AtomicU64::new(0),
        })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// About the most bytes that entries may take.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// The object of this key, if it exists and is intact.
    pub fn get(&self, key: &Key) -> Option<Vec<u8>> {
        let name = key.file_name();
        let Some(bytes) = self.folder.use_now(&name) else {
            self.misses.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        match entry::unseal(key, bytes) {
            Some(object) => {
                self.hits.fetch_add(1, Ordering::Relaxed);
                Some(object)
            }
            None => {
                self.reject(key);
                None
            }
        }
    }

    /// Removes an entry that proved useless.
    pub fn reject(&self, key: &Key) {
        self.rejected.fetch_add(1, Ordering::Relaxed);
        // If it stays, it is rejected again.
        let _ = self.folder.remove(&key.file_name());
    }

    /// Stores an object. If the folder cannot be written, only the statistics show it.
    pub fn put(&self, key: &Key, object: &[u8]) {
        let kept = self.folder.write(&key.file_name(), &entry::seal(key, object));
        let counter = if kept.is_ok() { &self.written } else { &self.unwritten };
        counter.fetch_add(1, Ordering::Relaxed);
        if key.is_one_in(TRIMS) {
            self.trim();
        }
    }

    /// Removes entries, those unused longest first, until they are a quarter below the limit, if they are above it; and
    /// temporary files of killed writers.
    pub fn trim(&self) {
        self.folder.sweep();
        let mut entries = self.entries();
        let mut bytes: u64 = entries.iter().map(|entry| entry.bytes).sum();
        if bytes <= self.limit {
            return;
        }
        entries.sort_by_key(|entry| entry.used);
        for entry in entries {
            if bytes <= self.limit - self.limit / 4 {
                break;
            }
            // If it stays, the next trim tries again.
            let _ = self.folder.remove(&entry.name);
            bytes -= entry.bytes;
        }
    }

    /// Removes all entries and the record of libLLVM, and nothing that this cache did not write.
    ///
    /// # Errors
    /// The system's error for the first that stays.
    pub fn clear(&self) -> std::io::Result<CacheContents> {
        let entries = self.entries();
        entries.iter().try_for_each(|entry| self.folder.remove(&entry.name))?;
        self.forget()?;
        self.folder.sweep();
        Ok(CacheContents::of(&entries))
    }

    /// The files of entries, by their names and first bytes.
    fn entries(&self) -> Vec<Entry> {
        let first = |name: &str| self.folder.read_first(name, entry::TELLING as u64).unwrap_or_default();
        let ours =
            |file: &Entry| entry::is_named(&file.name) && entry::is_ours(&file.name, &first(&file.name));
        self.folder.files().filter(ours).collect()
    }

    /// The present contents.
    pub fn contents(&self) -> CacheContents {
        CacheContents::of(&self.entries())
    }

    /// The statistics of this process.
    pub fn statistics(&self) -> CacheStatistics {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        CacheStatistics {
            hits: count(&self.hits),
            misses: count(&self.misses),
            rejected: count(&self.rejected),
            written: count(&self.written),
            unwritten: count(&self.unwritten),
        }
    }
}

/// Whether a name is that of a half-written file of earlier versions. They are recognized, and left alone.
fn is_of_earlier(name: &str) -> bool {
    let numbers = name.strip_prefix(".writing-").and_then(|rest| rest.split_once('-'));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    numbers.is_some_and(|(process, serial)| is_number(process) && is_number(serial))
}

/// One new entry in this many, by its key, checks whether the folder has grown too large: listing it takes milliseconds.
const TRIMS: u8 = 32;

#[cfg(test)]
mod tests;
