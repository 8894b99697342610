//! The order in which the interpreter takes blocks and lanes: all of `0..count`, each once, without a list of them.

/// How the lanes of a block interleave between two barriers. The result of a kernel without races does not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LaneOrder {
    /// From the first to the last.
    #[default]
    Forward,
    /// From the last to the first.
    Reverse,
    /// In an order drawn from this seed.
    Random(u64),
}

impl LaneOrder {
    /// The order of `count` lanes.
    pub(super) fn of(self, count: u64) -> Order {
        match self {
            Self::Forward => Order { count, start: 0, stride: 1, taken: 0 },
            Self::Reverse => {
                Order { count, start: count.saturating_sub(1), stride: count.max(2) - 1, taken: 0 }
            }
            Self::Random(seed) => Order::shuffled(count, seed),
        }
    }
}

/// Steps through `0..count` from a start, by a stride coprime to `count`, wrapping around.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order {
    count: u64,
    start: u64,
    stride: u64,
    taken: u64,
}

impl Order {
    /// An order drawn from a seed.
    pub(super) fn shuffled(count: u64, seed: u64) -> Self {
        let modulus = count.max(1);
        let start = mix(seed) % modulus;
        let mut stride = mix(seed ^ 0x5555) % modulus;
        while greatest_common_divisor(stride, modulus) != 1 {
            stride += 1;
        }
        Self { count, start, stride, taken: 0 }
    }
}

impl Iterator for Order {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if self.taken == self.count {
            return None;
        }
        let steps = u128::from(self.taken) * u128::from(self.stride) + u128::from(self.start);
        self.taken += 1;
        Some((steps % u128::from(self.count)) as u64)
    }
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_visits_each_once() {
        for count in 0..40 {
            for seed in 0..20 {
                for order in [LaneOrder::Forward, LaneOrder::Reverse, LaneOrder::Random(seed)] {
                    let mut visited: Vec<u64> = order.of(count).collect();
                    visited.sort_unstable();
                    assert_eq!(visited, (0..count).collect::<Vec<_>>());
                }
            }
        }
    }

    #[test]
    fn orders_differ() {
        assert_eq!(LaneOrder::Reverse.of(3).collect::<Vec<_>>(), [2, 1, 0]);
        assert_eq!(LaneOrder::Forward.of(3).collect::<Vec<_>>(), [0, 1, 2]);
        let starts: Vec<_> = (0..8).filter_map(|seed| LaneOrder::Random(seed).of(64).next()).collect();
        assert!(starts.iter().any(|start| start != &starts[0]));
    }
}
