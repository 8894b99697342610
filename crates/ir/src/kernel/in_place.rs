//! Whether what a kernel writes may lie in the memory of what it reads.
//!
//! Takes a kernel and two of its buffers; says yes only where every element that is loaded is stored later, by the same
//! block, at the place that corresponds. Lanes are taken to run in step, as those of a vector do.

use super::program::{Buffer, Kernel, Loop, Place, Stmt};
use crate::index::{Expr, Sym};

/// A load or store with the loops around it.
struct Touch<'k> {
    index: &'k Expr,
    /// Whether it is done in each turn of its loops.
    always: bool,
    loops: Vec<&'k Loop>,
    /// The number of the statement in each body, from the kernel's inward: program order, compared from the left.
    path: Vec<usize>,
}

/// Whether the buffers `read` and `written` may be the same memory: no element is loaded after it was stored. `same`
/// says which symbols have equal values then, namely the strides of the two.
pub fn may_share_memory(
    kernel: &Kernel,
    read: Buffer,
    written: Buffer,
    same: &dyn Fn(Sym) -> Option<Expr>,
) -> bool {
    let (mut loads, mut stores) = (Vec::new(), Vec::new());
    let mut visit = |stmt: &'_ Stmt| match stmt {
        Stmt::Load { place: Place::Buffer(buffer), .. } if *buffer == read => Some(true),
        Stmt::Store { place: Place::Buffer(buffer), .. } if *buffer == written => Some(false),
        _ => None,
    };
    collect(&kernel.body, &mut Vec::new(), &mut Vec::new(), &mut visit, &mut loads, &mut stores);
    loads.iter().all(|load| {
        let mut orders = stores.iter().map(|store| order(load, store, same));
        let mut all_known = true;
        // A kernel stores each element once: where one store is known to store what was loaded, no other does.
        orders.any(|order| {
            all_known &= order != Order::Unknown;
            order == Order::StoredThen
        }) || all_known
    })
}

/// What is known of a load and a store.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Each element that is loaded is stored later by this store.
    StoredThen,
    /// No element is loaded after it was stored by this store.
    NotBefore,
    /// Nothing.
    Unknown,
}

fn collect<'k>(
    body: &'k [Stmt],
    loops: &mut Vec<&'k Loop>,
    path: &mut Vec<usize>,
    is_load: &mut dyn FnMut(&Stmt) -> Option<bool>,
    loads: &mut Vec<Touch<'k>>,
    stores: &mut Vec<Touch<'k>>,
) {
    for (number, stmt) in body.iter().enumerate() {
        path.push(number);
        match (stmt, is_load(stmt)) {
            (Stmt::Load { index, guard, .. }, Some(true)) => {
                let always = guard.is_none();
                loads.push(Touch { index, always, loops: loops.clone(), path: path.clone() });
            }
            (Stmt::Store { index, guard, .. }, Some(false)) => {
                let always = guard.is_none();
                stores.push(Touch { index, always, loops: loops.clone(), path: path.clone() });
            }
            (Stmt::For(turn), _) => {
                loops.push(turn);
                collect(&turn.body, loops, path, is_load, loads, stores);
                loops.pop();
            }
            _ => {}
        }
        path.pop();
    }
}

/// Whether the load of each element comes before its store, and whether there is one. A kernel stores each element once; so where the two have
/// the same index in the loops that they share and in loops that correspond beyond these, the element that is loaded
/// is the one stored later in the same turn of the shared loops.
fn order(load: &Touch<'_>, store: &Touch<'_>, same: &dyn Fn(Sym) -> Option<Expr>) -> Order {
    let shared = load.loops.iter().zip(&store.loops).take_while(|(a, b)| std::ptr::eq(**a, **b)).count();
    let mut free: Vec<&Loop> = store.loops[shared..].to_vec();
    let mut renamed: Vec<(Sym, Sym)> = Vec::new();
    for turn in &load.loops[shared..] {
        let rename = |expr: &Expr| {
            expr.substitute(&|sym| renamed.iter().find(|(own, _)| *own == sym).map(|(_, to)| Expr::sym(*to)))
        };
        let alike = |other: &&Loop| other.begin == rename(&turn.begin) && other.end == rename(&turn.end);
        if let Some(place) = free.iter().position(alike) {
            renamed.push((turn.var, free.remove(place).var));
        } else if load.index.symbols().contains(&turn.var) {
            return Order::Unknown;
        }
    }
    let rename = |sym: Sym| renamed.iter().find(|(own, _)| *own == sym).map(|(_, to)| Expr::sym(*to));
    let stored = store.index.substitute(same);
    match load.path < store.path && load.index.substitute(&rename) == stored {
        true if store.always && free.is_empty() => Order::StoredThen,
        true => Order::NotBefore,
        false => Order::Unknown,
    }
}
