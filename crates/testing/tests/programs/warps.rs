//! Every example and workload at its own sizes: warps of its kernels access whole sectors and no bank twice, and lanes have work.

use std::collections::BTreeSet;

use ferrofuse::read;
use ferrofuse_testing::warps::{CountedBlock, counted_blocks};

use crate::machine_code::{files_of, planned};

/// The limit on sectors of a kernel, relative to the fewest possible.
const SECTORS: f64 = 1.05;

/// The minimum percentage of the lanes' iterations in which they have work.
const BUSY: f64 = 90.0;

/// Kernels that break one of these rules, and why.
const EXCEPTIONS: [(&str, &str, &str); 1] =
    [("batch_norm", "lanes", "an image has 784 vectors: three for each of 256 threads, and 16 more")];

/// The rules that a block breaks.
fn shortfalls(counted: &CountedBlock) -> Vec<&'static str> {
    let is_combine = counted.kernel.contains("_combine");
    let shortfalls = [
        ("sectors", counted.counts.sectors.ratio() > SECTORS),
        ("banks", counted.conflicts() > 0),
        // A combine step ends with one thread for each result.
        ("lanes", counted.busy_percent() < BUSY && !is_combine),
    ];
    shortfalls.into_iter().filter_map(|(name, is_so)| is_so.then_some(name)).collect()
}

#[test]
fn warps_take_whole_sectors_and_all_lanes() {
    let sources = [files_of("examples"), files_of("bench/workloads")].concat();
    let mut wrong = Vec::new();
    let mut known: BTreeSet<(&str, &str)> = EXCEPTIONS.iter().map(|&(of, what, _)| (of, what)).collect();
    for (name, source) in sources {
        let (plan, hints) = planned(&read(&source).expect("it reads"));
        let blocks = counted_blocks(&plan, &hints).unwrap_or_else(|error| panic!("{name}: {error}"));
        for counted in blocks {
            for shortfall in shortfalls(&counted) {
                let is_known =
                    |(of, what, _): &&(&str, &str, &str)| (*of, *what) == (name.as_str(), shortfall);
                if let Some((of, what, _)) = EXCEPTIONS.iter().find(is_known) {
                    known.remove(&(*of, *what));
                } else {
                    wrong.push(format!("{name}, {shortfall}: {counted}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(known.is_empty(), "no exceptions any more: {known:?}");
}
