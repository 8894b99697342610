//! File tests, random programs, differential checks, kernels on the CUDA emulator.
//!
//! `filetests` (input and expected text in one file) · `inputs` (data drawn according to a definition file) · `random`
//! (programs, segmentations, schedules) · `differential` (every executor against the evaluator) · `cut` (the search for
//! segments against all segmentations) · `parts` (parts of definitions, and their legality) · `reduce` (smaller failing
//! programs) · `fuzz` (many seeds) · `stand_in` (a GPU for checks) · `machine_code` (of NVIDIA's compiler) · `warps`
//! (sectors, bank conflicts and idle lanes).

pub mod cut;
pub mod differential;
pub mod filetests;
pub mod fuzz;
pub mod inputs;
pub mod machine_code;
pub mod parts;
pub mod random;
pub mod reduce;
pub mod stand_in;
pub mod warps;
