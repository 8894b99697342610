//! The search for a segmentation beside all segmentations there are: `cargo run --release --package ferrofuse-testing
//! --example cut`, or with `-- SEEDS` fewer. Takes a minute. Definitions of which the best was not found are printed, the worst first.

use ferrofuse_testing::cut::Tally;

fn print(seeds: u64, values: usize) {
    let tally = Tally::of(seeds, values);
    let Tally { graphs, of_one_kernel, found, proved, exhausted, .. } = tally;
    println!(
        "{seeds} seeds, up to {values} values: {graphs} compared, {found} best found, at most {:.3} times",
        tally.worst()
    );
    println!(
        "one kernel is the best of {of_one_kernel}, proved by the bound are {proved}, by branch and bound {exhausted}"
    );
    for miss in &tally.missed {
        println!("\n{:.4} times\n{}", miss.ratio, miss.text);
    }
}

fn main() {
    match std::env::args().nth(1).map(|seeds| seeds.parse()) {
        Some(seeds) => print(seeds.expect("a number of seeds"), 9),
        None => {
            print(3_200, 9);
            print(75, 11);
        }
    }
}
