//! The syntax of definition files: characters to tokens to trees, each with its place. Knows no op and builds no graph.

mod diagnostic;
mod expression;
mod grammar;
mod lexer;
mod tree;

pub use diagnostic::RawDiagnostic;
pub use grammar::parse_file;
pub use tree::{ArgumentSyntax, Item, Line, Name, StatementSyntax, Tree, TreeKind};
