//! Definition files: whatever is read prints, and what is printed reads back and prints the same.
#![no_main]

use frontend::text::{NameStyle, parse, print};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Ok(file) = parse(text) else { return };
    let printed = print(&file.definition, NameStyle::Long);
    let again = parse(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}"));
    assert_eq!(print(&again.definition, NameStyle::Long), printed);
});
