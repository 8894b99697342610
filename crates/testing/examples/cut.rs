//! The search for a segmentation beside all segmentations there are: `cargo run --release --package ferrofuse-testing
//! --example cut`. Takes a minute.

use ferrofuse_testing::cut::Tally;

fn main() {
    println!("3000 seeds, up to 9 values: {:#?}", Tally::of(3_000, 9));
    println!("75 seeds, up to 11 values: {:#?}", Tally::of(75, 11));
}
