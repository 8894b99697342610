//! How many blocks a multiprocessor runs at a time.

use ferrofuse_target::{BlockNeeds, Multiprocessor};

const H100: Multiprocessor =
    Multiprocessor { threads: 2048, blocks: 32, registers: 1 << 16, shared_bytes: 228 << 10 };

fn blocks(threads: u64, registers: Option<u64>, shared_bytes: u64) -> u64 {
    H100.blocks_of(&BlockNeeds { threads, registers, shared_bytes })
}

/// Values of NVIDIA's calculator for compute capability 9.0.
#[test]
fn each_resource_may_be_the_limit() {
    assert_eq!(blocks(256, Some(32), 0), 8);
    assert_eq!(blocks(256, Some(40), 0), 6);
    assert_eq!(blocks(256, Some(65), 0), 3);
    assert_eq!(blocks(32, Some(16), 0), 32);
    assert_eq!(blocks(128, Some(32), 100 << 10), 2);
    assert_eq!(blocks(1024, Some(33), 0), 1);
    assert_eq!(blocks(1024, Some(128), 0), 0);
    assert_eq!(blocks(256, None, 0), 8);
}
