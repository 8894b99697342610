//! The loader: a relocatable x86-64 ELF object in, callable code out.
//!
//! One mapping per object holds its text, its read-only data, a table of addresses (GOT) and a jump stub per
//! external function; dropping [`Code`] unmaps it. Takes what LLVM emits for position-independent code with
//! read-only data. Writable data and thread locals are not for kernels and are errors; unwind tables are
//! left out. Damaged objects (from a cache on disk, say) give errors, too.

mod layout;
mod link;
mod mapping;

#[cfg(all(test, target_arch = "x86_64"))]
mod tests;

use layout::ImageLayout;
use mapping::Mapping;
use object::elf::FileHeader64;
use object::read::elf::ElfFile;
use object::{LittleEndian, Object};
use std::collections::BTreeMap;

type File<'d> = ElfFile<'d, FileHeader64<LittleEndian>>;

/// Why an object cannot be loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ObjectError {
    /// The bytes are not a well-formed relocatable object.
    #[error("malformed object: {0}")]
    Malformed(String),
    /// The object is for another machine than this one.
    #[error("the object is not x86-64 code, or this machine is not x86-64")]
    Machine,
    /// A section that would have to be writable, or one per thread.
    #[error("the object has writable data in section {0}")]
    Writable(String),
    /// A symbol that is neither defined here nor known to the caller.
    #[error("unresolved symbol {0}")]
    Unresolved(String),
    /// A kind of relocation that LLVM does not emit for our code, or not against this symbol.
    #[error("unsupported relocation of kind {kind} against `{symbol}`")]
    Relocation {
        /// The number in the ABI.
        kind: u32,
        /// The symbol's name; sections have none.
        symbol: String,
    },
    /// An address that does not fit its field.
    #[error("relocation against `{0}` is out of range")]
    OutOfRange(String),
    /// More than a gibibyte of code.
    #[error("the object needs {0} bytes, too many for a kernel")]
    TooLarge(u64),
    /// The system gave no executable memory.
    #[error("no executable memory: {0}")]
    Memory(String),
}

fn malformed(error: object::Error) -> ObjectError {
    ObjectError::Malformed(error.to_string())
}

/// Loaded machine code. Pointers into it are valid as long as it lives.
#[derive(Debug)]
pub struct Code {
    mapping: Mapping,
    /// Offsets of the defined, named symbols.
    symbols: BTreeMap<String, usize>,
}

impl Code {
    /// Loads an object; `resolve` returns the addresses of the external symbols it uses (memcpy, libm…).
    ///
    /// # Errors
    /// See [`ObjectError`].
    pub fn load(bytes: &[u8], resolve: &dyn Fn(&str) -> Option<*const u8>) -> Result<Code, ObjectError> {
        let file = File::parse(bytes).map_err(malformed)?;
        if cfg!(not(target_arch = "x86_64")) || file.architecture() != object::Architecture::X86_64 {
            return Err(ObjectError::Machine);
        }
        if file.kind() != object::ObjectKind::Relocatable {
            return Err(ObjectError::Malformed("not relocatable".into()));
        }
        let layout = ImageLayout::of(&file)?;
        let symbols = layout.named_symbols(&file)?;
        let mapping = Mapping::filled(layout.bytes, |base, memory| {
            link::copy_sections(&file, &layout, memory)?;
            link::relocate(&file, &layout, resolve, base, memory)
        })?;
        Ok(Code { mapping, symbols })
    }

    /// The address of a symbol that the object defines.
    pub fn symbol(&self, name: &str) -> Option<*const u8> {
        self.symbols.get(name).map(|&offset| self.mapping.start().wrapping_add(offset))
    }

    /// Bytes of memory that the code occupies, before rounding to whole pages.
    pub fn bytes(&self) -> usize {
        self.mapping.len()
    }
}
