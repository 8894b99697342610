//! Coverage of generated programs: every op of the tables occurs often.

use std::collections::BTreeMap;

use ferrofuse_testing::random::generate;
use ops::call::OpRef;

/// Programs in which each op of the tables should occur about ten times.
const SEEDS: u64 = 225;

/// How often each op must occur in them.
const MIN_HITS: usize = 7;

#[test]
fn every_op_is_drawn() {
    let mut hits: BTreeMap<&str, usize> = OpRef::all().map(|op| (op.name(), 0)).collect();
    for op in (0..SEEDS).flat_map(|seed| generate(seed).ops()) {
        *hits.entry(op).or_default() += 1;
    }
    hits.retain(|_, count| *count < MIN_HITS);
    assert!(hits.is_empty(), "rarely drawn: {hits:?}; crates/testing/src/random/calls draws each op");
}

#[test]
fn awkward_memory_is_drawn() {
    let mut hits: BTreeMap<&str, usize> = BTreeMap::new();
    for program in (0..SEEDS).map(generate) {
        let written = |tensor| program.in_place.iter().any(|&(_, input)| input == tensor);
        let hosts: Vec<_> = program.inputs.iter().filter_map(|(_, input)| Some(input.within?.0)).collect();
        let mut count = |what, holds: bool| *hits.entry(what).or_default() += usize::from(holds);
        count("in-place outputs", !program.in_place.is_empty());
        count("inputs that share memory", !hosts.is_empty());
        for (tensor, input) in &program.inputs {
            let shares = input.within.is_some() || hosts.contains(tensor);
            count("a written input that shares memory", shares && written(*tensor));
            count("a written input with gaps or negative strides", {
                let steps = &input.placement.steps;
                steps.iter().any(|&step| step != 1) && written(*tensor)
            });
            count("misaligned", input.placement.offset % 2 == 1);
            count("negative strides", input.placement.steps.contains(&-1));
            count("repeated elements", input.placement.steps.contains(&0));
        }
    }
    assert!(hits.values().all(|&count| count >= MIN_HITS), "rarely drawn: {hits:?}");
}
