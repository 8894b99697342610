//! Which private arrays are in registers: those that lanes always walk in the same few steps, so that each element has a
//! fixed place among a lane's registers.

use cranelift_entity::SecondaryMap;
use index::{Atom, Expr, Facts};
use kernel::{Kernel, Loop, Place, Scratch, ScratchDecl, Stmt, is_contiguous};
use ops::DType;

use super::EmitError;
use super::accesses::{VectorAccesses, assumed};
use super::dialect::Dialect;
use super::vectorized::loaded_value;

/// The vectors of an array that a lane holds.
#[derive(Clone, Copy)]
pub(super) struct Held {
    /// How many.
    pub(super) count: i64,
    /// The elements of each.
    pub(super) width: u32,
    /// The array whose registers it uses: its own, or those of one that is no longer read when this one is stored.
    pub(super) place: Scratch,
}

/// The arrays of a kernel that are in registers.
#[derive(Default)]
pub(super) struct Registers {
    held: SecondaryMap<Scratch, Option<Held>>,
}

impl Registers {
    /// The vectors that a lane holds of an array, if it is in registers.
    pub(super) fn get(&self, array: Scratch) -> Option<Held> {
        self.held[array]
    }

    /// The registers of the array that a statement accesses: its own, or those of the array that it replaces.
    pub(super) fn of(&self, statement: &Stmt) -> Option<Scratch> {
        match statement {
            Stmt::Load { place: Place::Scratch(array), .. }
            | Stmt::Store { place: Place::Scratch(array), .. } => self.held[*array].map(|held| held.place),
            _ => None,
        }
    }

    /// Whether a loop stores to the registers that a statement of it loads: a delayed use must not read them later.
    pub(super) fn are_replaced(&self, for_loop: &Loop, load: &Stmt) -> bool {
        let replaces = |statement: &Stmt| {
            let is_store = matches!(statement, Stmt::Store { .. });
            is_store && self.of(statement) == self.of(load)
        };
        for_loop.body.iter().any(replaces)
    }

    /// The registers to which a loop stores what it loads: they are loaded directly, without a use in between.
    pub(super) fn filled(&self, for_loop: &Loop, load: &Stmt) -> Option<Scratch> {
        let Stmt::Load { value: loaded, .. } = load else { return None };
        let is_kept = |it: &&Stmt| matches!(it, Stmt::Store { value, .. } if value == loaded);
        let store = for_loop.body.iter().filter(is_kept).find(|store| self.of(store).is_some())?;
        let array = self.of(store);
        let is_read = |it: &Stmt| matches!(it, Stmt::Load { .. }) && self.of(it) == array;
        array.filter(|_| !for_loop.body.iter().any(is_read))
    }

    /// Whether a statement of a loop stores a value that one of its vector loads has placed there already.
    pub(super) fn is_filled(&self, for_loop: &Loop, accesses: &VectorAccesses, store: &Stmt) -> bool {
        let Stmt::Store { value, .. } = store else { return false };
        let mut loads = accesses.loads.iter().map(|&place| &for_loop.body[place]);
        loads.any(|load| {
            load.defined() == [*value]
                && self.filled(for_loop, load).is_some_and(|array| self.of(store) == Some(array))
        })
    }

    /// The name of the vectors that a load fills: the registers that keep it, or its own.
    pub(super) fn vectors(&self, for_loop: &Loop, place: usize) -> String {
        match self.filled(for_loop, &for_loop.body[place]) {
            Some(array) => array.to_string(),
            None => loaded_value(for_loop, place).to_string(),
        }
    }

    /// The moves of a loop between registers, if it does nothing else.
    pub(super) fn moves(&self, for_loop: &Loop) -> Option<Vec<(Scratch, Scratch)>> {
        let moved = |pair: &[Stmt]| Some((self.filled(for_loop, &pair[0])?, self.of(&pair[0])?));
        for_loop.body.chunks(2).map(moved).collect()
    }
}

/// For each array in registers, the vectors that a lane holds of it: `most` at most, as the loops over them are unrolled.
pub(super) fn registers(kernel: &Kernel, most: i64) -> Registers {
    let facts = assumed(kernel);
    let mut scan = Scan { facts: &facts, walks: SecondaryMap::new(), lives: SecondaryMap::new(), met: 0 };
    scan.body(&kernel.body, None, 0);
    let mut found = SecondaryMap::new();
    for (array, _) in kernel.scratch.iter().filter(|(_, decl)| decl.private) {
        if let Walk::Same(walk) = &scan.walks[array] {
            let count = trip_count(walk, kernel.lanes, &facts).filter(|count| (1..=most).contains(count));
            found[array] = count.map(|count| Held { count, width: walk.width, place: array });
        }
    }
    share(kernel, &scan, &mut found);
    Registers { held: found }
}

/// An error if a lane keeps more than it has registers for: compilers would spill it to memory.
pub(super) fn fit(kernel: &Kernel, registers: &Registers, dialect: &Dialect) -> Result<(), EmitError> {
    let of_array = |(array, decl): (Scratch, &ScratchDecl)| {
        let held = registers.get(array).filter(|held| held.place == array)?;
        Some(held.count as u64 * u64::from(held.width) * decl.dtype.size() as u64)
    };
    let bytes: u64 = kernel.scratch.iter().filter_map(of_array).sum();
    let lanes = kernel.threads();
    let most = (dialect.vectors.register_bytes)(lanes);
    let too_many = || EmitError::Registers { kernel: kernel.name.clone(), bytes, most, lanes };
    if bytes > most { Err(too_many()) } else { Ok(()) }
}

