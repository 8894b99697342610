//! The rules of this repository: which crates and modules may use which, its words, its documents, its generated programs.

mod architecture;
mod documents;
mod generated;
mod module_arrows;
mod vocabulary;
