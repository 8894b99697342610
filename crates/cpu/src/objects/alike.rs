//! Kernels of one plan that differ in nothing but names, as those of equal layers do: compiled once.
//!
//! Takes the text of a kernel, LLVM IR or CUDA C++, returns the object code that was made from the same text before. A
//! thread that needs what another is compiling waits for it.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

/// The name of every module's function, so that equal kernels have equal text.
pub const SYMBOL: &str = "kernel";

/// The object code of one text, once there is some.
pub type SharedObject = Arc<Mutex<Option<Vec<u8>>>>;

/// Objects by the text that they were made from.
#[derive(Debug, Default)]
pub struct Alike {
    objects: Mutex<FxHashMap<String, SharedObject>>,
}

impl Alike {
    /// Where the object of this IR is, or goes. Comments make no difference.
    pub fn object_of(&self, code: String) -> SharedObject {
        let mut objects = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(objects.entry(code).or_default())
    }
}

/// The IR without its comments, in which sizes have the names of the definition.
pub fn without_comments(ir: &str) -> String {
    let lines = ir.lines().filter(|line| !line.trim_start().starts_with(';'));
    lines.flat_map(|line| [line, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_code_has_one_object() {
        let alike = Alike::default();
        let [first, second, other] = ["; i0\n %a = 1\n", "  ; i7\n %a = 1\n", " %a = 2\n"]
            .map(|ir| alike.object_of(without_comments(ir)));
        *first.lock().unwrap() = Some(vec![1]);
        assert_eq!(*second.lock().unwrap(), Some(vec![1]));
        assert_eq!(*other.lock().unwrap(), None);
    }
}
