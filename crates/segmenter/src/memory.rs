//! The memory that the results of segments need, and an order of segments that needs little.
//!
//! Takes what each segment reads and makes, with bytes; returns how much is in memory while each runs. A result is in memory
//! from when its segment runs until its last reader has run, outputs to the end. Inputs are the caller's. Decides nothing
//! about segments but their order.

use std::ops::Range;

use ir::graph::{Fusion, Val};
use rustc_hash::FxHashMap;

/// The most segments of which all orders are tried.
const MAX_PERMUTED_SEGMENTS: usize = 12;

/// The results of segments, who reads them, and how much memory they take.
#[derive(Debug)]
pub struct Lifetimes {
    values: Vec<Lifetime>,
    /// The values of others that each segment reads.
    reads: Vec<Vec<usize>>,
    /// The values that each segment makes.
    makes: Vec<Vec<usize>>,
}

#[derive(Debug)]
struct Lifetime {
    val: Val,
    bytes: u64,
    maker: usize,
    readers: Vec<usize>,
    /// Whether it is needed at the end.
    stays: bool,
}

impl Lifetimes {
    /// The lifetimes of the values of a fusion's segments.
    pub fn of<'v>(
        fusion: &Fusion,
        segments: impl Iterator<Item = &'v Fusion> + Clone,
        bytes: impl Fn(Val) -> u64,
    ) -> Lifetimes {
        let mut values: Vec<Lifetime> = Vec::new();
        let mut numbers: FxHashMap<Val, usize> = FxHashMap::default();
        let mut makes: Vec<Vec<usize>> = Vec::new();
        for (maker, view) in segments.clone().enumerate() {
            let mut made = Vec::new();
            for val in view.outputs().iter().map(|output| output.val) {
                let number = *numbers.entry(val).or_insert(values.len());
                if number == values.len() {
                    let (bytes, stays) = (bytes(val), fusion.is_output(val));
                    values.push(Lifetime { val, bytes, maker, readers: Vec::new(), stays });
                    made.push(number);
                }
            }
            makes.push(made);
        }
        let mut reads: Vec<Vec<usize>> = Vec::new();
        for (reader, view) in segments.enumerate() {
            let read: Vec<usize> = view.inputs().iter().filter_map(|val| numbers.get(val).copied()).collect();
            read.iter().for_each(|&number| values[number].readers.push(reader));
            reads.push(read);
        }
        Lifetimes { values, reads, makes }
    }

    /// The bytes in memory while each segment runs, in this order.
    pub fn peaks(&self, order: &[usize]) -> Vec<u64> {
        let mut state = Running::new(self);
        order.iter().map(|&segment| state.run(segment)).collect()
    }

    /// The bytes in memory while each of these batches of neighbours runs, with all its segments at once.
    pub fn peaks_of_batches(&self, batches: &[Range<usize>]) -> Vec<u64> {
        let mut state = Running::new(self);
        let mut peak = |batch: &Range<usize>| {
            let during = state.alive + batch.clone().map(|segment| self.made(segment)).sum::<u64>();
            batch.clone().for_each(|segment| {
                state.run(segment);
            });
            during
        };
        batches.iter().map(&mut peak).collect()
    }

    /// The most bytes that are in memory at a time.
    pub fn peak(&self, order: &[usize]) -> u64 {
        self.peaks(order).into_iter().max().unwrap_or(0)
    }

    /// The values in memory while the segment at a place of an order runs; most bytes first.
    pub fn alive_at(&self, order: &[usize], place: usize) -> Vec<Val> {
        let has_begun = |segment: usize| order[..=place].contains(&segment);
        let is_over = |segment: usize| order[..place].contains(&segment);
        let is_there = |value: &&Lifetime| {
            let is_being_made = order[place] == value.maker;
            let is_needed = value.stays || value.readers.iter().any(|&reader| !is_over(reader));
            is_being_made || (has_begun(value.maker) && is_needed)
        };
        let mut alive: Vec<&Lifetime> = self.values.iter().filter(is_there).collect();
        alive.sort_by_key(|value| (std::cmp::Reverse(value.bytes), value.val));
        alive.into_iter().map(|value| value.val).collect()
    }

    /// An order of the segments in which each comes after those that it reads from, and peak memory is low: the lowest where
    /// there are few segments. The order as it is, if none found needs less.
    pub fn order(&self) -> Vec<usize> {
        let given: Vec<usize> = (0..self.makes.len()).collect();
        let peak = self.peak(&given);
        if peak <= self.minimum() {
            return given;
        }
        let other =
            if given.len() <= MAX_PERMUTED_SEGMENTS { self.best_order() } else { self.greedy_order() };
        if self.peak(&other) < peak { other } else { given }
    }

    /// The segments in their present order, except that each one that runs pulls forward those like it that could run as
    /// well.
    pub fn order_beside(&self, alike: impl Fn(usize, usize) -> bool) -> Vec<usize> {
        let mut state = Running::new(self);
        let mut order = Vec::new();
        for first in 0..self.makes.len() {
            if state.ran[first] {
                continue;
            }
            let others = first + 1..self.makes.len();
            let joins = |&other: &usize| alike(first, other) && state.is_ready(other);
            let batch: Vec<usize> = [first].into_iter().chain(others.filter(joins)).collect();
            batch.iter().for_each(|&segment| {
                state.run(segment);
            });
            order.extend(batch);
        }
        order
    }

    /// The fewest bytes at the peak of any order: what one segment reads and makes, or what stays.
    fn minimum(&self) -> u64 {
        let bytes = |numbers: &[usize]| numbers.iter().map(|&number| self.values[number].bytes).sum::<u64>();
        let segments = self.makes.iter().zip(&self.reads).map(|(made, read)| bytes(made) + bytes(read));
        let stays = self.values.iter().filter(|value| value.stays).map(|value| value.bytes).sum();
        segments.fold(stays, u64::max)
    }

    /// The order with the lowest peak. The values in memory depend on which segments have run, not on their order, so the
    /// best order of each set of segments follows from those of the sets with one less.
    fn best_order(&self) -> Vec<usize> {
        let count = self.makes.len();
        let mut best: Vec<Option<(u64, usize)>> = vec![None; 1 << count];
        best[0] = Some((0, 0));
        for ran in 0..best.len() {
            let Some((peak, _)) = best[ran] else { continue };
            let alive = self.alive(ran);
            for next in (0..count).filter(|&next| ran >> next & 1 == 0 && self.may_run(next, ran)) {
                let peak = peak.max(alive + self.made(next));
                let known = &mut best[ran | 1 << next];
                if known.is_none_or(|(other, _)| peak < other) {
                    *known = Some((peak, next));
                }
            }
        }
        let mut order = Vec::new();
        let mut ran = best.len() - 1;
        while ran != 0 {
            let (_, last) = best[ran].expect("the segments have no cycle");
            order.push(last);
            ran &= !(1 << last);
        }
        order.reverse();
        order
    }

    /// The bytes in memory when these segments have run.
    fn alive(&self, ran: usize) -> u64 {
        let has_run = |segment: usize| ran >> segment & 1 == 1;
        let is_there = |value: &&Lifetime| {
            has_run(value.maker) && (value.stays || value.readers.iter().any(|&reader| !has_run(reader)))
        };
        self.values.iter().filter(is_there).map(|value| value.bytes).sum()
    }

    fn may_run(&self, segment: usize, ran: usize) -> bool {
        self.reads[segment].iter().all(|&number| ran >> self.values[number].maker & 1 == 1)
    }

    fn made(&self, segment: usize) -> u64 {
        self.makes[segment].iter().map(|&number| self.values[number].bytes).sum()
    }

    /// Runs next the segment with which the peak stays lowest, then the one with which the fewest bytes stay in memory.
    fn greedy_order(&self) -> Vec<usize> {
        let mut state = Running::new(self);
        let mut ready: Vec<usize> =
            (0..self.makes.len()).filter(|&segment| state.is_ready(segment)).collect();
        let (mut order, mut peak) = (Vec::new(), 0);
        while let Some(&next) = ready.iter().min_by_key(|&&segment| {
            let (during, after) = state.if_run(segment);
            (during.max(peak), after, segment)
        }) {
            peak = peak.max(state.run(next));
            ready.retain(|&other| other != next);
            let read = self.makes[next].iter().flat_map(|&number| &self.values[number].readers);
            let mut read: Vec<usize> = read.copied().filter(|&reader| state.is_ready(reader)).collect();
            read.sort_unstable();
            read.dedup();
            ready.extend(read);
            order.push(next);
        }
        order
    }
}

