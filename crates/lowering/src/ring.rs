//! Software pipelining of rows: what the first stage of a row loads is loaded an iteration ahead, into each lane's private
//! arrays, so that the loads are in flight while the current row is folded and stored. Values common to all rows are loaded
//! once.
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
//! Where no later stage reads a row again, its elements replace those of the row before in the same array. The last
//! iteration loads its own row again, from a cache.
//!
//! Rows that are fetched have a slot each, and none is moved. All stages then read rows from their slots:
//!
//! ```text
//! for x1 lanes { fetch rows[x1] = x[x0_begin, x1] }
//! await 1
//! for x0 … {
//!   for x1 lanes { fetch rows[next_slot*i1 + x1] = x[min(x0 + 1, x0_last), x1] }
//!   await 1
//!   for x1 lanes { …  rows[slot*i1 + x1] … }
//!   …
//! }
//! await 0
//! ```

use index::{Expr, Sym};
use kernel::{Buffer, Kernel, Loop, LoopKind, Place, Scratch, ScratchDecl, Stmt, Value, fresh};
use ops::DType;

use scheduler::schedule::Ring;

/// Loads rows an iteration ahead in the loop whose iterations lanes fold together, if there is one. A kernel stores nothing
/// that it loads, so a load may move over any store.
pub(crate) fn pipeline(kernel: &mut Kernel, ring: Ring) {
    let body = std::mem::take(&mut kernel.body);
    kernel.body = pipelined(kernel, ring, body);
}

fn pipelined(kernel: &mut Kernel, ring: Ring, body: Vec<Stmt>) -> Vec<Stmt> {
    let mut written = Vec::with_capacity(body.len());
    for statement in body {
        match statement {
            Stmt::For(rows) if rows.kind == LoopKind::Serial => {
                let waits = rows.body.iter().position(|it| matches!(it, Stmt::Reduce { .. } | Stmt::Barrier));
                match waits {
                    Some(waits) => Pipeline::new(kernel, ring, &rows, waits).rewrite(rows, &mut written),
                    None => {
                        let body = pipelined(kernel, ring, rows.body);
                        written.push(Stmt::For(Loop { body, ..rows }));
                    }
                }
            }
            other => written.push(other),
        }
    }
    written
}

/// A loop over rows that is being rewritten.
struct Pipeline<'k> {
    kernel: &'k mut Kernel,
    ring: Ring,
    row: Sym,
    /// The first row and the last.
    first: Expr,
    last: Expr,
    /// Where the elements of a row that is fetched are: the number of its slot.
    slot: Option<Sym>,
    /// The number of the statement at which lanes first wait for each other.
    waits: usize,
    /// Symbols that exist only in the loop.
    inside: Vec<Sym>,
    /// The loop over lanes of the first stage; other loops that walk a row equal it.
    walk: Option<Loop>,
    kept: Vec<Kept>,
}

/// Elements of a row that lanes keep.
struct Kept {
    buffer: Buffer,
    /// Their index, in the first stage's loop.
    index: Expr,
    dtype: DType,
    array: Scratch,
    is_of_row: bool,
    /// Where those of the next row are meanwhile, if a later stage reads the current ones.
    next: Option<Scratch>,
}

