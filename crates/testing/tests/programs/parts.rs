//! Random connected parts of the examples: a monotone rejection also holds for every larger part, and legal parts can be
//! lowered. The example `parts` checks all parts of the corpus.

use std::fs;
use std::path::Path;

use ferrofuse_testing::parts::{PartTally, planned};

/// Parts of each definition.
const PARTS: usize = 1_000;

/// A definition whose parts are rejected for all reasons that are monotone.
const REJECTED: &str = "
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    y = fd.ops.exp(fd.ops.matmul(x, x))
    z = fd.ops.add(y, fd.ops.permute(y, dims=[1, 0]))
    w = fd.ops.segment_set(fd.ops.sub(z, fd.ops.max(z, dims=[1], keepdim=True)))
    fd.add_output(fd.ops.mul(fd.ops.sin(w), fd.ops.cumsum(w, dim=0)))
";

fn tally(name: &str, text: &str) -> PartTally {
    PartTally::of(&planned(name, text), PARTS, 0)
}

#[test]
fn monotone_rejections_hold_for_more_and_legal_parts_are_lowered() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let entries = fs::read_dir(folder).expect("the examples").map(|entry| entry.expect("a file").path());
    let mut paths: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|kind| kind == "py")).collect();
    paths.sort();
    assert!(paths.len() > 10);
    for path in &paths {
        let tally = tally(&path.display().to_string(), &fs::read_to_string(path).expect("text"));
        assert!(tally.legal > 0 && tally.lowered > 0, "{}: {tally:?}", path.display());
    }
    let rejected = tally("rejected", REJECTED);
    assert!(rejected.monotone > 100 && rejected.legal > 0, "{rejected:?}");
}
