//! The memory accesses of a GPU's warps in a plan's kernels, by the interpreter: sectors, wavefronts of shared memory banks,
//! idle lanes.

use compiler::Plan;
use lowering::{KernelArgument, Lowered};
use reference::interpret::{WarpCounts, warp_counts};
use scheduler::hints::Hints;

/// The counts of one block of a kernel, at the expected sizes.
#[derive(Clone, Debug)]
pub struct CountedBlock {
    /// The kernel's name.
    pub kernel: String,
    /// The block that is counted: the middle one.
    pub block: i64,
    /// The number of blocks.
    pub blocks: i64,
    /// The lanes of each.
    pub lanes: u32,
    pub counts: WarpCounts,
}

/// The counts of the middle block of each kernel of a plan.
///
/// # Errors
/// When a kernel cannot be interpreted at the expected sizes, or takes strides, which these do not determine.
pub fn counted_blocks(plan: &Plan, hints: &Hints) -> Result<Vec<CountedBlock>, String> {
    let kernels = plan.lowered.iter().flat_map(|segment| &segment.kernels);
    kernels.map(|lowered| counted(lowered, hints)).collect()
}

fn counted(lowered: &Lowered, hints: &Hints) -> Result<CountedBlock, String> {
    let kernel = &lowered.kernel;
    let argument = |argument: &KernelArgument| match argument {
        KernelArgument::Size(size) => Ok(hints.value(size) as i64),
        KernelArgument::Stride { .. } | KernelArgument::StoreStride { .. } => {
            Err(format!("{} takes strides", kernel.name))
        }
    };
    let args: Vec<i64> = lowered.arguments.iter().map(argument).collect::<Result<_, _>>()?;
    let given = |symbol| kernel.arguments.iter().position(|&known| known == symbol).map(|place| args[place]);
    let blocks = kernel.blocks.eval(&given).map_err(|error| error.to_string())?;
    let block = blocks / 2;
    let counts = warp_counts(kernel, &args, block).map_err(|fault| format!("{}: {fault}", kernel.name))?;
    Ok(CountedBlock { kernel: kernel.name.clone(), block, blocks, lanes: kernel.lanes, counts })
}

impl CountedBlock {
    /// The percentage of the lanes' iterations in which they have work.
    pub fn busy_percent(&self) -> f64 {
        100.0 / self.counts.iterations.ratio()
    }

    /// Wavefronts of shared memory in which a lane waits for another's bank.
    pub fn conflicts(&self) -> u64 {
        self.counts.wavefronts.taken - self.counts.wavefronts.min
    }
}

impl std::fmt::Display for CountedBlock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let CountedBlock { kernel, block, blocks, counts: WarpCounts { sectors, wavefronts, .. }, .. } = self;
        writeln!(f, "{kernel}: block {block} of {blocks}")?;
        writeln!(f, "  {} sectors, of {} at least", sectors.taken, sectors.min)?;
        writeln!(f, "  {} bank conflicts in {} accesses of shared memory", self.conflicts(), wavefronts.min)?;
        writeln!(f, "  lanes {:.1} % busy", self.busy_percent())
    }
}
