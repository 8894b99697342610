//! Filling a mapping: copies the sections, resolves the symbols, applies the relocations.
//!
//! Takes a [`ImageLayout`], gives finished bytes. Relocation kinds: System V ABI, AMD64 supplement, section 4.4;
//! there S is the symbol's address, A the addend, P the address of the field, G the address of the slot.

use super::layout::{Fixup, ImageLayout, through_slot};
use super::{File, ObjectError, malformed};
use object::elf::{R_X86_64_64, R_X86_64_PC32, R_X86_64_PLT32};
use object::{Object, ObjectSection, ObjectSymbol, SymbolIndex};

/// Copies every placed section to its offset; what a section does not fill stays zero.
pub(super) fn copy_sections(
    file: &File<'_>,
    layout: &ImageLayout,
    memory: &mut [u8],
) -> Result<(), ObjectError> {
    for (&index, placed) in &layout.sections {
        let data = file.section_by_index(index).and_then(|section| section.data()).map_err(malformed)?;
        let room = memory.get_mut(placed.offset..placed.offset + data.len());
        room.ok_or_else(|| ObjectError::Malformed("a section longer than its size".into()))?
            .copy_from_slice(data);
    }
    Ok(())
}

/// Applies every fixup for code that will run at address `base`.
pub(super) fn relocate(
    file: &File<'_>,
    layout: &ImageLayout,
    resolve: &dyn Fn(&str) -> Option<*const u8>,
    base: usize,
    memory: &mut [u8],
) -> Result<(), ObjectError> {
    let linker = Linker { file, layout, resolve, base };
    for (&symbol, &slot) in &layout.slots {
        let address = linker.address(symbol)?;
        memory[slot..slot + 8].copy_from_slice(&address.to_le_bytes());
    }
    for (symbol, &stub) in &layout.stubs {
        let displacement = layout.slots[symbol] as i32 - (stub as i32 + 6);
        memory[stub..stub + 2].copy_from_slice(&[0xff, 0x25]);
        memory[stub + 2..stub + 6].copy_from_slice(&displacement.to_le_bytes());
    }
    layout.fixups.iter().try_for_each(|fixup| linker.apply(fixup, memory))
}

struct Linker<'a, 'd> {
    file: &'a File<'d>,
    layout: &'a ImageLayout,
    resolve: &'a dyn Fn(&str) -> Option<*const u8>,
    base: usize,
}

impl Linker<'_, '_> {
    /// S: the address of a symbol, here or outside.
    fn address(&self, index: SymbolIndex) -> Result<i64, ObjectError> {
        let symbol = self.file.symbol_by_index(index).map_err(malformed)?;
        if let Some(offset) = self.layout.offset_of(&symbol)? {
            return Ok((self.base + offset) as i64);
        }
        let name = symbol.name().map_err(malformed)?;
        let unresolved = || ObjectError::Unresolved(name.to_owned());
        if !symbol.is_undefined() {
            return Err(unresolved());
        }
        (self.resolve)(name).map(|address| address as usize as i64).ok_or_else(unresolved)
    }

    fn apply(&self, fixup: &Fixup, memory: &mut [u8]) -> Result<(), ObjectError> {
        let Fixup { at, kind, symbol, addend } = *fixup;
        let place = (self.base + at) as i64;
        let target = match kind {
            R_X86_64_64 => {
                let address = self.address(symbol)?.wrapping_add(addend);
                memory[at..at + 8].copy_from_slice(&address.to_le_bytes());
                return Ok(());
            }
            R_X86_64_PLT32 => match self.layout.stubs.get(&symbol) {
                Some(stub) => (self.base + stub) as i64,
                None => self.address(symbol)?,
            },
            // Data elsewhere may lie beyond 32 bits; LLVM reaches it through a slot.
            R_X86_64_PC32 if !self.is_external(symbol)? => self.address(symbol)?,
            kind if through_slot(kind) => (self.base + self.layout.slots[&symbol]) as i64,
            kind => return Err(ObjectError::Relocation { kind: kind.0, symbol: self.name(symbol) }),
        };
        let distance = i32::try_from(target.wrapping_add(addend).wrapping_sub(place))
            .map_err(|_| ObjectError::OutOfRange(self.name(symbol)))?;
        memory[at..at + 4].copy_from_slice(&distance.to_le_bytes());
        Ok(())
    }

    fn is_external(&self, symbol: SymbolIndex) -> Result<bool, ObjectError> {
        Ok(self.file.symbol_by_index(symbol).map_err(malformed)?.is_undefined())
    }

    /// The symbol's name for a message; empty where it has none.
    fn name(&self, index: SymbolIndex) -> String {
        let symbol = self.file.symbol_by_index(index);
        symbol.and_then(|symbol| symbol.name()).unwrap_or_default().to_owned()
    }
}
