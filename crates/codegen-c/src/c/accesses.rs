//! Which accesses of a loop move whole vectors, and the facts about a launch that allow it.

use index::{Expr, Facts};
use kernel::{Assumption, Kernel, Loop, Place, Scratch, Stmt, VECTOR_BYTES, is_contiguous};

use super::arrays::Arrays;
use super::dialect::Dialect;

/// The vector accesses of a loop: positions in its body.
#[derive(Default)]
pub(super) struct VectorAccesses {
    pub(super) loads: Vec<usize>,
    pub(super) stores: Vec<usize>,
    /// Loads from scratch of elements that the loop replaces there.
    pub(super) updated: Vec<usize>,
    pub(super) fetches: Vec<usize>,
}

impl VectorAccesses {
    /// Those of a loop of a kernel: unguarded ones with aligned neighbours, with which no other access of the loop can
    /// interfere.
    pub(super) fn of(for_loop: &Loop, kernel: &Kernel, arrays: &Arrays, facts: &Facts) -> VectorAccesses {
        let neighbours = Neighbours { for_loop, kernel, arrays, facts };
        let symbol = |it: &Stmt| if let Stmt::Bind { symbol, .. } = it { Some(*symbol) } else { None };
        let bound: Vec<_> = for_loop.body.iter().filter_map(symbol).collect();
        let mut accesses = VectorAccesses::default();
        for (number, statement) in for_loop.body.iter().enumerate() {
            let (place, index, mut list) = match statement {
                _ if arrays.registers.of(statement).is_some() => continue,
                Stmt::Load { place, index, guard: None, .. } => (*place, index, &mut accesses.loads),
                Stmt::Store { place, index, guard: None, .. } => (*place, index, &mut accesses.stores),
                Stmt::Fetch { scratch, index, buffer, from } => {
                    if neighbours.are_aligned((*scratch).into(), index)
                        && neighbours.are_aligned((*buffer).into(), from)
                    {
                        accesses.fetches.push(number);
                    }
                    continue;
                }
                _ => continue,
            };
            let is_outside = bound.iter().all(|&symbol| !index.mentions(symbol));
            let is_alone = match (place, count_accesses(&for_loop.body, place)) {
                (Place::Buffer(_), _) | (_, 1) => true,
                (_, 2) if updates(&for_loop.body, place) => {
                    if let Stmt::Load { .. } = statement {
                        list = &mut accesses.updated;
                    }
                    true
                }
                _ => false,
            };
            if is_outside && is_alone && neighbours.are_aligned(place, index) {
                list.push(number);
            }
        }
        accesses
    }
}

/// The neighbours that a lane takes in a loop.
struct Neighbours<'l> {
    for_loop: &'l Loop,
    kernel: &'l Kernel,
    arrays: &'l Arrays,
    facts: &'l Facts,
}

impl Neighbours<'_> {
    /// Whether those of an access are contiguous, from an address on that allows a vector.
    fn are_aligned(&self, place: Place, index: &Expr) -> bool {
        let for_loop = self.for_loop;
        let (size, align) = match place {
            Place::Buffer(buffer) => {
                let decl = &self.kernel.buffers[buffer];
                (decl.dtype.size() as u32, decl.align)
            }
            Place::Scratch(scratch) => {
                let at = |(array, offset): &(Scratch, Expr)| {
                    *array == scratch
                        && self.facts.prove_divides(&Expr::constant(VECTOR_BYTES.into()), offset)
                };
                let whole = self.arrays.layout.offsets.iter().any(at);
                let size = self.kernel.scratch[scratch].dtype.size() as u32;
                (size, if whole { VECTOR_BYTES } else { size })
            }
        };
        let bytes = (size * for_loop.width).min(VECTOR_BYTES);
        let elements = Expr::constant(i64::from(bytes / size));
        let first = index.substitute(&|symbol| (symbol == for_loop.var).then(|| for_loop.begin.clone()));
        align >= bytes && is_contiguous(index, for_loop.var) && self.facts.prove_divides(&elements, &first)
    }
}

/// The facts about a launch that follow from its kernel's assumptions.
pub(super) fn assumed(kernel: &Kernel) -> Facts {
    let mut facts = Facts::new();
    facts.assume_range(kernel.block, 0, None);
    for &assumption in &kernel.assumptions {
        match assumption {
            Assumption::Multiple { symbol, of } => facts.assume_multiple(&Expr::sym(symbol), of),
            Assumption::AtMost { symbol, most } => facts.assume_range(symbol, 0, most),
        }
    }
    facts
}

/// The same, and that no launch has more blocks than the dialect allows.
pub(super) fn launched(kernel: &Kernel, dialect: &Dialect) -> Facts {
    let mut facts = assumed(kernel);
    let most = dialect.block.most.saturating_mul(kernel.teams.into()) / i64::from(kernel.cluster);
    facts.assume_range(kernel.block, 0, most - 1);
    facts
}

/// Whether a body loads an element of a place and then stores it, and does nothing else with the place in these statements.
fn updates(body: &[Stmt], wanted: Place) -> bool {
    let load = body.iter().position(|it| matches!(it, Stmt::Load { place, .. } if *place == wanted));
    let store = body.iter().position(|it| matches!(it, Stmt::Store { place, .. } if *place == wanted));
    let (Some(load), Some(store)) = (load, store) else { return false };
    match (&body[load], &body[store]) {
        (Stmt::Load { index: loaded, .. }, Stmt::Store { index: stored, .. }) => {
            load < store && loaded == stored
        }
        _ => false,
    }
}

/// How many statements access a place, those of loops within included.
fn count_accesses(body: &[Stmt], wanted: Place) -> usize {
    let of = |statement: &Stmt| match statement {
        Stmt::Load { place, .. } | Stmt::Store { place, .. } => usize::from(*place == wanted),
        Stmt::For(inner) => count_accesses(&inner.body, wanted),
        _ => 0,
    };
    body.iter().map(of).sum()
}
