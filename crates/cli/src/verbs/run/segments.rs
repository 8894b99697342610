//! `ferrofuse run` on segments that run one by one: of a folder, or of a file that Python saved.

use std::sync::Arc;

use cuda::LibraryPaths;
use ferrofuse::{
    ArrayView, CallOptions, CodeTarget, CompileOptions, Executable, Generator, Machine, Segment,
    SegmentedExecutable, Stream,
};

use super::{Calls, Options, called};
use crate::device;
use crate::failure::Failure;
use crate::given::GivenSegments;
use crate::planning::{self, Planned, runnable};

/// Segments ready to run.
pub(super) struct Chain {
    pub executable: SegmentedExecutable,
    pub segments: Vec<Segment>,
}

impl Chain {
    /// The segments that the user gives, for the requested sizes.
    pub fn new(
        given: GivenSegments,
        options: &Options,
        libraries: &LibraryPaths,
        machine: &Arc<Machine>,
    ) -> Result<Chain, Failure> {
        let file = given.file.clone();
        let Planned { plan: cut, hints, .. } =
            planning::cut(&file, &options.request, &given.options, CodeTarget::HOST, machine)?;
        let segments = given.of_cut(&options.file, &cut, &hints)?;
        let compile_options = CompileOptions {
            machine: Arc::clone(machine),
            target: runnable(options.target, machine)?,
            generator: Arc::new(Generator::new(options.request.seed)),
            ..CompileOptions::default()
        };
        let open = if options.check { device::open_for_checks } else { device::open };
        let compile_options = open(options.device, libraries, compile_options)?;
        let executable = Executable::from_segments(file.definition, &segments, compile_options);
        Ok(Chain { executable: executable.map_err(Failure::of_call)?, segments })
    }

    /// The calls of a run, each with the same random numbers.
    pub fn call<'a>(&self, views: &[ArrayView<'a>], options: &Options) -> Result<Calls<'a>, Failure> {
        let stream = Some(Stream::new(options.request.seed));
        let call_options = CallOptions { stream, ..CallOptions::default() };
        let call = || self.executable.run_timed_with(&call_options, views);
        called(call, options.time).map_err(Failure::of_call)
    }
}
