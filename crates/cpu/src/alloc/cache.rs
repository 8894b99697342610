//! Blocks kept for reuse, by size class.
//!
//! Takes and gives blocks of exact classes, the last returned first because it is still in the processor's caches; the bound
//! evicts the block that was unused longest. Asks the system for nothing.

use super::block::Block;
use std::collections::{BTreeMap, VecDeque};

#[derive(Debug, Default)]
pub(super) struct Cache {
    /// The blocks of a class with the time of their return, oldest in front. Queues stay when they get empty: most are
    /// filled again soon, and there are few classes.
    classes: BTreeMap<usize, VecDeque<(u64, Block)>>,
    /// Counts the returns.
    now: u64,
    bytes: usize,
    blocks: usize,
}

impl Cache {
    /// Bytes of all blocks that wait to be used again.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many blocks wait to be used again.
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// The block of the class that was returned last.
    pub fn take(&mut self, class: usize) -> Option<Block> {
        self.remove(class, VecDeque::pop_back)
    }

    /// Keeps a block within the bound, and returns the evicted ones: those unused longest, or the block itself if it alone
    /// exceeds the bound.
    pub fn put(&mut self, block: Block, limit: usize) -> Vec<Block> {
        let class = block.bytes();
        if class > limit {
            return vec![block];
        }
        let mut surplus = Vec::new();
        while self.bytes + class > limit {
            surplus.extend(self.evict());
        }
        self.now += 1;
        self.bytes += class;
        self.blocks += 1;
        self.classes.entry(class).or_default().push_back((self.now, block));
        surplus
    }

    fn evict(&mut self) -> Option<Block> {
        let oldest = |(&class, queue): (&usize, &VecDeque<(u64, Block)>)| {
            queue.front().map(|(time, _)| (*time, class))
        };
        let (_, class) = self.classes.iter().filter_map(oldest).min()?;
        self.remove(class, VecDeque::pop_front)
    }

    fn remove(
        &mut self,
        class: usize,
        pop: impl FnOnce(&mut VecDeque<(u64, Block)>) -> Option<(u64, Block)>,
    ) -> Option<Block> {
        let queue = self.classes.get_mut(&class)?;
        let (_, block) = pop(queue)?;
        self.bytes -= class;
        self.blocks -= 1;
        Some(block)
    }
}
