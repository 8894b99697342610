//! What programs are drawn: every op of the tables, again and again.

use std::collections::BTreeMap;

use ferrofuse_testing::random::generate;
use ir::ops::call::OpRef;

/// Programs in which each op of the tables is to stand about ten times.
const SEEDS: u64 = 225;

/// How often each op must stand in them.
const LEAST: usize = 7;

#[test]
fn every_op_is_drawn() {
    let mut hits: BTreeMap<&str, usize> = OpRef::all().map(|op| (op.name(), 0)).collect();
    for op in (0..SEEDS).flat_map(|seed| generate(seed).ops()) {
        *hits.entry(op).or_default() += 1;
    }
    hits.retain(|_, count| *count < LEAST);
    assert!(hits.is_empty(), "rarely drawn: {hits:?}; crates/testing/src/random/calls draws each op");
}
