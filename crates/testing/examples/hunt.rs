//! Checks the random programs of a range of seeds and prints those that fail, made small:
//! `cargo run -p ferrofuse-testing --example hunt -- FIRST COUNT [REPORTS]`.

use std::{env, panic};

use ferrofuse_testing::fuzz::fuzz;
use ferrofuse_testing::reduce::{reduce, report};

fn main() {
    let numbers: Vec<u64> = env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let (first, count) = (numbers.first().copied().unwrap_or(0), numbers.get(1).copied().unwrap_or(100));
    let reports = numbers.get(2).copied().unwrap_or(3) as usize;
    panic::set_hook(Box::new(|_| {}));
    // Machine code that crashes leaves no other trace than the last seeds.
    let found = fuzz(first..first + count, &|seed| eprintln!("seed {seed}"));
    println!("{:?}\n{:?}", found.covered, found.ops);
    for (seed, failing) in &found.failing {
        let what: String = failing.failure.to_string().chars().take(300).collect();
        println!("seed {seed} {:?}: {what}", failing.choice);
    }
    for (&seed, failing) in found.failing.iter().take(reports) {
        println!("\n{}", report(&reduce(failing.clone()), seed));
    }
    println!("{} of {count} programs fail", found.failing.len());
}
