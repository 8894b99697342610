//! Pointers of rows: where the part of an address that is the same for all lanes of a team leads to, declared where all that it
//! depends on is known. What lanes add to it is then short enough to be read.
//!
//! ```text
//! const bf16* const x_row = x + x0 * i1;
//! for (long long first = 8 * lane; first < i1; first += 2048) … load<8>(x_row + first) …
//! ```

use index::{Expr, Sym};
use ir::kernel::{Buffer, Place};

use super::EmitError;
use super::body::KernelWriter;
use super::signature::element_type;
use super::statement::Statement;

/// A list of statements, with the rows that it declares.
#[derive(Default)]
pub(super) struct List {
    pub(super) statements: Vec<Statement>,
    rows: Vec<Row>,
}

/// A pointer that has been declared.
struct Row {
    buffer: Buffer,
    offset: Expr,
    name: String,
}

/// Where a symbol is known: in lists so deep, and whether lanes differ in it.
#[derive(Clone, Copy, Default)]
pub(super) struct Known {
    pub(super) depth: usize,
    pub(super) varies: bool,
}

impl KernelWriter<'_> {
    /// Takes note of a symbol that the innermost list declares.
    pub(super) fn knows(&mut self, symbol: Sym) {
        self.known[symbol] = Known { depth: self.lists.len() - 1, varies: self.in_lanes };
    }

    /// What an access of some lanes starts from, and the rest of its index: the row of a buffer, where that is more than a number
    /// of elements for each block or iteration and lanes differ in the rest; else the array.
    pub(super) fn row(&mut self, place: Place, index: &Expr) -> Result<(String, Expr), EmitError> {
        let whole = (self.place_name(place), index.clone());
        let Place::Buffer(buffer) = place else { return Ok(whole) };
        let (rest, uniform) = index.split_terms(|symbol| self.known[symbol].varies);
        // Rows of one loop lie a few sizes apart.
        let (offset, distance) = uniform.split_terms(|symbol| !self.kernel.arguments.contains(&symbol));
        let rest = rest + distance;
        let is_short = offset.terms().iter().all(|term| term.monomial.factors().len() < 2);
        if is_short && offset.terms().len() < 2 || !self.in_lanes {
            return Ok(whole);
        }
        Ok((self.pointer(buffer, offset)?, rest))
    }

    /// The name of a row's pointer, which it declares unless that has been done.
    fn pointer(&mut self, buffer: Buffer, offset: Expr) -> Result<String, EmitError> {
        let visible = || self.lists.iter().flat_map(|list| &list.rows);
        if let Some(row) = visible().find(|row| row.buffer == buffer && row.offset == offset) {
            return Ok(row.name.clone());
        }
        let array = self.names.buffer(buffer);
        let numbered = |number: usize| match number {
            0 => format!("{array}_row"),
            _ => format!("{array}_row{number}"),
        };
        let is_free = |name: &String| visible().all(|row| row.name != *name);
        let name = (0..).map(numbered).find(is_free).expect("few names are taken");
        let elements = element_type(&self.kernel.buffers[buffer], self.dialect);
        let line = format!("{elements}* const {name} = {array} + {};", self.index(&offset)?);
        let depths = offset.symbols().into_iter().map(|symbol| self.known[symbol].depth);
        let list = &mut self.lists[depths.max().unwrap_or_default()];
        list.statements.push(Statement::Simple(line));
        list.rows.push(Row { buffer, offset, name: name.clone() });
        Ok(name)
    }
}
