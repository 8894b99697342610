//! Loops in which a lane takes neighbouring iterations: which accesses are contiguous, and the same kernel with one
//! iteration at a time, for machines whose lanes are elements of a vector.

use std::collections::BTreeSet;

use index::{Expr, Sym};
use rustc_hash::FxHashMap;

use super::{Buffer, Kernel, Loop, LoopKind, Place, Stmt};

/// Whether an index increases by one with a variable.
pub fn is_contiguous(index: &Expr, var: Sym) -> bool {
    let next = index.substitute(&|symbol| (symbol == var).then(|| Expr::sym(var) + 1));
    (next - index.clone()).is_one()
}

/// The memory that lanes which take several iterations at a time access contiguously.
#[derive(Clone, Debug, Default)]
pub struct ContiguousAccesses {
    /// The buffers whose neighbouring elements they access.
    pub buffers: BTreeSet<Buffer>,
    /// The symbols that decide whether these are whole vectors.
    pub symbols: BTreeSet<Sym>,
    /// Those of them that are the length of a loop.
    pub lengths: BTreeSet<Sym>,
}

impl ContiguousAccesses {
    /// Those of a kernel.
    pub fn of(kernel: &Kernel) -> ContiguousAccesses {
        let mut found = ContiguousAccesses::default();
        found.body(&kernel.body, None);
        found
    }

    /// Those of statements within the loop over lanes with this variable, if it takes several at a time.
    fn body(&mut self, body: &[Stmt], var: Option<Sym>) {
        for statement in body {
            match statement {
                Stmt::For(inner) if inner.width > 1 => {
                    let count = inner.end.clone() - inner.begin.clone();
                    self.symbols.extend(count.symbols());
                    self.lengths.extend(count.as_sym());
                    self.body(&inner.body, Some(inner.var));
                }
                Stmt::For(inner) => self.body(&inner.body, var),
                Stmt::Load { place: Place::Buffer(buffer), index, .. }
                | Stmt::Store { place: Place::Buffer(buffer), index, .. }
                    if var.is_some_and(|var| is_contiguous(index, var)) =>
                {
                    self.buffers.insert(*buffer);
                    self.symbols.extend(index.symbols());
                }
                Stmt::Fetch { buffer, from, index, .. }
                    if var.is_some_and(|var| is_contiguous(from, var)) =>
                {
                    self.buffers.insert(*buffer);
                    self.symbols.extend(from.symbols());
                    self.symbols.extend(index.symbols());
                }
                _ => {}
            }
        }
    }
}

/// Whether lanes take several iterations of some loop at a time.
pub fn has_width(kernel: &Kernel) -> bool {
    fn any(body: &[Stmt]) -> bool {
        let wide =
            |statement: &Stmt| matches!(statement, Stmt::For(inner) if inner.width > 1 || any(&inner.body));
        body.iter().any(wide)
    }
    any(&kernel.body)
}

/// An equivalent kernel in which lanes take one iteration at a time: `for x in b .. e lanes by 4` becomes
///
/// ```text
/// for x_strip in 0 .. ceil(e - b, 4 * lanes)
///   for x_place in 0 .. 4
///     for x_lane in 0 .. … lanes      x = b + 4 * lanes * x_strip + 4 * x_lane + x_place
/// ```
///
/// Each lane takes what it took before, in the same order.
pub fn one_at_a_time(kernel: &Kernel) -> Kernel {
    let mut narrow = kernel.clone();
    let body = std::mem::take(&mut narrow.body);
    narrow.body = body.into_iter().map(|statement| rewritten(statement, &mut narrow)).collect();
    narrow
}

fn rewritten(statement: Stmt, kernel: &mut Kernel) -> Stmt {
    let Stmt::For(mut for_loop) = statement else { return statement };
    let body = std::mem::take(&mut for_loop.body);
    for_loop.body = body.into_iter().map(|statement| rewritten(statement, kernel)).collect();
    Stmt::For(if for_loop.width == 1 { for_loop } else { strips(for_loop, kernel) })
}

