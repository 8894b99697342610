//! Definitions from text to outputs, through every executor.

mod batches;
mod calls;
mod channels_last;
mod compile_times;
mod definitions;
mod examples;
mod executors;
mod expanded;
mod explained;
mod gpu;
mod in_place;
mod interrupts;
mod large;
mod machine;
mod memory_order;
mod pictures;
mod random;
mod rejections;
mod segments;
mod small_stacks;
mod tensors;
mod views;
mod written_in_rust;
