//! Asynchronous copies of a kernel: their destinations, and the kernel without them, for machines that lack them.

use std::collections::BTreeSet;

use super::{Kernel, Loop, Place, Scratch, Stmt};

/// The arrays that a kernel fetches elements to: they are in memory, though each element is of one lane.
pub fn fetched_arrays(kernel: &Kernel) -> BTreeSet<Scratch> {
    fn collect(body: &[Stmt], found: &mut BTreeSet<Scratch>) {
        for statement in body {
            match statement {
                Stmt::Fetch { scratch, .. } => drop(found.insert(*scratch)),
                Stmt::For(inner) => collect(&inner.body, found),
                _ => {}
            }
        }
    }
    let mut found = BTreeSet::new();
    collect(&kernel.body, &mut found);
    found
}

/// An equivalent kernel that loads and stores what this one fetches.
pub fn synchronous(kernel: &Kernel) -> Kernel {
    let mut copying = kernel.clone();
    let body = std::mem::take(&mut copying.body);
    copying.body = rewritten(body, &mut copying);
    copying
}

fn rewritten(body: Vec<Stmt>, kernel: &mut Kernel) -> Vec<Stmt> {
    let mut written = Vec::with_capacity(body.len());
    for statement in body {
        match statement {
            Stmt::Fetch { scratch, index, buffer, from } => {
                let value = kernel.values.push(kernel.buffers[buffer].dtype);
                written.push(Stmt::Load { value, place: buffer.into(), index: from, guard: None });
                written.push(Stmt::Store { place: Place::Scratch(scratch), index, value, guard: None });
            }
            Stmt::Await { .. } => {}
            Stmt::For(inner) => {
                let body = rewritten(inner.body, kernel);
                written.push(Stmt::For(Loop { body, ..inner }));
            }
            other => written.push(other),
        }
    }
    written
}
