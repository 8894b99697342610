//! Which segment computes a node first, and which segments read a value. Takes a cut, visits each node and input of each
//! segment once, and then answers without visiting segments again. Makes no text.

use std::collections::BTreeMap;

use compiler::Cut;
use ir::graph::{Node, Val};
use rustc_hash::FxHashMap;

/// The segments that compute and read values, by number.
pub(super) struct Readers {
    first: FxHashMap<Node, usize>,
    /// Ascending.
    readers: FxHashMap<Val, Vec<usize>>,
}

impl Readers {
    /// The readers of a cut.
    pub(super) fn of(cut: &Cut) -> Readers {
        let mut found = Readers { first: FxHashMap::default(), readers: FxHashMap::default() };
        for (number, segment) in cut.segments.iter().enumerate() {
            #[cfg(test)]
            looked(segment.view.order().len() + segment.view.inputs().len());
            for &node in segment.view.order() {
                found.first.entry(node).or_insert(number);
            }
            for &input in segment.view.inputs() {
                found.readers.entry(input).or_default().push(number);
            }
        }
        found
    }

    /// Whether an earlier segment computes the node, too.
    pub(super) fn is_again(&self, node: Node, number: usize) -> bool {
        #[cfg(test)]
        looked(1);
        self.first.get(&node).is_some_and(|&first| first < number)
    }

    /// How many segments read a value.
    pub(super) fn count(&self, val: Val) -> usize {
        self.readers.get(&val).map_or(0, Vec::len)
    }

    /// A segment that reads a value of `from` and that `to` depends on, directly or not: then the two cannot be one.
    pub(super) fn between(&self, cut: &Cut, from: usize, to: usize) -> Option<usize> {
        let next = |number: usize| {
            let made = cut.segments[number].view.outputs().iter();
            made.flat_map(move |output| self.after(output.val, number))
                .copied()
                .filter(move |&next| next <= to)
        };
        let mut leading: BTreeMap<usize, usize> =
            next(from).filter(|&next| next < to).map(|next| (next, next)).collect();
        while let Some((number, first)) = leading.pop_first() {
            for further in next(number) {
                if further == to {
                    return Some(first);
                }
                leading.entry(further).or_insert(first);
            }
        }
        None
    }

    /// The later segments that read a value.
    pub(super) fn after(&self, val: Val, number: usize) -> &[usize] {
        let all = self.readers.get(&val).map_or(&[][..], Vec::as_slice);
        let after = &all[all.partition_point(|&reader| reader <= number)..];
        #[cfg(test)]
        looked(1 + after.len());
        after
    }
}

#[cfg(test)]
fn looked(more: usize) {
    tests::LOOKS.with(|looks| looks.set(looks.get() + more));
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::{CompileOptions, cut, define};

    thread_local! {
        /// The nodes, inputs and readers that were visited.
        pub static LOOKS: Cell<usize> = const { Cell::new(0) };
    }

    /// Rows and columns in turn: each pair of folds is a segment, and each segment reads the input again.
    fn cut_of(steps: usize) -> Cut {
        let step = |place: usize| {
            format!("    y = fd.ops.sub(x, fd.ops.mean(y, dims=[{}], keepdim=True))\n", place % 2)
        };
        let steps: String = (0..steps).map(step).collect();
        let input = "    x = fd.define_tensor(shape=[-1, -1], contiguity=True)\n    y = x\n";
        let text = format!("def iterations(fd):\n{input}{steps}    fd.add_output(y)\n");
        cut(&define(&text).expect("defines"), &CompileOptions::default()).expect("is cut")
    }

    fn looks(cut: &Cut) -> usize {
        let before = LOOKS.with(Cell::get);
        let readers = Readers::of(cut);
        for (number, segment) in cut.segments.iter().enumerate() {
            for &node in segment.view.order() {
                let is_again = cut.segments[..number].iter().any(|earlier| earlier.view.contains(node));
                assert_eq!(readers.is_again(node, number), is_again);
            }
            for output in segment.view.outputs() {
                let reads = |to: &usize| cut.segments[*to].view.is_input(output.val);
                let later: Vec<usize> = (number + 1..cut.segments.len()).filter(reads).collect();
                assert_eq!(readers.after(output.val, number), later);
            }
        }
        LOOKS.with(Cell::get) - before
    }

    #[test]
    fn twice_the_segments_take_twice_the_looks() {
        let [few, many] = [20, 40].map(cut_of);
        assert!(many.segments.len() > 18, "{} segments", many.segments.len());
        let [few, many] = [looks(&few), looks(&many)];
        assert!(many <= few * 9 / 4, "{few}, then {many}");
    }
}
