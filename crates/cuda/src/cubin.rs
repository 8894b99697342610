//! The resources of kernels in machine code: cubins are ELF files, and a section of records counts registers and local
//! memory.

use object::read::elf::ElfFile64;
use object::{Object, ObjectSection, ObjectSymbol};

/// The resources of a thread of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadResources {
    pub registers: u32,
    /// Bytes of its stack: spilled registers, and arrays.
    pub local_bytes: u32,
}

/// The section of the records, and the attributes that are read. A record is a format, an attribute and 16 bits; with the format
/// of sized values these are the length of what follows: here the number of a symbol and a number.
const SECTION: &str = ".nv.info";
const SIZED: u8 = 4;
const FRAME_SIZE: u8 = 0x11;
const REGISTER_COUNT: u8 = 0x2f;

impl ThreadResources {
    /// Those of a kernel in machine code; `None` if the code has no record of it.
    pub fn of(cubin: &[u8], kernel: &str) -> Option<ThreadResources> {
        let file: ElfFile64<'_> = ElfFile64::parse(cubin).ok()?;
        let symbol = file.symbols().find(|symbol| symbol.name() == Ok(kernel))?.index().0 as u32;
        let records = file.section_by_name(SECTION)?.data().ok()?;
        let number = |attribute| Records(records).find(|record| record.says(attribute, symbol))?.number();
        let registers = number(REGISTER_COUNT)?;
        Some(ThreadResources { registers, local_bytes: number(FRAME_SIZE).unwrap_or_default() })
    }
}

/// The records from here on.
struct Records<'d>(&'d [u8]);

/// A record: its attribute, and what follows its head.
struct Record<'d> {
    attribute: u8,
    value: &'d [u8],
}

impl<'d> Iterator for Records<'d> {
    type Item = Record<'d>;

    fn next(&mut self) -> Option<Record<'d>> {
        let (&[format, attribute, low, high], rest) = self.0.split_first_chunk()?;
        let length = if format == SIZED { u16::from_le_bytes([low, high]).into() } else { 0 };
        let (value, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some(Record { attribute, value })
    }
}

impl Record<'_> {
    fn word(&self, place: usize) -> Option<u32> {
        let (word, _) = self.value.get(4 * place..)?.split_first_chunk()?;
        Some(u32::from_le_bytes(*word))
    }

    fn says(&self, attribute: u8, symbol: u32) -> bool {
        self.attribute == attribute && self.word(0) == Some(symbol)
    }

    fn number(&self) -> Option<u32> {
        self.word(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_walked_by_their_formats() {
        let bytes = [
            [1, 9, 0, 0].as_slice(), // no value
            &[3, 8, 7, 0],           // 16 bits in the head
            &[4, REGISTER_COUNT, 8, 0, 5, 0, 0, 0, 40, 0, 0, 0],
            &[4, REGISTER_COUNT, 8, 0, 6, 0, 0, 0, 64, 0, 0, 0],
        ];
        let bytes = bytes.concat();
        let registers = |symbol| Records(&bytes).find(|record| record.says(REGISTER_COUNT, symbol))?.number();
        assert_eq!((registers(5), registers(6), registers(7)), (Some(40), Some(64), None));
        assert_eq!(Records(&bytes[..bytes.len() - 1]).count(), 3);
    }

    #[test]
    fn what_is_no_machine_code_says_nothing() {
        assert_eq!(ThreadResources::of(b"no ELF", "k"), None);
        assert_eq!(ThreadResources::of(&[], "k"), None);
    }
}
