//! Kernel programs: what is read and verifies prints, and what is printed reads back and prints the same.
#![no_main]

use ir::kernel::{parse, verify};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Ok(kernel) = parse(text) else { return };
    if verify(&kernel).is_ok() {
        let printed = kernel.to_string();
        let again = parse(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}"));
        assert_eq!(again.to_string(), printed);
    }
});
