//! Kernels of one plan that differ in nothing but names, as those of equal layers do: compiled once.
//!
//! Takes the text of a kernel, LLVM IR or CUDA C++, and how to compile and load it. The object code is that of the same text
//! before, or from the cache of earlier processes, or new. A thread that needs what another is compiling waits for it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

use super::{Key, ObjectCache};

/// The name of every module's function, so that equal kernels have equal text.
pub const SYMBOL: &str = "kernel";

/// The object code of a text.
#[derive(Debug)]
struct Object {
    bytes: Vec<u8>,
    /// Whether it is of an earlier process.
    is_cached: bool,
}

/// The object code of one text, once there is some.
type SharedObject = Arc<Mutex<Option<Object>>>;

/// Objects by the text that they were made from.
#[derive(Debug, Default)]
pub struct Alike {
    objects: Mutex<FxHashMap<String, SharedObject>>,
}

/// Where object code came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Time in the compiler; zero if it existed already.
    pub compile: Duration,
    /// Whether it was kept from an earlier process.
    pub is_cached: bool,
}

impl Alike {
    /// What `load` makes of the object code of a text: that of an equal text, or from the cache if it is there and loads,
    /// otherwise compiled, and cached for later processes once loaded. `recipe` is all else that object code depends on.
    ///
    /// # Errors
    /// What `compile` and `load` say.
    pub fn loaded<R, E>(
        &self,
        code: String,
        (cache, recipe): (Option<&ObjectCache>, &str),
        compile: impl FnOnce(&str) -> Result<Vec<u8>, E>,
        load: impl Fn(&[u8]) -> Result<R, E>,
    ) -> Result<(R, Origin), E> {
        let object = self.object_of(code.clone());
        let mut object = object.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Object { bytes, is_cached }) = &*object {
            return Ok((load(bytes)?, Origin { compile: Duration::ZERO, is_cached: *is_cached }));
        }
        let cache = cache.map(|cache| (cache, Key::new(&[recipe, &code])));
        if let Some((cache, key)) = &cache
            && let Some(bytes) = cache.get(key)
        {
            match load(&bytes) {
                Ok(loaded) => {
                    *object = Some(Object { bytes, is_cached: true });
                    return Ok((loaded, Origin { compile: Duration::ZERO, is_cached: true }));
                }
                Err(_) => cache.reject(key),
            }
        }
        let begin = Instant::now();
        let bytes = compile(&code)?;
        let compile = begin.elapsed();
        let loaded = load(&bytes)?;
        if let Some((cache, key)) = cache {
            cache.put(&key, &bytes);
        }
        *object = Some(Object { bytes, is_cached: false });
        Ok((loaded, Origin { compile, is_cached: false }))
    }

    /// Where the object of this text is, or goes.
    fn object_of(&self, code: String) -> SharedObject {
        let mut objects = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(objects.entry(code).or_default())
    }
}

/// A text without its comments, in which sizes and values have the names of the definition. A comment has a line of its own,
/// which begins with `mark`.
pub fn without_comments(text: &str, mark: &str) -> String {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with(mark));
    lines.flat_map(|line| [line, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use super::super::CacheOptions;
    use super::*;

    #[test]
    fn equal_code_is_compiled_once_and_of_one_origin() {
        let home = tempfile::tempdir().expect("a folder for the test");
        let cache = ObjectCache::open(CacheOptions::new(home.path().join("cache"))).expect("a cache");
        let compiled = std::cell::Cell::new(0);
        let loaded = |alike: &Alike, ir: &str| {
            let compile = |code: &str| {
                compiled.set(compiled.get() + 1);
                Ok::<_, ()>(code.as_bytes().to_vec())
            };
            let code = without_comments(ir, ";");
            alike.loaded(code, (Some(&cache), "recipe"), compile, |bytes| Ok(bytes.to_vec())).expect("loads")
        };
        for is_cached in [false, true] {
            let alike = Alike::default();
            let (first, one) = loaded(&alike, "; i0\n %a = 1\n");
            let (second, other) = loaded(&alike, "  ; i7\n %a = 1\n");
            assert_eq!((first.as_slice(), &first), (b" %a = 1\n".as_slice(), &second));
            assert_eq!((one.is_cached, other.is_cached), (is_cached, is_cached));
            assert_eq!(other.compile, Duration::ZERO);
        }
        assert_eq!(compiled.get(), 1);
        let (other, origin) = loaded(&Alike::default(), " %a = 2\n");
        assert_eq!((other.as_slice(), origin.is_cached, compiled.get()), (b" %a = 2\n".as_slice(), false, 2));
    }
}
