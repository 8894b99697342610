//! The rules of this repository: which crate and which module may use which, its words, its documents, what is generated.

mod architecture;
mod documents;
mod generated;
mod module_arrows;
mod vocabulary;
