//! Checks the random programs of a range of seeds and prints those that fail, made small:
//! `cargo run -p ferrofuse-testing --example hunt -- FIRST COUNT [REPORTS]`.

use std::{env, panic};

use ferrofuse_testing::fuzz::fuzz;
use ferrofuse_testing::reduce::{reduce, report};

/// Programs after which what was found is told.
const BATCH: usize = 100;

fn main() {
    let numbers: Vec<u64> = env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let (first, count) = (numbers.first().copied().unwrap_or(0), numbers.get(1).copied().unwrap_or(100));
    let reports = numbers.get(2).copied().unwrap_or(3) as usize;
    panic::set_hook(Box::new(|_| {}));
    // Machine code that crashes leaves no other trace than the last seeds.
    let mut reported = 0;
    for batch in (first..first + count).step_by(BATCH) {
        let found = fuzz(batch..batch + BATCH as u64, &|seed| eprintln!("seed {seed}"));
        println!("from {batch}: {:?}", found.covered);
        for (&seed, failing) in &found.failing {
            let what: String = failing.failure.to_string().chars().take(300).collect();
            println!("seed {seed} {:?}: {what}", failing.choice);
            if reported < reports {
                println!("{}", report(&reduce(failing.clone()), seed));
            }
            reported += 1;
        }
    }
}
