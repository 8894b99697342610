//! Arrays in `.npz` files: read, or rejected in words.
#![no_main]

#[allow(dead_code)]
#[path = "../../crates/cli/src/arrays/mod.rs"]
mod arrays;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let file = tempfile::Builder::new().suffix(".npz").tempfile().expect("a file");
    std::fs::write(file.path(), bytes).expect("room for it");
    let _ = arrays::read(file.path(), arrays::Wanted::NameOrSole("x"));
});
