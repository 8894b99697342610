//! The rules of this repository: which crates and modules may use which, its words, its documents, its generated
//! programs, its tests.

mod architecture;
mod documents;
mod generated;
mod module_arrows;
mod unrun_tests;
mod vocabulary;
