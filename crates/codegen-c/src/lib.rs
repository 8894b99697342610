//! From a kernel program to readable text: C in dialects such as CUDA C++. Decides nothing.

pub mod c;
pub mod cuda;
