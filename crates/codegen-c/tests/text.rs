//! Kernels as text in two dialects: CUDA C++, and plain C that runs.

mod c99;
mod cuda;
