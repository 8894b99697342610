//! Prints the random programs of a range of seeds as definition files, each after a line `# seed N`:
//! `cargo run -p ferrofuse-testing --example programs -- FIRST COUNT`.

use std::env;

use ferrofuse_testing::random::generate;
use ferrofuse_testing::reduce::file;

fn main() {
    let numbers: Vec<u64> = env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let [first, count] = numbers[..] else { panic!("expected the first seed and how many programs") };
    for seed in first..first + count {
        let program = generate(seed);
        let definition = program.define().expect("a program is generated with a draft that accepts it");
        println!("# seed {seed}\n{}", file(&program, &definition));
    }
}
