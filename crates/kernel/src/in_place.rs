//! Whether a kernel's output may share the memory of its input.
//!
//! Takes a kernel and two of its buffers; says yes only if every loaded element is stored later, by the same block, at the
//! corresponding place. Lanes are assumed to run in step, like those of a vector.

use index::{Expr, Facts, Sym};

use super::program::{Buffer, Kernel, Loop, Place, Stmt};
use super::strips::strip_length;

/// Whether the buffers `read` and `written` may be the same memory: no element is loaded after it was stored. `same` maps
/// the symbols with equal values in that case: the strides of the two.
pub fn may_share_memory(
    kernel: &Kernel,
    read: Buffer,
    written: Buffer,
    same: &dyn Fn(Sym) -> Option<Expr>,
) -> bool {
    let mut touches = Touches { read, written, loads: Vec::new(), stores: Vec::new(), is_fetched: false };
    touches.collect(&kernel.body, &mut Around::default());
    !touches.is_fetched && touches.loads.iter().all(|load| is_loaded_first(load, &touches.stores, same))
}

/// The loops around a statement, and its position.
#[derive(Clone, Default)]
struct Around<'k> {
    loops: Vec<&'k Loop>,
    /// The number of the statement in each body, from the kernel's inward: program order, compared from the left.
    path: Vec<usize>,
}

/// A load of an element.
struct Load<'k> {
    index: &'k Expr,
    around: Around<'k>,
}

/// A store of an element.
struct Store<'k> {
    index: &'k Expr,
    /// Whether it is left out in some iterations of its loops.
    is_guarded: bool,
    around: Around<'k>,
}

/// All loads of one buffer and all stores to another.
struct Touches<'k> {
    read: Buffer,
    written: Buffer,
    loads: Vec<Load<'k>>,
    stores: Vec<Store<'k>>,
    /// Whether elements are fetched.
    is_fetched: bool,
}

impl<'k> Touches<'k> {
    /// Adds those of a body inside these loops.
    fn collect(&mut self, body: &'k [Stmt], around: &mut Around<'k>) {
        for (number, stmt) in body.iter().enumerate() {
            around.path.push(number);
            match stmt {
                Stmt::Load { place: Place::Buffer(buffer), index, .. } if *buffer == self.read => {
                    self.loads.push(Load { index, around: around.clone() });
                }
                Stmt::Store { place: Place::Buffer(buffer), index, guard, .. } if *buffer == self.written => {
                    let is_guarded = guard.is_some();
                    self.stores.push(Store { index, is_guarded, around: around.clone() });
                }
                // It may be loaded at any time until it is awaited.
                Stmt::Fetch { buffer, .. } if *buffer == self.read => self.is_fetched = true,
                Stmt::For(for_loop) => {
                    around.loops.push(for_loop);
                    self.collect(&for_loop.body, around);
                    around.loops.pop();
                }
                _ => {}
            }
            around.path.pop();
        }
    }
}

/// Whether no element that is loaded was stored before.
fn is_loaded_first(load: &Load<'_>, stores: &[Store<'_>], same: &dyn Fn(Sym) -> Option<Expr>) -> bool {
    let mut all_known = true;
    for store in stores {
        match order(load, store, same) {
            // A kernel stores each element once: if one store is known to store the loaded element, no other does.
            Order::StoredThen => return true,
            Order::NotBefore => {}
            Order::Unknown => all_known = false,
        }
    }
    all_known
}

/// What is known about a load and a store.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Each loaded element is stored later by this store.
    StoredThen,
    /// No element is loaded after it was stored by this store.
    NotBefore,
    /// Nothing.
    Unknown,
}

/// Whether a loop from `begin` to `end` is a strip of another loop, numbered by `strip` from 0.
fn is_strip(strip: &Loop, begin: &Expr, end: &Expr, whole: &Loop) -> bool {
    let length = strip_length(strip.var, [begin, end], [&whole.begin, &whole.end]);
    strip.begin.is_zero() && length.is_some_and(|length| Facts::default().prove_lt(&Expr::zero(), &length))
}

/// Whether the load of each element comes before its store, and whether there is one. A kernel stores each element once; so
/// if both have the same index in the loops that they share and in corresponding inner loops (or strips of one), the loaded
/// element is the one stored later in the same iteration of the shared loops.
fn order(load: &Load<'_>, store: &Store<'_>, same: &dyn Fn(Sym) -> Option<Expr>) -> Order {
    let (loaded, stored) = (&load.around, &store.around);
    let shared = loaded.loops.iter().zip(&stored.loops).take_while(|(a, b)| std::ptr::eq(**a, **b)).count();
    let mut free: Vec<&Loop> = stored.loops[shared..].to_vec();
    let mut renamed: Vec<(Sym, Sym)> = Vec::new();
    for for_loop in &loaded.loops[shared..] {
        let rename = |expr: &Expr| {
            expr.substitute(&|sym| renamed.iter().find(|(own, _)| *own == sym).map(|(_, to)| Expr::sym(*to)))
        };
        let (begin, end) = (rename(&for_loop.begin), rename(&for_loop.end));
        let alike = |other: &&Loop| other.begin == begin && other.end == end;
        let strips = &loaded.loops[shared..];
        let around = |other: &&Loop| strips.iter().any(|strip| is_strip(strip, &begin, &end, other));
        if let Some(place) = free.iter().position(alike).or_else(|| free.iter().position(around)) {
            renamed.push((for_loop.var, free.remove(place).var));
        } else if load.index.symbols().contains(&for_loop.var) {
            return Order::Unknown;
        }
    }
    let rename = |sym: Sym| renamed.iter().find(|(own, _)| *own == sym).map(|(_, to)| Expr::sym(*to));
    let same_index = load.index.substitute(&rename) == store.index.substitute(same);
    match loaded.path < stored.path && same_index {
        true if !store.is_guarded && free.is_empty() => Order::StoredThen,
        true => Order::NotBefore,
        false => Order::Unknown,
    }
}
