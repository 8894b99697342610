//! Where the parts of an object go in its mapping: text, read-only data, address slots, jump stubs.
//!
//! Takes a parsed object and gives offsets and checked fixups; touches no memory and resolves nothing.

use super::{File, ObjectError, malformed};
use indexmap::IndexMap;
use object::elf::{
    R_X86_64_64, R_X86_64_GOTPCREL, R_X86_64_GOTPCRELX, R_X86_64_PLT32, R_X86_64_REX_GOTPCRELX,
    RelocationType, SHF_ALLOC, SHF_TLS, SHF_WRITE,
};
use object::{
    Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget, SectionFlags, SectionIndex,
    SectionKind, SymbolIndex, SymbolSection,
};
use std::collections::BTreeMap;

/// No kernel comes near this; a damaged header might ask for more memory than the machine has.
const LARGEST: u64 = 1 << 30;
/// A mapping starts at a page, so no section can be aligned to more.
const PAGE: u64 = 4096;
/// `jmp *[rip + disp32]`, padded.
const STUB_BYTES: u64 = 8;
const SLOT_BYTES: u64 = 8;

/// All positions are offsets from the start of the mapping.
#[derive(Default)]
pub(super) struct ImageLayout {
    pub sections: IndexMap<SectionIndex, Placed>,
    pub fixups: Vec<Fixup>,
    /// The slot that holds a symbol's address, for symbols used through one.
    pub slots: IndexMap<SymbolIndex, usize>,
    /// The jump stub of each external symbol that is called; it jumps through the symbol's slot.
    pub stubs: IndexMap<SymbolIndex, usize>,
    pub bytes: usize,
}

#[derive(Clone, Copy)]
pub(super) struct Placed {
    pub offset: usize,
    pub bytes: u64,
}

/// A relocation whose field lies inside its section.
pub(super) struct Fixup {
    pub at: usize,
    pub kind: RelocationType,
    pub symbol: SymbolIndex,
    pub addend: i64,
}

/// Whether the kind uses a slot (the ABI's GOT-relative kinds).
pub(super) fn through_slot(kind: RelocationType) -> bool {
    matches!(kind, R_X86_64_GOTPCREL | R_X86_64_GOTPCRELX | R_X86_64_REX_GOTPCRELX)
}

impl ImageLayout {
    /// The sections that a kernel needs, each aligned, code first, with what is fixed up in them.
    pub fn of(file: &File<'_>) -> Result<ImageLayout, ObjectError> {
        let mut layout = ImageLayout::default();
        for text in [true, false] {
            for section in file.sections().filter(|s| (s.kind() == SectionKind::Text) == text) {
                if belongs(&section)? {
                    let (bytes, align) = (section.size(), section.align());
                    let offset = layout.reserve(bytes, align)?;
                    layout.sections.insert(section.index(), Placed { offset, bytes });
                }
            }
        }
        layout.fixups = layout.read_fixups(file)?;
        layout.reserve_slots_and_stubs(file)?;
        Ok(layout)
    }

    /// Room at the end, aligned.
    fn reserve(&mut self, bytes: u64, align: u64) -> Result<usize, ObjectError> {
        let align = align.max(1);
        if align > PAGE || !align.is_power_of_two() {
            return Err(ObjectError::Malformed(format!("alignment {align}")));
        }
        let offset = (self.bytes as u64).next_multiple_of(align);
        let end = offset.saturating_add(bytes);
        if end > LARGEST {
            return Err(ObjectError::TooLarge(end));
        }
        self.bytes = end as usize;
        Ok(offset as usize)
    }

    fn read_fixups(&self, file: &File<'_>) -> Result<Vec<Fixup>, ObjectError> {
        let mut fixups = Vec::new();
        for (&index, &placed) in &self.sections {
            for (offset, relocation) in file.section_by_index(index).map_err(malformed)?.relocations() {
                fixups.push(checked_fixup(placed, offset, &relocation)?);
            }
        }
        Ok(fixups)
    }

    fn reserve_slots_and_stubs(&mut self, file: &File<'_>) -> Result<(), ObjectError> {
        let mut called = Vec::new();
        for position in 0..self.fixups.len() {
            let Fixup { kind, symbol, .. } = self.fixups[position];
            let external = file.symbol_by_index(symbol).map_err(malformed)?.is_undefined();
            let call = kind == R_X86_64_PLT32 && external;
            if (call || through_slot(kind)) && !self.slots.contains_key(&symbol) {
                let slot = self.reserve(SLOT_BYTES, SLOT_BYTES)?;
                self.slots.insert(symbol, slot);
            }
            if call {
                called.push(symbol);
            }
        }
        for symbol in called {
            if !self.stubs.contains_key(&symbol) {
                let stub = self.reserve(STUB_BYTES, STUB_BYTES)?;
                self.stubs.insert(symbol, stub);
            }
        }
        Ok(())
    }

    /// The offset of a symbol defined in a placed section; `None` for all others.
    pub fn offset_of<'d>(&self, symbol: &impl ObjectSymbol<'d>) -> Result<Option<usize>, ObjectError> {
        let SymbolSection::Section(section) = symbol.section() else { return Ok(None) };
        let Some(placed) = self.sections.get(&section) else { return Ok(None) };
        if symbol.address() > placed.bytes {
            return Err(ObjectError::Malformed("a symbol outside its section".into()));
        }
        Ok(Some(placed.offset + symbol.address() as usize))
    }

    /// The offsets of all defined symbols that have a name.
    pub fn named_symbols(&self, file: &File<'_>) -> Result<BTreeMap<String, usize>, ObjectError> {
        let mut symbols = BTreeMap::new();
        for symbol in file.symbols().filter(|symbol| symbol.is_definition()) {
            let name = symbol.name().map_err(malformed)?;
            if let (false, Some(offset)) = (name.is_empty(), self.offset_of(&symbol)?) {
                symbols.insert(name.to_owned(), offset);
            }
        }
        Ok(symbols)
    }
}

/// Whether a section is loaded. Fails for sections that would have to be writable at run time; those that
/// only relocation writes (`.data.rel.ro`) are fine.
fn belongs<'d>(section: &impl ObjectSection<'d>) -> Result<bool, ObjectError> {
    let SectionFlags::Elf { sh_flags, .. } = section.flags() else {
        return Err(ObjectError::Malformed("sections without ELF flags".into()));
    };
    let has = |flag: object::elf::SectionFlags| sh_flags.0 & flag.0 != 0;
    let name = section.name().map_err(malformed)?;
    if !has(SHF_ALLOC) || name == ".eh_frame" {
        return Ok(false);
    }
    let writable = has(SHF_TLS) || (has(SHF_WRITE) && !name.starts_with(".data.rel.ro"));
    if writable && section.size() > 0 {
        return Err(ObjectError::Writable(name.to_owned()));
    }
    Ok(!writable)
}

fn checked_fixup(placed: Placed, offset: u64, relocation: &object::Relocation) -> Result<Fixup, ObjectError> {
    let RelocationFlags::Elf { r_type: kind } = relocation.flags() else {
        return Err(ObjectError::Malformed("a relocation that is not ELF's".into()));
    };
    let RelocationTarget::Symbol(symbol) = relocation.target() else {
        return Err(ObjectError::Relocation { kind: kind.0, symbol: String::new() });
    };
    let width = if kind == R_X86_64_64 { 8 } else { 4 };
    if offset.checked_add(width).is_none_or(|end| end > placed.bytes) {
        return Err(ObjectError::Malformed("a relocation outside its section".into()));
    }
    Ok(Fixup { at: placed.offset + offset as usize, kind, symbol, addend: relocation.addend() })
}
