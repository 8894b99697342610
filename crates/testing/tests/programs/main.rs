//! Programs, random ones and examples, through the whole compiler: results, cuts, found bugs, and properties of kernels'
//! machine code.

mod check;
mod cut;
mod differential;
mod found;
mod hoist;
mod lambdas;
mod machine_code;
mod memory_order;
mod online;
mod parts;
mod patterns;
mod peaks;
mod rewritten;
mod segments;
mod warps;
