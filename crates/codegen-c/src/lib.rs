//! From a kernel program to text that people read: C in dialects such as CUDA C++. Takes no decisions.

pub mod c;
pub mod cuda;
