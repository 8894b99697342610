//! What programs mean: the evaluator of graphs, with error bounds, and the interpreter of kernels, which finds races.
//!
//! Both are the measure of what compiled code gives. They compile nothing, and know neither texts nor targets.

pub mod evaluate;
pub mod interpret;
