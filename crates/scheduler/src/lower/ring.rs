//! Software pipelining of rows: what the first stage of a row loads is loaded an iteration ahead, into what each lane has for itself,
//! so that it is under way while the row before is folded and stored. What all rows have in common is loaded once.
//!
//! ```text
//! row[x1] = x[x0_begin, x1]
//! for x0 … {
//!   for x1 lanes { …  row[x1] … }
//!   for x1 lanes { next[x1] = x[min(x0 + 1, x0_last), x1] }
//!   reduce …
//!   for x1 lanes { …  row[x1] … }
//!   for x1 lanes { row[x1] = next[x1] }
//! }
//! ```
//!
//! Where no later stage reads a row again, its elements go where those of the row before were. The last iteration loads its own
//! row again, from a cache.

use index::{Expr, Sym};
use kernel::{Buffer, Kernel, Loop, LoopKind, Place, Scratch, ScratchDecl, Stmt, Value, fresh};
use ops::DType;

/// Loads rows an iteration ahead in the loop whose iterations lanes fold together, if there is one. Nothing that a kernel loads is
/// stored by it, so a load may move over any store.
pub(super) fn pipeline(kernel: &mut Kernel) {
    let body = std::mem::take(&mut kernel.body);
    kernel.body = pipelined(kernel, body);
}

fn pipelined(kernel: &mut Kernel, body: Vec<Stmt>) -> Vec<Stmt> {
    let mut written = Vec::with_capacity(body.len());
    for statement in body {
        match statement {
            Stmt::For(rows) if rows.kind == LoopKind::Serial => {
                let waits = rows.body.iter().position(|it| matches!(it, Stmt::Reduce { .. } | Stmt::Barrier));
                let rows = match waits {
                    Some(waits) => Ring::new(kernel, &rows, waits).rewrite(rows, &mut written),
                    None => Loop { body: pipelined(kernel, rows.body), ..rows },
                };
                written.push(Stmt::For(rows));
            }
            other => written.push(other),
        }
    }
    written
}

/// A loop over rows that is being rewritten.
struct Ring<'k> {
    kernel: &'k mut Kernel,
    row: Sym,
    /// The first row, and the one after an iteration's: the last row has none.
    first: Expr,
    next: Expr,
    /// Where lanes first wait for each other: the number of a statement.
    waits: usize,
    /// Symbols that only the loop knows.
    inside: Vec<Sym>,
    /// The loop over lanes of the first stage, like which others walk a row.
    walk: Option<Loop>,
    kept: Vec<Kept>,
}

/// Elements of a row that lanes keep.
struct Kept {
    buffer: Buffer,
    /// Where they are, in the first stage's loop.
    index: Expr,
    dtype: DType,
    array: Scratch,
    is_of_row: bool,
    /// Where those of the next row are meanwhile, if a later stage reads these.
    next: Option<Scratch>,
}

