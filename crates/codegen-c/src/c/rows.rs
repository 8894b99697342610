//! Row pointers: the part of an address that is the same for all lanes of a team, declared where everything it depends on is
//! known. The rest that lanes add is then short enough to read.
//!
//! ```text
//! const bf16* const x_row = x + x0 * i1;
//! for (long long first = 8 * lane; first < i1; first += 2048) … load<8>(x_row + first) …
//! ```

use cranelift_entity::SecondaryMap;
use index::{Expr, Sym};
use kernel::Buffer;

use super::statement::Statement;

/// The lists of statements that are being written, the innermost last, with the rows that each declares.
pub(super) struct Lists {
    open: Vec<List>,
    known: SecondaryMap<Sym, Known>,
}

#[derive(Default)]
struct List {
    statements: Vec<Statement>,
    rows: Vec<Row>,
}

/// A pointer that has been declared.
pub(super) struct Row {
    pub(super) buffer: Buffer,
    pub(super) offset: Expr,
    pub(super) name: String,
}

/// The depth of the list in which a symbol is known, and whether it differs between lanes.
#[derive(Clone, Copy, Default)]
struct Known {
    depth: usize,
    varies: bool,
}

impl Lists {
    /// That of a function alone.
    pub(super) fn new() -> Lists {
        Lists { open: vec![List::default()], known: SecondaryMap::new() }
    }

    /// Opens a list within the innermost.
    pub(super) fn open(&mut self) {
        self.open.push(List::default());
    }

    /// Closes the innermost list.
    pub(super) fn close(&mut self) -> Vec<Statement> {
        self.open.pop().expect("one is open").statements
    }

    /// The innermost list.
    pub(super) fn innermost(&mut self) -> &mut Vec<Statement> {
        &mut self.open.last_mut().expect("one is open").statements
    }

    /// Notes a symbol that the innermost list declares.
    pub(super) fn knows(&mut self, symbol: Sym, varies: bool) {
        self.known[symbol] = Known { depth: self.open.len() - 1, varies };
    }

    /// An index in two parts: the terms that are the same for all lanes of a team but not for all blocks and iterations, and
    /// the rest.
    pub(super) fn split(&self, arguments: &[Sym], index: &Expr) -> (Expr, Expr) {
        let (varying, uniform) = index.split_terms(|symbol| self.known[symbol].varies);
        // Rows of one loop are a few sizes apart.
        let (offset, distance) = uniform.split_terms(|symbol| !arguments.contains(&symbol));
        (offset, varying + distance)
    }

    pub(super) fn visible(&self) -> impl Iterator<Item = &Row> {
        self.open.iter().flat_map(|list| &list.rows)
    }

    /// A name for a row of an array that no visible one has.
    pub(super) fn free_name(&self, array: &str) -> String {
        let numbered = |number: usize| match number {
            0 => format!("{array}_row"),
            _ => format!("{array}_row{number}"),
        };
        let is_free = |name: &String| self.visible().all(|row| row.name != *name);
        (0..).map(numbered).find(is_free).expect("few names are taken")
    }

    /// Declares a row by a line, in the outermost list where everything it depends on is known.
    pub(super) fn declare(&mut self, row: Row, line: String) {
        let depths = row.offset.symbols().into_iter().map(|symbol| self.known[symbol].depth);
        let list = &mut self.open[depths.max().unwrap_or_default()];
        list.statements.push(Statement::Simple(line));
        list.rows.push(row);
    }
}