/// The state of memory while segments run.
struct Running<'a> {
    lifetimes: &'a Lifetimes,
    /// How many still need each value: its readers that have not run, and the caller.
    needed: Vec<usize>,
    /// Whether each segment has run.
    ran: Vec<bool>,
    alive: u64,
}

impl<'a> Running<'a> {
    fn new(lifetimes: &'a Lifetimes) -> Running<'a> {
        let needed = lifetimes.values.iter().map(|value| value.readers.len() + usize::from(value.stays));
        let ran = vec![false; lifetimes.makes.len()];
        Running { lifetimes, needed: needed.collect(), ran, alive: 0 }
    }

    fn is_ready(&self, segment: usize) -> bool {
        let Lifetimes { values, reads, .. } = self.lifetimes;
        !self.ran[segment] && reads[segment].iter().all(|&number| self.ran[values[number].maker])
    }

    /// The bytes in memory while a segment would run next, and after it.
    fn if_run(&self, segment: usize) -> (u64, u64) {
        let during = self.alive + self.lifetimes.made(segment);
        let bytes = |&number: &usize| self.lifetimes.values[number].bytes;
        let last = self.lifetimes.reads[segment].iter().filter(|&&number| self.needed[number] == 1);
        let unread = self.lifetimes.makes[segment].iter().filter(|&&number| self.needed[number] == 0);
        (during, during - last.chain(unread).map(bytes).sum::<u64>())
    }

    /// Runs a segment: the bytes in memory meanwhile.
    fn run(&mut self, segment: usize) -> u64 {
        let (during, after) = self.if_run(segment);
        self.lifetimes.reads[segment].iter().for_each(|&number| self.needed[number] -= 1);
        self.ran[segment] = true;
        self.alive = after;
        during
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unfused;

    /// What the segments of `count` branches make: multiples of a tensor of 4 KiB, all of them first, then their sums.
    fn branches(count: usize) -> Lifetimes {
        let mut body = String::from("    x = fd.define_tensor(shape=[1024], contiguity=True)\n");
        for branch in 0..count {
            body += &format!("    y{branch} = fd.ops.mul(x, fd.define_scalar({branch}.5))\n");
        }
        for branch in 0..count {
            body +=
                &format!("    z{branch} = fd.ops.sum(y{branch}, dims=[0])\n    fd.add_output(z{branch})\n");
        }
        let source = format!("def branches(fd):\n{body}");
        let definition = frontend::text::parse(&source).expect("a definition").definition;
        let (graph, fusion) = (&definition.graph, &definition.fusion);
        let views = unfused(graph, fusion, &definition.tasks).views(graph, fusion);
        assert_eq!(views.len(), 2 * count);
        let bytes = |val: Val| graph.ty(val).bytes().as_const().expect("a known size") as u64;
        Lifetimes::of(fusion, views.iter(), bytes)
    }

    #[test]
    fn branches_run_one_after_the_other() {
        for count in [5, 10] {
            let lifetimes = branches(count);
            let given: Vec<usize> = (0..2 * count).collect();
            assert_eq!(lifetimes.peak(&given), 4096 * count as u64 + 4);
            assert_eq!(lifetimes.peak(&lifetimes.order()), 4096 + 4 * count as u64);
        }
    }

    #[test]
    fn an_order_that_needs_no_more_stays() {
        assert_eq!(branches(1).order(), [0, 1]);
    }
}
