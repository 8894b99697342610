//! The parameters of a launch: those of one member, or a table of those of several.

use cuda::{Error, Function, LaunchShape, Stream};
use smallvec::SmallVec;

use super::code::GpuKernel;

/// The most blocks of a launch along x.
pub(crate) const MAX_BLOCKS: u32 = i32::MAX as u32;

/// The members of a launch so far.
pub(super) struct MemberTable {
    /// How many there may be.
    most: usize,
    /// The first block of each.
    begins: SmallVec<[u64; 1]>,
    /// The parameters of each, in order.
    parameters: SmallVec<[u64; 16]>,
    /// The parameters of one.
    words: usize,
    /// All blocks, and the most shared memory of a block.
    shape: LaunchShape,
}

impl MemberTable {
    /// Without a member yet.
    pub fn new(code: &GpuKernel) -> MemberTable {
        let shape = LaunchShape { blocks: 0, threads: code.threads, shared_bytes: 0 };
        let (begins, parameters) = (SmallVec::new(), SmallVec::new());
        MemberTable { most: code.members, begins, parameters, words: code.parameters.len(), shape }
    }

    /// Whether there may be another member.
    pub fn has_room(&self) -> bool {
        self.begins.len() < self.most
    }

    /// Whether the launch has no member.
    pub fn is_empty(&self) -> bool {
        self.begins.is_empty()
    }

    /// Whether the blocks of another member fit into the same launch.
    pub fn fits(&self, member: LaunchShape) -> bool {
        member.blocks <= MAX_BLOCKS - self.shape.blocks
    }

    /// Adds a member with its parameters.
    pub fn add(&mut self, member: LaunchShape, parameters: impl IntoIterator<Item = u64>) {
        self.begins.push(self.shape.blocks.into());
        self.parameters.extend(parameters);
        self.shape.blocks += member.blocks;
        self.shape.shared_bytes = self.shape.shared_bytes.max(member.shared_bytes);
    }

    /// Enqueues the launch.
    ///
    /// # Safety
    /// As [`Function::launch`], for each member.
    ///
    /// # Errors
    /// What the driver says.
    pub unsafe fn launch(&self, function: &Function, stream: &Stream) -> Result<(), Error> {
        if self.most == 1 {
            // SAFETY: the caller's.
            return unsafe { function.launch(stream, self.shape, &self.parameters) };
        }
        // No block is in a member that is missing.
        let begins = self.begins.iter().copied().chain(std::iter::repeat(u64::MAX)).take(self.most);
        let missing = self.most * self.words - self.parameters.len();
        let parameters = self.parameters.iter().copied().chain(std::iter::repeat_n(0, missing));
        let table: Vec<u64> = begins.chain(parameters).collect();
        // SAFETY: the structure of a text for several members has these words; the rest is the caller's.
        unsafe { function.launch_with_table(stream, self.shape, &table) }
    }
}
