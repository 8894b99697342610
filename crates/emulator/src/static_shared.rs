//! How much static shared memory each kernel of a compiled text declares: takes the bytes of its shared library, reads the
//! symbols of its thread-local image. Padding between variables is not counted.

use object::read::elf::ElfFile64;
use object::{Object, ObjectSymbol, SymbolKind};

/// The dynamic array of `device/memory.h`.
const DYNAMIC: &str = "smem";

/// A variable in shared memory: the function that declares it, where the symbol says so, and its size.
#[derive(Debug)]
struct Variable {
    scope: Option<String>,
    bytes: u64,
}

/// The static shared memory of the kernels of a library.
#[derive(Debug)]
pub(crate) struct StaticShared {
    variables: Vec<Variable>,
}

impl StaticShared {
    /// Reads the symbols of a library.
    pub fn of(library: &[u8]) -> Result<StaticShared, object::Error> {
        let file: ElfFile64<'_> = ElfFile64::parse(library)?;
        let shared = file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Tls);
        let named = shared.filter_map(|symbol| Some((symbol.name().ok()?.to_owned(), symbol.size())));
        let variable = |(name, bytes): (String, u64)| Variable { scope: scope(&name), bytes };
        Ok(StaticShared { variables: named.filter(|(name, _)| name != DYNAMIC).map(variable).collect() })
    }

    /// The bytes that a kernel declares, and those of functions that are no kernel, which it may call.
    pub fn bytes(&self, kernel: &str, is_kernel: impl Fn(&str) -> bool) -> u64 {
        let belongs = |variable: &&Variable| match &variable.scope {
            Some(scope) => scope == kernel || !is_kernel(scope),
            None => true,
        };
        self.variables.iter().filter(belongs).map(|variable| variable.bytes).sum()
    }
}

/// The function in which a variable is declared, as `_ZZ7softmaxE5slots` says it (or `_ZZ7softmaxPKfE5slots`).
fn scope(symbol: &str) -> Option<String> {
    let rest = symbol.strip_prefix("_ZZ")?;
    let digits = rest.find(|c: char| !c.is_ascii_digit())?;
    let length: usize = rest[..digits].parse().ok()?;
    rest.get(digits..digits + length).map(str::to_owned)
}