/// The loops over strips, places and lanes that replace a loop with a width.
fn strips(for_loop: Loop, kernel: &mut Kernel) -> Loop {
    let width = Expr::constant(for_loop.width.into());
    let strip = width.clone() * Expr::constant(kernel.lanes.into());
    let name = kernel.symbols[for_loop.var].clone();
    let [strip_var, place_var, lane_var] =
        ["strip", "place", "lane"].map(|part| fresh(kernel, format!("{name}_{part}")));
    let count = for_loop.end.clone() - for_loop.begin.clone();
    let first = Expr::sym(strip_var) * strip.clone() + Expr::sym(place_var);
    let left = Expr::max(&(count.clone() - first.clone()), &Expr::zero()).ceil_div(&width);
    let lanes = Expr::min(&left, &Expr::constant(kernel.lanes.into()));
    let index = for_loop.begin + first + Expr::sym(lane_var) * width.clone();
    let replaced = FxHashMap::from_iter([(for_loop.var, index)]);
    let serial =
        |var, end, body| Loop { var, begin: Expr::zero(), end, kind: LoopKind::Serial, width: 1, body };
    let exact = for_loop.kind == LoopKind::ExactLanes;
    let within = Loop {
        var: lane_var,
        begin: Expr::zero(),
        end: if exact { Expr::constant(kernel.lanes.into()) } else { lanes },
        kind: for_loop.kind,
        width: 1,
        body: for_loop.body.into_iter().map(|statement| substituted(statement, &replaced)).collect(),
    };
    let places = serial(place_var, width, vec![Stmt::For(within)]);
    serial(strip_var, Expr::max(&count, &Expr::zero()).ceil_div(&strip), vec![Stmt::For(places)])
}

/// The same loop with a variable that counts from 0.
pub fn from_zero(for_loop: &Loop) -> Loop {
    if for_loop.begin.is_zero() {
        return for_loop.clone();
    }
    let replaced = FxHashMap::from_iter([(for_loop.var, for_loop.begin.clone() + Expr::sym(for_loop.var))]);
    let body = for_loop.body.iter().cloned().map(|statement| substituted(statement, &replaced)).collect();
    let end = for_loop.end.clone() - for_loop.begin.clone();
    Loop { begin: Expr::zero(), end, body, ..*for_loop }
}

/// A new symbol of this name, followed by a number if that is taken.
pub fn fresh(kernel: &mut Kernel, name: String) -> Sym {
    let is_free = |name: &str| kernel.symbols.values().all(|known| known != name);
    let numbered = (1..).map(|number| format!("{name}_{number}"));
    let name = std::iter::once(name.clone()).chain(numbered).find(|name| is_free(name));
    kernel.symbols.push(name.expect("numbers do not run out"))
}

/// A statement in whose index expressions symbols are replaced.
fn substituted(statement: Stmt, replaced: &FxHashMap<Sym, Expr>) -> Stmt {
    let of = |index: Expr| index.substitute(&|symbol| replaced.get(&symbol).cloned());
    match statement {
        Stmt::Index { value, index } => Stmt::Index { value, index: of(index) },
        Stmt::Load { value, place, index, guard } => Stmt::Load { value, place, index: of(index), guard },
        Stmt::Store { place, index, value, guard } => Stmt::Store { place, index: of(index), value, guard },
        Stmt::Prefetch { buffer, index, l2 } => Stmt::Prefetch { buffer, index: of(index), l2 },
        Stmt::Fetch { scratch, index, buffer, from } => {
            Stmt::Fetch { scratch, index: of(index), buffer, from: of(from) }
        }
        Stmt::For(for_loop) => {
            let body = for_loop.body.into_iter().map(|statement| substituted(statement, replaced)).collect();
            Stmt::For(Loop { begin: of(for_loop.begin), end: of(for_loop.end), body, ..for_loop })
        }
        Stmt::Apply { .. }
        | Stmt::Cast { .. }
        | Stmt::Const { .. }
        | Stmt::Bind { .. }
        | Stmt::Fault { .. }
        | Stmt::Open { .. }
        | Stmt::Get { .. }
        | Stmt::Set { .. }
        | Stmt::Reduce { .. }
        | Stmt::Await { .. }
        | Stmt::Barrier => statement,
    }
}
