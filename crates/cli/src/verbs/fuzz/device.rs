//! The device that runs the kernels of random programs.

use clap::ValueEnum;
use testing::differential::Choice;
use testing::fuzz::{choices, choices_on_gpu};

/// What the kernels of random programs run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FuzzDevice {
    /// CPUs, and now and then an emulated GPU.
    Cpu,
    /// The machine's GPU.
    Cuda,
}

impl FuzzDevice {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            FuzzDevice::Cpu => "cpu",
            FuzzDevice::Cuda => "cuda",
        }
    }

    /// The choices that are tried for the program of a seed.
    pub fn choices(self, seed: u64) -> Vec<Choice> {
        match self {
            FuzzDevice::Cpu => choices(seed),
            FuzzDevice::Cuda => choices_on_gpu(seed),
        }
    }
}