/// Gives arrays the registers of others that are walked alike and no longer read when these are stored.
fn share(kernel: &Kernel, scan: &Scan<'_, '_>, found: &mut SecondaryMap<Scratch, Option<Held>>) {
    let mut ends: Vec<(Scratch, usize)> = Vec::new();
    for (array, decl) in kernel.scratch.iter().filter(|(_, decl)| decl.dtype != DType::Bool) {
        let (Some(held), Some(lived)) = (found[array], scan.lives[array]) else { continue };
        let fits = |&(place, end): &(Scratch, usize)| {
            let (other, body) = (found[place], scan.lives[place].map(|life| life.body));
            let is_alike = other.is_some_and(|other| (other.count, other.width) == (held.count, held.width));
            is_alike
                && kernel.scratch[place].dtype == decl.dtype
                && body == Some(lived.body)
                && end < lived.first
        };
        match ends.iter().position(fits) {
            Some(free) => {
                ends[free].1 = lived.last;
                found[array] = Some(Held { place: ends[free].0, ..held });
            }
            None => ends.push((array, lived.last)),
        }
    }
}

/// The live range of an array that each iteration of the outer loops first stores.
#[derive(Clone, Copy)]
struct Life {
    /// The number of the body that has the loops over lanes.
    body: usize,
    /// The numbers of the first and of the last statement.
    first: usize,
    last: usize,
}

/// The most iterations of a lane in a loop, if that does not depend on sizes.
pub(super) fn trip_count(for_loop: &Loop, lanes: u32, facts: &Facts) -> Option<i64> {
    let count = |end: &Expr| end.clone() - for_loop.begin.clone();
    let bound = facts.bounds(&count(&for_loop.end)).hi().and_then(|hi| i64::try_from(hi).ok());
    let operands = match for_loop.end.as_atom() {
        Some(Atom::Min(a, b)) => vec![a, b],
        _ => Vec::new(),
    };
    let most = bound.into_iter().chain(operands.into_iter().filter_map(|end| count(end).as_const())).min()?;
    let strip = i64::from(for_loop.width) * i64::from(lanes);
    Some(most.max(0).div_euclid(strip) + i64::from(most.max(0).rem_euclid(strip) > 0))
}

/// How an array is walked.
#[derive(Clone, Default)]
enum Walk<'k> {
    #[default]
    Nowhere,
    /// By loops like this one, element by element.
    Same(&'k Loop),
    /// In more than one way.
    Otherwise,
}

struct Scan<'k, 'f> {
    facts: &'f Facts,
    walks: SecondaryMap<Scratch, Walk<'k>>,
    lives: SecondaryMap<Scratch, Option<Life>>,
    /// How many statements were met.
    met: usize,
}

impl<'k> Scan<'k, '_> {
    /// The statements of a body, and the number of the body around it.
    fn body(&mut self, body: &'k [Stmt], directly_in: Option<&'k Loop>, around: usize) {
        let own = self.met;
        for statement in body {
            self.met += 1;
            match statement {
                Stmt::For(inner) => self.body(&inner.body, Some(inner).filter(|inner| inner.width > 1), own),
                Stmt::Load { place: Place::Scratch(array), index, guard, .. }
                | Stmt::Store { place: Place::Scratch(array), index, guard, .. } => {
                    let here = directly_in.filter(|walk| guard.is_none() && self.is_place(walk, index));
                    self.walks[*array] = match (&self.walks[*array], here) {
                        (Walk::Nowhere, Some(here)) => Walk::Same(here),
                        (Walk::Same(known), Some(here)) if alike(known, here) => Walk::Same(here),
                        _ => Walk::Otherwise,
                    };
                    self.note(*array, matches!(statement, Stmt::Store { .. }), around);
                }
                Stmt::Fetch { scratch, .. } => self.walks[*scratch] = Walk::Otherwise,
                _ => {}
            }
        }
    }

    /// Notes an access in a loop of a body; an array that is read before it is stored lives into the next iteration.
    fn note(&mut self, array: Scratch, stores: bool, body: usize) {
        let life = match self.lives[array] {
            None if stores => Life { body, first: self.met, last: self.met },
            Some(life) if life.body == body => Life { last: self.met, ..life },
            _ => Life { body, first: 0, last: usize::MAX },
        };
        self.lives[array] = Some(life);
    }

    /// Whether an index is the number of the loop's iteration, of whole vectors.
    fn is_place(&self, walk: &Loop, index: &Expr) -> bool {
        let first = index.substitute(&|symbol| (symbol == walk.var).then(|| walk.begin.clone()));
        let count = walk.end.clone() - walk.begin.clone();
        let whole = self.facts.prove_divides(&Expr::constant(walk.width.into()), &count);
        whole && first.is_zero() && is_contiguous(index, walk.var)
    }
}

fn alike(a: &Loop, b: &Loop) -> bool {
    (&a.begin, &a.end, a.width) == (&b.begin, &b.end, b.width)
}
