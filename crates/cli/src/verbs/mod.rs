//! The verbs of the command line, one each: options in, results on a writer out.

pub mod bench;
pub mod cache;
pub mod doctor;
pub mod emit;
pub mod explain;
pub mod fuzz;
pub mod ops;
pub mod run;
pub mod segment;
pub mod test;
