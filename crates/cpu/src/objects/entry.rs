//! An entry: its key, and the format of its file.
//!
//! A file is a magic word, the key, a digest of the object, and the object. Knows nothing of folders.

use sha2::{Digest, Sha256};

/// The first bytes of each entry's file; the number changes with the format.
const MAGIC: &[u8; 8] = b"ffobj\0\0\x01";
const DIGEST: usize = 32;
const HEADER: usize = MAGIC.len() + 2 * DIGEST;

/// The key of an object: a digest (SHA-256) of everything it depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key([u8; DIGEST]);

impl Key {
    /// The key of an object that is made from these texts by this version of ferrofuse.
    pub fn new(texts: &[&str]) -> Key {
        let mut digest = Sha256::new();
        for text in [env!("CARGO_PKG_VERSION")].iter().chain(texts) {
            // Lengths distinguish texts whose concatenations are equal.
            digest.update((text.len() as u64).to_le_bytes());
            digest.update(text);
        }
        Key(digest.finalize().into())
    }

    /// The name of its file.
    pub(super) fn file_name(&self) -> String {
        let hex: String = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{hex}{SUFFIX}")
    }

    /// The key whose entry has this file name, if it is the name of one.
    fn of_file_name(name: &str) -> Option<Key> {
        let digits = name.strip_suffix(SUFFIX).filter(|digits| digits.len() == 2 * DIGEST)?;
        let byte = |place: usize| u8::from_str_radix(digits.get(2 * place..2 * place + 2)?, 16).ok();
        let bytes: Option<Vec<u8>> = (0..DIGEST).map(byte).collect();
        let key = Key(bytes?.try_into().ok()?);
        // Parsing also accepts capital letters and signs.
        (key.file_name() == name).then_some(key)
    }

    /// True of one key in `n`.
    pub(super) fn is_one_in(&self, n: u8) -> bool {
        self.0[0].is_multiple_of(n)
    }
}

/// Ends the name of every entry's file.
const SUFFIX: &str = ".o";

/// How many bytes of a file tell whether it is an entry.
pub(super) const TELLING: usize = MAGIC.len() + DIGEST;

/// Whether a file is one that this cache wrote: its name is a whole digest, and its first bytes are ours with the same
/// digest. Other programs' `*.o` files are not.
pub(super) fn is_ours(name: &str, first: &[u8]) -> bool {
    let key = Key::of_file_name(name);
    key.is_some_and(|key| first.strip_prefix(MAGIC).is_some_and(|rest| rest.starts_with(&key.0)))
}

/// Whether a file's name is that of an entry.
pub(super) fn is_named(name: &str) -> bool {
    Key::of_file_name(name).is_some()
}

/// The bytes of an entry's file.
pub(super) fn seal(key: &Key, object: &[u8]) -> Vec<u8> {
    let digest = Sha256::digest(object);
    [MAGIC.as_slice(), &key.0, digest.as_slice(), object].concat()
}

/// The object in an entry's file; `None` if it is not what was written for this key.
pub(super) fn unseal(key: &Key, mut bytes: Vec<u8>) -> Option<Vec<u8>> {
    let header = bytes.get(..HEADER)?;
    let (magic, rest) = header.split_at(MAGIC.len());
    let (owner, digest) = rest.split_at(DIGEST);
    let whole = magic == MAGIC && owner == key.0 && digest == Sha256::digest(&bytes[HEADER..]).as_slice();
    whole.then(|| bytes.split_off(HEADER))
}