impl Pipeline<'_> {
    fn new<'k>(kernel: &'k mut Kernel, ring: Ring, rows: &Loop, waits: usize) -> Pipeline<'k> {
        let inside = introduced(&rows.body);
        let is_size = |bound: &Expr| bound.symbols().iter().all(|symbol| kernel.arguments.contains(symbol));
        let walks = rows.body[..waits].iter().find_map(|statement| match statement {
            Stmt::For(lanes) if lanes.kind.is_over_lanes() => Some(lanes),
            _ => None,
        });
        let walk = walks.filter(|walk| is_size(&walk.begin) && is_size(&walk.end)).cloned();
        let (first, last) = (rows.begin.clone(), rows.end.clone() - Expr::one());
        let named = |kernel: &mut Kernel| fresh(kernel, format!("{}_slot", kernel.symbols[rows.var]));
        let slot = matches!(ring, Ring::Fetched(_)).then(|| named(kernel));
        Pipeline { kernel, ring, row: rows.var, first, last, slot, waits, inside, walk, kept: Vec::new() }
    }

    /// Writes what the first row needs, then the loop, whose stages use what was loaded ahead.
    fn rewrite(mut self, mut rows: Loop, written: &mut Vec<Stmt>) {
        let later = rows.body.split_off(self.waits);
        let (mut body, mut ahead) = (Vec::new(), Vec::new());
        for statement in rows.body {
            body.push(match statement {
                Stmt::Load { value, place: Place::Buffer(buffer), index, guard: None }
                    if self.is_of_row(&index, None) =>
                {
                    self.scalar_ahead(value, buffer, &index, written, &mut ahead)
                }
                other => self.rewrite_statement(other, false),
            });
        }
        let later: Vec<Stmt> =
            later.into_iter().map(|statement| self.rewrite_statement(statement, true)).collect();
        body.extend(ahead);
        match self.ring {
            Ring::Loaded => {
                written.extend(self.fill_loop(&self.first.clone(), |_| true));
                body.extend(self.fill_loop(&self.ahead(1), |kept| kept.is_of_row));
                body.extend(later);
                body.extend(self.move_loop());
                written.push(Stmt::For(Loop { body, ..rows }));
            }
            Ring::Fetched(slots) => {
                body.extend(later);
                written.extend(self.fill_loop(&self.first.clone(), |kept| !kept.is_of_row));
                self.write_fetching_loop(slots, Loop { body, ..rows }, written);
            }
        }
    }

    /// The row `rows` iterations ahead, or the last.
    fn ahead(&self, rows: u32) -> Expr {
        Expr::min(&(Expr::sym(self.row) + Expr::constant(rows.into())), &self.last)
    }

    /// A loop of which each iteration finds its row in one slot, and fetches another row into another.
    fn write_fetching_loop(&mut self, slots: u32, rows: Loop, written: &mut Vec<Stmt>) {
        if !self.kept.iter().any(|kept| kept.is_of_row) {
            return written.push(Stmt::For(rows));
        }
        let pending = slots - 1;
        for slot in 0..pending {
            let row = self.first.clone() + Expr::constant(slot.into());
            let row = if slot == 0 { row } else { Expr::min(&row, &self.last) };
            written.extend(self.fetch(&row, &Expr::constant(slot.into())));
            written.push(Stmt::Await { pending });
        }
        let since = Expr::sym(self.row) - self.first.clone();
        let of_slots = Expr::constant(slots.into());
        let mut body = Vec::new();
        if let Some(slot) = self.slot {
            self.bind(slot, since.modulo(&of_slots), &mut body);
        }
        let next = fresh(self.kernel, "next_slot".to_owned());
        self.bind(next, (since + Expr::constant(pending.into())).modulo(&of_slots), &mut body);
        body.extend(self.fetch(&self.ahead(pending), &Expr::sym(next)));
        body.push(Stmt::Await { pending });
        body.extend(rows.body);
        written.push(Stmt::For(Loop { body, ..rows }));
        written.push(Stmt::Await { pending: 0 });
    }

    /// Binds a symbol to a number.
    fn bind(&mut self, symbol: Sym, number: Expr, body: &mut Vec<Stmt>) {
        let value = self.kernel.values.push(DType::I64);
        body.extend([Stmt::Index { value, index: number }, Stmt::Bind { symbol, value }]);
    }

    /// The loop in which lanes fetch their elements of a row to a slot.
    fn fetch(&mut self, row: &Expr, slot: &Expr) -> Option<Stmt> {
        let walk = self.walk.clone()?;
        let var = fresh(self.kernel, self.kernel.symbols[walk.var].clone());
        let to = slot.clone() * self.row_len() + Expr::sym(var) - walk.begin.clone();
        let fetch = |kept: &Kept| Stmt::Fetch {
            scratch: kept.array,
            index: to.clone(),
            buffer: kept.buffer,
            from: self
                .at(&kept.index, row)
                .substitute(&|symbol| (symbol == walk.var).then(|| Expr::sym(var))),
        };
        let body: Vec<Stmt> = self.kept.iter().filter(|kept| kept.is_of_row).map(fetch).collect();
        (!body.is_empty()).then(|| Stmt::For(Loop { var, body, ..walk }))
    }

    /// Whether an index is known before the loop, except for the row and the element.
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

    /// A scalar of a row, loaded an iteration ahead: an accumulator holds it from the previous iteration.
    fn scalar_ahead(
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
        let (following, next) = self.load(dtype, buffer.into(), self.at(index, &self.ahead(1)));
        before.extend([first, Stmt::Open { accumulator, init }]);
        ahead.extend([next, Stmt::Set { accumulator, value: following }]);
        Stmt::Get { value, accumulator }
    }

    /// Rewrites a statement of the loop: a loop in which lanes walk a row reads their arrays instead of loading.
    fn rewrite_statement(&mut self, statement: Stmt, is_later: bool) -> Stmt {
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
            Some(place) => {
                let Kept { array, is_of_row, .. } = self.kept[place];
                let slot = self.slot.filter(|_| is_of_row).map_or(Expr::zero(), Expr::sym);
                let index = slot * self.row_len() + Expr::sym(lanes.var) - lanes.begin.clone();
                Stmt::Load { value: *value, place: array.into(), index, guard: None }
            }
            None => statement.clone(),
        }
    }

    fn is_fetched(&self) -> bool {
        self.slot.is_some()
    }

    /// The number of the array that keeps what a statement loads. Registers keep nothing that only a later stage reads.
    fn kept(
        &mut self,
        value: Value,
        buffer: Buffer,
        index: &Expr,
        lanes: &Loop,
        is_later: bool,
    ) -> Option<usize> {
        let var = self.walk.as_ref()?.var;
        let index = index.substitute(&|symbol| (symbol == lanes.var).then(|| Expr::sym(var)));
        let (is_known, is_of_row) = (self.is_known(&index, Some(var)), self.is_of_row(&index, Some(var)));
        let dtype = self.kernel.values[value];
        let known = self.kept.iter().position(|kept| (kept.buffer, &kept.index) == (buffer, &index));
        let place = match known {
            Some(place) => place,
            None if is_known && index.mentions(var) && (self.is_fetched() || !(is_of_row && is_later)) => {
                let rows = match self.ring {
                    Ring::Fetched(slots) if is_of_row => slots,
                    _ => 1,
                };
                let array = self.array(dtype, rows);
                self.kept.push(Kept { buffer, index, dtype, array, is_of_row, next: None });
                self.kept.len() - 1
            }
            None => return None,
        };
        if is_of_row && is_later && !self.is_fetched() && self.kept[place].next.is_none() {
            self.kept[place].next = Some(self.array(dtype, 1));
        }
        Some(place)
    }

    /// The number of elements of a row.
    fn row_len(&self) -> Expr {
        self.walk.as_ref().map_or(Expr::zero(), |walk| walk.end.clone() - walk.begin.clone())
    }

    /// A new array for a lane's elements of `rows` rows.
    fn array(&mut self, dtype: DType, rows: u32) -> Scratch {
        let len = self.row_len() * Expr::constant(rows.into());
        self.kernel.scratch.push(ScratchDecl { dtype, len, private: true })
    }

    /// The loop in which lanes load their elements of a row.
    fn fill_loop(&mut self, row: &Expr, which: impl Fn(&Kept) -> bool) -> Option<Stmt> {
        let is_first = *row == self.first;
        let loads = self.kept.iter().filter(|kept| which(kept));
        let to = |kept: &Kept| kept.next.filter(|_| !is_first).unwrap_or(kept.array);
        let loads = loads.map(|kept| (kept.dtype, kept.buffer.into(), self.at(&kept.index, row), to(kept)));
        let loads = loads.collect();
        self.copy_loop(loads)
    }

    /// The loop in which a row replaces the one before.
    fn move_loop(&mut self) -> Option<Stmt> {
        let (var, begin) = self.walk.as_ref().map(|walk| (walk.var, walk.begin.clone()))?;
        let at = Expr::sym(var) - begin;
        let moved = |kept: &Kept| Some((kept.dtype, kept.next?.into(), at.clone(), kept.array));
        let moves = self.kept.iter().filter_map(moved).collect();
        self.copy_loop(moves)
    }

    /// A loop over lanes that copies elements to arrays: dtype, from where in the first stage's loop, and to which array.
    fn copy_loop(&mut self, copies: Vec<(DType, Place, Expr, Scratch)>) -> Option<Stmt> {
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