impl Ring<'_> {
    fn new<'k>(kernel: &'k mut Kernel, rows: &Loop, waits: usize) -> Ring<'k> {
        let following = Expr::sym(rows.var) + Expr::one();
        let next = Expr::min(&following, &(rows.end.clone() - Expr::one()));
        let inside = introduced(&rows.body);
        let is_size = |bound: &Expr| bound.symbols().iter().all(|symbol| kernel.arguments.contains(symbol));
        let walks = rows.body[..waits].iter().find_map(|statement| match statement {
            Stmt::For(lanes) if lanes.kind.is_over_lanes() => Some(lanes),
            _ => None,
        });
        let walk = walks.filter(|walk| is_size(&walk.begin) && is_size(&walk.end)).cloned();
        let first = rows.begin.clone();
        Ring { kernel, row: rows.var, first, next, waits, inside, walk, kept: Vec::new() }
    }

    /// The loop, whose stages use what was loaded ahead; what its first row needs is loaded in the statements before it.
    fn rewrite(mut self, mut rows: Loop, before: &mut Vec<Stmt>) -> Loop {
        let later = rows.body.split_off(self.waits);
        let (mut body, mut ahead) = (Vec::new(), Vec::new());
        for statement in rows.body {
            body.push(match statement {
                Stmt::Load { value, place: Place::Buffer(buffer), index, guard: None }
                    if self.is_of_row(&index, None) =>
                {
                    self.number_ahead(value, buffer, &index, before, &mut ahead)
                }
                other => self.taken(other, false),
            });
        }
        let later: Vec<Stmt> = later.into_iter().map(|statement| self.taken(statement, true)).collect();
        before.extend(self.filled(&self.first.clone(), |_| true));
        body.extend(ahead);
        body.extend(self.filled(&self.next.clone(), |kept| kept.is_of_row));
        body.extend(later);
        body.extend(self.moved());
        Loop { body, ..rows }
    }

    /// Whether an index is known before the loop, but for the row and the element.
    fn is_known(&self, index: &Expr, element: Option<Sym>) -> bool {
        let is_inside = |symbol: &Sym| self.inside.contains(symbol) && Some(*symbol) != element;
        !index.symbols().iter().any(is_inside)
    }

    /// Whether it also differs from row to row.
    fn is_of_row(&self, index: &Expr, element: Option<Sym>) -> bool {
        index.mentions(self.row) && self.is_known(index, element)
    }

    fn at(&self, index: &Expr, row: &Expr) -> Expr {
        index.substitute(&|symbol| (symbol == self.row).then(|| row.clone()))
    }

    fn load(&mut self, dtype: DType, place: Place, index: Expr) -> (Value, Stmt) {
        let value = self.kernel.values.push(dtype);
        (value, Stmt::Load { value, place, index, guard: None })
    }

    /// A number of a row: an accumulator has it from the iteration before.
    fn number_ahead(
        &mut self,
        value: Value,
        buffer: Buffer,
        index: &Expr,
        before: &mut Vec<Stmt>,
        ahead: &mut Vec<Stmt>,
    ) -> Stmt {
        let dtype = self.kernel.values[value];
        let accumulator = self.kernel.accumulators.push(dtype);
        let (init, first) = self.load(dtype, buffer.into(), self.at(index, &self.first));
        let (following, next) = self.load(dtype, buffer.into(), self.at(index, &self.next));
        before.extend([first, Stmt::Open { accumulator, init }]);
        ahead.extend([next, Stmt::Set { accumulator, value: following }]);
        Stmt::Get { value, accumulator }
    }

    /// A statement of the loop. One in which lanes walk a row takes from arrays of theirs what it would load.
    fn taken(&mut self, statement: Stmt, is_later: bool) -> Stmt {
        let is_alike = |lanes: &Loop, walk: &Loop| {
            (&lanes.begin, &lanes.end, lanes.width, lanes.kind)
                == (&walk.begin, &walk.end, walk.width, walk.kind)
        };
        match statement {
            Stmt::For(lanes) if self.walk.as_ref().is_some_and(|walk| is_alike(&lanes, walk)) => {
                let body = lanes.body.iter().map(|statement| self.element(&lanes, statement, is_later));
                Stmt::For(Loop { body: body.collect(), ..lanes })
            }
            other => other,
        }
    }

    /// A statement about an element of a row.
    fn element(&mut self, lanes: &Loop, statement: &Stmt, is_later: bool) -> Stmt {
        let Stmt::Load { value, place: Place::Buffer(buffer), index, guard: None } = statement else {
            return statement.clone();
        };
        match self.kept(*value, *buffer, index, lanes, is_later) {
            Some(array) => {
                let index = Expr::sym(lanes.var) - lanes.begin.clone();
                Stmt::Load { value: *value, place: array.into(), index, guard: None }
            }
            None => statement.clone(),
        }
    }

    /// The array that keeps what is loaded. What only a later stage reads of a row has none.
    fn kept(
        &mut self,
        value: Value,
        buffer: Buffer,
        index: &Expr,
        lanes: &Loop,
        is_later: bool,
    ) -> Option<Scratch> {
        let var = self.walk.as_ref()?.var;
        let index = index.substitute(&|symbol| (symbol == lanes.var).then(|| Expr::sym(var)));
        let (is_known, is_of_row) = (self.is_known(&index, Some(var)), self.is_of_row(&index, Some(var)));
        let dtype = self.kernel.values[value];
        let known = self.kept.iter().position(|kept| (kept.buffer, &kept.index) == (buffer, &index));
        let place = match known {
            Some(place) => place,
            None if is_known && index.mentions(var) && !(is_of_row && is_later) => {
                let array = self.array(dtype);
                self.kept.push(Kept { buffer, index, dtype, array, is_of_row, next: None });
                self.kept.len() - 1
            }
            None => return None,
        };
        if is_of_row && is_later && self.kept[place].next.is_none() {
            self.kept[place].next = Some(self.array(dtype));
        }
        Some(self.kept[place].array)
    }

    /// A new array of a lane's elements of a row.
    fn array(&mut self, dtype: DType) -> Scratch {
        let len = self.walk.as_ref().map_or(Expr::zero(), |walk| walk.end.clone() - walk.begin.clone());
        self.kernel.scratch.push(ScratchDecl { dtype, len, private: true })
    }

    /// The loop in which lanes load their elements of a row.
    fn filled(&mut self, row: &Expr, which: impl Fn(&Kept) -> bool) -> Option<Stmt> {
        let is_first = *row == self.first;
        let loads = self.kept.iter().filter(|kept| which(kept));
        let to = |kept: &Kept| kept.next.filter(|_| !is_first).unwrap_or(kept.array);
        let loads = loads.map(|kept| (kept.dtype, kept.buffer.into(), self.at(&kept.index, row), to(kept)));
        let loads = loads.collect();
        self.copied(loads)
    }

    /// The loop in which a row takes the place of the one before.
    fn moved(&mut self) -> Option<Stmt> {
        let (var, begin) = self.walk.as_ref().map(|walk| (walk.var, walk.begin.clone()))?;
        let at = Expr::sym(var) - begin;
        let moved = |kept: &Kept| Some((kept.dtype, kept.next?.into(), at.clone(), kept.array));
        let moves = self.kept.iter().filter_map(moved).collect();
        self.copied(moves)
    }

    /// A loop over lanes that copies elements to arrays: dtype, from where in the first stage's loop, and to which array.
    fn copied(&mut self, copies: Vec<(DType, Place, Expr, Scratch)>) -> Option<Stmt> {
        let walk = self.walk.clone().filter(|_| !copies.is_empty())?;
        let var = fresh(self.kernel, self.kernel.symbols[walk.var].clone());
        let mut body = Vec::with_capacity(2 * copies.len());
        for (dtype, place, index, array) in copies {
            let index = index.substitute(&|symbol| (symbol == walk.var).then(|| Expr::sym(var)));
            let (value, load) = self.load(dtype, place, index);
            let index = Expr::sym(var) - walk.begin.clone();
            body.extend([load, Stmt::Store { place: array.into(), index, value, guard: None }]);
        }
        Some(Stmt::For(Loop { var, body, ..walk }))
    }
}

/// The symbols that a body introduces.
fn introduced(body: &[Stmt]) -> Vec<Sym> {
    let mut symbols = Vec::new();
    for statement in body {
        match statement {
            Stmt::Bind { symbol, .. } => symbols.push(*symbol),
            Stmt::For(inner) => {
                symbols.push(inner.var);
                symbols.extend(introduced(&inner.body));
            }
            _ => {}
        }
    }
    symbols
}
