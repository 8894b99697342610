//! Which values are the same in all lanes, and which accumulators have a copy per lane.
//!
//! Takes a kernel that verifies; code generators keep uniform values in scalar registers. Decides nothing.

use std::collections::BTreeSet;

use cranelift_entity::SecondaryMap;
use index::{Expr, Sym};

use super::{Accumulator, Kernel, Loop, Stmt, Value};

/// For each value, whether it is *uniform*: equal in all lanes that compute it in the same iteration. The others are
/// *varying*. A value is varying if it depends on the variable of a loop over lanes or on an accumulator with a copy
/// per lane; inside such a loop a load from a place that is the same for all lanes is still uniform.
pub fn uniformity(kernel: &Kernel) -> SecondaryMap<Value, bool> {
    let mut scan =
        Scan { per_lane: per_lane(kernel), uniform: SecondaryMap::new(), varying: BTreeSet::new() };
    scan.body(&kernel.body);
    scan.uniform
}

/// For each accumulator, whether every lane has its own copy: it is opened or set inside a loop over lanes.
pub fn per_lane(kernel: &Kernel) -> SecondaryMap<Accumulator, bool> {
    let mut found = SecondaryMap::new();
    find_per_lane(&kernel.body, false, &mut found);
    found
}

/// The accumulators with a copy per lane, opened outside of this loop over lanes, that are equal in all lanes after all
/// lanes had an iteration if they were before: counts, but not sums of elements.
pub fn stays_even(kernel: &Kernel, for_loop: &Loop, among: &[Accumulator]) -> Vec<Accumulator> {
    if among.is_empty() {
        return Vec::new();
    }
    let mut scan =
        Scan { per_lane: per_lane(kernel), uniform: SecondaryMap::new(), varying: BTreeSet::new() };
    scan.body(&kernel.body);
    let mut even = among.to_vec();
    loop {
        even.iter().for_each(|&accumulator| scan.per_lane[accumulator] = false);
        scan.for_loop(for_loop);
        let mut uneven = BTreeSet::new();
        find_varying_sets(&for_loop.body, &scan.uniform, &mut uneven);
        if !even.iter().any(|accumulator| uneven.contains(accumulator)) {
            return even;
        }
        even.retain(|accumulator| !uneven.contains(accumulator));
        uneven.iter().for_each(|&accumulator| scan.per_lane[accumulator] = true);
    }
}

/// The accumulators that somewhere take a value that is not the same in all lanes.
fn find_varying_sets(body: &[Stmt], uniform: &SecondaryMap<Value, bool>, found: &mut BTreeSet<Accumulator>) {
    for statement in body {
        match statement {
            Stmt::Set { accumulator, value } if !uniform[*value] => {
                found.insert(*accumulator);
            }
            Stmt::For(for_loop) => find_varying_sets(&for_loop.body, uniform, found),
            _ => {}
        }
    }
}

fn find_per_lane(body: &[Stmt], in_lanes: bool, found: &mut SecondaryMap<Accumulator, bool>) {
    for statement in body {
        match statement {
            Stmt::Open { accumulator, .. } | Stmt::Set { accumulator, .. } if in_lanes => {
                found[*accumulator] = true;
            }
            Stmt::For(for_loop) => {
                find_per_lane(&for_loop.body, in_lanes || for_loop.kind.is_over_lanes(), found)
            }
            _ => {}
        }
    }
}

struct Scan {
    per_lane: SecondaryMap<Accumulator, bool>,
    uniform: SecondaryMap<Value, bool>,
    /// The variable of the loop over lanes that the scan is in, and the symbols bound to varying values.
    varying: BTreeSet<Sym>,
}

impl Scan {
    fn body(&mut self, body: &[Stmt]) {
        for statement in body {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Apply { value, args, .. } => {
                self.uniform[*value] = args.iter().all(|&arg| self.uniform[arg]);
            }
            Stmt::Cast { value, arg } => self.uniform[*value] = self.uniform[*arg],
            Stmt::Const { value, .. } => self.uniform[*value] = true,
            Stmt::Index { value, index } => self.uniform[*value] = self.same_for_all(index),
            Stmt::Bind { symbol, value } => {
                if !self.uniform[*value] {
                    self.varying.insert(*symbol);
                }
            }
            Stmt::Load { value, index, guard, .. } => {
                self.uniform[*value] =
                    self.same_for_all(index) && guard.is_none_or(|guard| self.uniform[guard]);
            }
            Stmt::Get { value, accumulator } => self.uniform[*value] = !self.per_lane[*accumulator],
            Stmt::Reduce { values, .. } => values.iter().for_each(|&value| self.uniform[value] = true),
            Stmt::For(for_loop) => self.for_loop(for_loop),
            Stmt::Store { .. }
            | Stmt::Prefetch { .. }
            | Stmt::Fetch { .. }
            | Stmt::Await { .. }
            | Stmt::Fault { .. }
            | Stmt::Open { .. }
            | Stmt::Set { .. }
            | Stmt::Barrier => {}
        }
    }

    fn for_loop(&mut self, for_loop: &Loop) {
        if for_loop.kind.is_over_lanes() {
            self.varying.insert(for_loop.var);
        }
        self.body(&for_loop.body);
    }

    fn same_for_all(&self, index: &Expr) -> bool {
        let mut same = true;
        index.visit_symbols(&mut |symbol| same &= !self.varying.contains(&symbol));
        same
    }
}
