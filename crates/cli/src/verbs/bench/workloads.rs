//! The standard workloads: a definition each, and the sizes that it is measured at.
//!
//! Workloads that are examples use the example's file; the others are in `bench/workloads/`.

use serde::Serialize;

/// The peer that a workload's time is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Peer {
    /// A copy, for workloads that write about as much as they read.
    Copy,
    /// A read, for workloads that write nearly nothing.
    Read,
}

/// A workload.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    /// Its name: the computation, and the dtype in memory.
    pub id: &'static str,
    pub source: &'static str,
    /// The values of the size symbols, by the names at their first use; otherwise the file's own sizes.
    pub sizes: &'static [(&'static str, i64)],
    /// The peer that it is compared with.
    pub peer: Peer,
}

macro_rules! example {
    ($name:literal) => {
        include_str!(concat!("../../../../../examples/", $name, ".py"))
    };
}

macro_rules! own {
    ($name:literal) => {
        include_str!(concat!("../../../../../bench/workloads/", $name, ".py"))
    };
}

/// Rows and columns of a workload on one or more tensors of two axes, which may have any sizes.
pub const SQUARE: &[(&str, i64)] = &[("i0", 4096), ("i1", 4096)];

const fn copy(id: &'static str, source: &'static str, sizes: &'static [(&'static str, i64)]) -> Workload {
    Workload { id, source, sizes, peer: Peer::Copy }
}

const fn read(id: &'static str, source: &'static str) -> Workload {
    Workload { id, source, sizes: SQUARE, peer: Peer::Read }
}

/// All workloads, in the order they run.
pub const WORKLOADS: &[Workload] = &[
    copy("add_mul_f32", own!("add_mul_f32"), SQUARE),
    copy("silu_mul_bf16", example!("silu_mul"), SQUARE),
    copy("gelu_bias_bf16", example!("gelu_bias"), SQUARE),
    copy("softmax_f32", own!("softmax_f32"), SQUARE),
    copy("softmax_bf16", example!("softmax"), SQUARE),
    copy("softmax_backward_bf16", own!("softmax_backward"), SQUARE),
    copy("layer_norm_bf16", example!("layer_norm"), SQUARE),
    copy("rms_norm_bf16", example!("rms_norm"), SQUARE),
    copy("layer_norm_backward_bf16", example!("layer_norm_backward"), SQUARE),
    read("sum_inner_f32", own!("sum_inner_f32")),
    read("sum_outer_f32", own!("sum_outer_f32")),
    copy("transpose_add_f32", example!("transpose_add"), SQUARE),
    copy("rope_bf16", own!("rope_bf16"), &[]),
    Workload { sizes: &[], ..read("cross_entropy_bf16", example!("cross_entropy")) },
    copy("modulated_layer_norm_backward_bf16", example!("modulated_layer_norm_backward"), &[("i0", 14)]),
];
