//! The native half of the Python package `ferrofuse`: builds definitions, compiles them, runs them on arrays.
//!
//! The pure-Python half (`python/ferrofuse`) is the interface that users see; this half has what needs Rust. `definition/`
//! has definitions under construction, `executable` compiles and runs, `segments` has their segments, `runnable` runs
//! either, `on_devices` on the device of the inputs, `call_on_gpu` on arrays of a GPU, `captured` has such calls to be
//! replayed, `gpu/` the GPUs of the process, `call` the inputs and outputs of one call, `arrays/` converts arrays in and
//! out, `data_type` has dtypes, `machine` the threads that calls run on, `environment` reads variables, `generator` has
//! random numbers, `table` describes the ops, `explanation` shows decisions, `file` writes and takes saved definitions
//! apart, `dispatcher` calls what was traced of a fused function, `errors` converts rejections to exceptions, `signals`
//! lets Python's signal handlers run during long work.

mod arrays;
mod call;
mod call_on_gpu;
mod captured;
mod data_type;
mod definition;
mod dispatcher;
mod environment;
mod errors;
mod executable;
mod explanation;
mod file;
mod generator;
mod gpu;
mod machine;
mod on_devices;
mod runnable;
mod segments;
mod signals;
mod table;

use pyo3::prelude::*;

/// The module `ferrofuse._native`.
#[pymodule]
#[pyo3(name = "_native")]
fn native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // The lock that holds forks off is set up at its first use: here, where no other Python thread can fork.
    ferrofuse::unforked(|| ());
    machine::read_target()?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<definition::Builder>()?;
    module.add_class::<definition::Val>()?;
    module.add_class::<definition::TensorView>()?;
    module.add_class::<definition::ValueTask>()?;
    module.add_class::<dispatcher::Dispatcher>()?;
    module.add_class::<executable::Executable>()?;
    module.add_class::<explanation::NativeExplanation>()?;
    module.add_class::<segments::CutSegment>()?;
    module.add_class::<segments::Chain>()?;
    module.add_class::<arrays::OutputMemory>()?;
    module.add_class::<arrays::GpuArray>()?;
    module.add_class::<captured::CapturedCall>()?;
    module.add_function(wrap_pyfunction!(arrays::to_gpu, module)?)?;
    module.add_function(wrap_pyfunction!(segments::cut, module)?)?;
    module.add_function(wrap_pyfunction!(segments::explain_segments, module)?)?;
    module.add_function(wrap_pyfunction!(definition::bodies::lambdas, module)?)?;
    module.add_function(wrap_pyfunction!(environment::full_tracebacks, module)?)?;
    module.add_function(wrap_pyfunction!(file::write_file, module)?)?;
    module.add_function(wrap_pyfunction!(file::is_saved, module)?)?;
    module.add_function(wrap_pyfunction!(file::read_saved, module)?)?;
    module.add_function(wrap_pyfunction!(file::saved_text, module)?)?;
    module.add_function(wrap_pyfunction!(dispatcher::kinds, module)?)?;
    module.add_function(wrap_pyfunction!(machine::get_num_threads, module)?)?;
    module.add_function(wrap_pyfunction!(machine::set_num_threads, module)?)?;
    module.add_function(wrap_pyfunction!(table::ops, module)?)?;
    module.add_function(wrap_pyfunction!(table::describe_ops, module)?)?;
    module.add_function(wrap_pyfunction!(table::nearest_op, module)?)?;
    module.add_function(wrap_pyfunction!(table::why_rejected, module)?)?;
    module.add_function(wrap_pyfunction!(generator::manual_seed, module)?)?;
    module.add_function(wrap_pyfunction!(generator::get_rng_state, module)?)?;
    module.add_function(wrap_pyfunction!(generator::set_rng_state, module)?)?;
    module.add_function(wrap_pyfunction!(signals::await_background, module)?)?;
    data_type::register(module)?;
    errors::register(module)
}
