//! Which calls share a variant: those whose inputs lie in memory alike, and, where that is asked for, whose sizes are of one
//! order of magnitude.
//!
//! Which axes blocks divide, how far, and how wide the lanes are follows from sizes that the compiler expects. What it expects
//! may be wrong by half or double; by a factor of a hundred it costs workers their share, or leaves partial results of nearly
//! every row. The family depends on the call alone, and so does the answer to the last bit, whatever was called before.

use compiler::layout::Layout;
use compiler::schedule::Hints;
use ir::array::ArrayView;
use ir::define::Definition;
use ir::graph::Sizes;
use smallvec::SmallVec;

use crate::inputs::{Inputs, declared};

/// Elements of the largest input below which all calls are of one order: nothing is divided then.
const FEW: usize = 1 << 14;

/// What the calls that share a variant have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Family {
    layouts: Vec<Layout>,
    /// Where variants are chosen by sizes.
    orders: Option<Orders>,
}

impl Family {
    /// Of calls whose inputs lie as declared, whatever their sizes.
    pub fn declared(definition: &Definition) -> Family {
        Family { layouts: declared(definition), orders: None }
    }

    /// Of a call on these inputs.
    pub fn of(inputs: &Inputs<'_>, sizes: &Sizes, by_size: bool) -> Family {
        let orders = by_size.then(|| Orders::of(sizes, inputs.given()));
        Family { layouts: inputs.layouts.clone(), orders }
    }

    /// Whether variants are chosen by sizes.
    pub fn is_by_size(&self) -> bool {
        self.orders.is_some()
    }

    /// How the inputs lie in memory.
    pub fn layouts(&self) -> &[Layout] {
        &self.layouts
    }

    /// The sizes to expect of such calls, of which these are one's.
    pub fn expected(&self, sizes: &Sizes) -> Option<Hints> {
        self.orders.as_ref().map(|orders| orders.hints(sizes))
    }
}

/// The orders of a call's sizes, in the order of their symbols; none where there is little to do.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Orders(Option<SmallVec<[u8; 8]>>);

impl Orders {
    /// The orders of the sizes of a call on these inputs.
    fn of(sizes: &Sizes, inputs: &[ArrayView<'_>]) -> Orders {
        let largest = inputs.iter().map(ArrayView::numel).max().unwrap_or(0);
        Orders((largest >= FEW).then(|| sizes.known().map(|(_, size)| order(size)).collect()))
    }

    /// The sizes to expect of such calls, of which these are one's: 4 to the power of the order, which is within half and
    /// double of each, and few where there is little to do.
    fn hints(&self, sizes: &Sizes) -> Hints {
        let expected = |place: usize| self.0.as_ref().map_or(1, |orders| orders[place]);
        Hints::new(sizes.known().enumerate().map(|(place, (sym, _))| (sym, 1 << (2 * expected(place)))))
    }
}

/// 0 up to 1, 1 from 2 to 7, 2 from 8 to 31, and so on.
fn order(size: i64) -> u8 {
    (size.max(1).ilog2().div_ceil(2)) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_powers_of_four_within_half_and_double() {
        let sizes = [i64::MIN, 0, 1, 2, 7, 8, 31, 32, 127, 128, 512, 1000, 1024, 2047, 2048, 1 << 40];
        let expected = [0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 5, 5, 5, 6, 20];
        assert_eq!(sizes.map(order), expected);
        for size in 2..10_000 {
            let expected = 1 << (2 * order(size));
            assert!(size <= 2 * expected && expected <= 2 * size, "{size}");
        }
    }
}
