//! `ferrofuse bench --calibrate`: the cost model's constants for this CPU, measured so that the model agrees with the clock.
//!
//! Three definitions are timed: one that moves memory, one that moves as much and computes for long, and a chain of
//! launches. The difference between the second and the first is computing, the rest of the first is memory.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use ferrofuse::{ArrayView, CompileOptions, CpuFacts, Executable, Machine, MachineOptions, table};
use files::Targets;
use ir::array::StridedArray;
use llvm::CpuTarget;
use testing::inputs::{draw, facts_of};

use super::Options;
use crate::failure::{Failure, Outcome};

/// More elements than any cache holds.
const MANY: usize = 1 << 24;

/// So few elements that a launch takes all the time.
const FEW: usize = 64;

/// Launches of a chain.
const LAUNCHES: usize = 65;

/// Calls; the fastest counts.
const CALLS: usize = 15;

/// One operation on each element.
const LIGHT: &str = "    x = fd.ops.neg(x)\n";

/// Functions and arithmetic on each element, as in activations.
const HEAVY: &str = "    x = fd.ops.mul(fd.ops.tanh(x), fd.ops.exp(fd.ops.neg(x)))
    x = fd.ops.add(fd.ops.sigmoid(x), fd.ops.mul(x, 0.5))
    x = fd.ops.div(fd.ops.gelu(x), fd.ops.add(fd.ops.mul(x, x), 1.0))
    x = fd.ops.add(fd.ops.silu(x), fd.ops.sqrt(fd.ops.abs(x)))
";

/// A separate launch.
const LAUNCH: &str = "    x = fd.ops.segment_set(fd.ops.add(x, 1.0))\n";

/// Measures, writes the file at `path`, and prints the default values beside the measured ones.
pub fn calibrate(
    options: &Options,
    given: MachineOptions,
    path: Option<&Path>,
    out: &mut dyn Write,
) -> Result<Outcome, Failure> {
    let nowhere = || {
        Failure::user("there is no place for what is measured: FERROFUSE_FACTS is `none`, or no HOME is set")
    };
    let path = path.ok_or_else(nowhere)?;
    let machine = Arc::new(Machine::new(MachineOptions { threads: options.threads, ..given }));
    let llvm = machine.llvm().map_err(Failure::machine)?;
    let usual = machine.target(CpuTarget::Host);
    let [light, heavy] = [Timed::of(&machine, LIGHT, MANY)?, Timed::of(&machine, HEAVY, MANY)?];
    let [one, chain] =
        [Timed::of(&machine, LAUNCH, FEW)?, Timed::of(&machine, &LAUNCH.repeat(LAUNCHES), FEW)?];
    let launch = (chain.seconds - one.seconds) / (LAUNCHES - 1) as f64;
    let throughput = usual.throughput * (heavy.computing - light.computing) / (heavy.seconds - light.seconds);
    let computing = light.computing * usual.throughput / throughput;
    let bandwidth = light.bytes / (light.seconds - computing - launch);
    let are_clear = [launch, throughput, bandwidth].iter().all(|fact| fact.is_finite() && *fact > 0.0);
    if !are_clear {
        return Err(Failure::machine("the clock tells nothing: other work is running; try again"));
    }
    let cpu = llvm.spec(CpuTarget::Host).cpu().to_owned();
    let facts = CpuFacts { cpu, threads: machine.threads(), bandwidth, throughput, launch };
    keep(&facts, path)?;
    let row = |name: &str, unit: f64, usual: f64, measured: f64| {
        vec![name.to_owned(), format!("{:.1}", usual / unit), format!("{:.1}", measured / unit)]
    };
    let rows = [
        ["fact", "usual", "measured"].map(str::to_owned).to_vec(),
        row("memory, GB/s", 1e9, usual.bandwidth, bandwidth),
        row("computing, 1e9 cycles of elements a second", 1e9, usual.throughput, throughput),
        row("a launch, us", 1e-6, usual.launch, launch),
    ];
    write!(out, "{}", table::columns(&rows))?;
    writeln!(out, "{} with {} threads, kept in {}", facts.cpu, facts.threads, path.display())?;
    Ok(Outcome::Fine)
}

/// Writes the file atomically.
fn keep(facts: &CpuFacts, path: &Path) -> Result<(), Failure> {
    let unusable = || Failure::user(format!("{} is no file", path.display()));
    let (folder, name) = path.parent().zip(path.file_name()).ok_or_else(unusable)?;
    let name = name.to_string_lossy().into_owned();
    let targets = Targets::in_folder(folder, &[name], &[])?;
    targets.write(|_, out| -> io::Result<()> { out.write_all(facts.text().as_bytes()) })?;
    Ok(())
}

/// A definition: its measured time and the model's numbers.
struct Timed {
    /// The time of the fastest call.
    seconds: f64,
    /// Bytes that the call moves.
    bytes: f64,
    /// Seconds that the model expects for computing.
    computing: f64,
}

impl Timed {
    /// Times the statements of a body on `elements` elements.
    fn of(machine: &Arc<Machine>, body: &str, elements: usize) -> Result<Timed, Failure> {
        let text = format!(
            "def timed(fd):\n    x = fd.define_tensor(shape=[-1], contiguity=True)\n{body}    fd.add_output(x)\n\ninputs = [torch.randn(({elements},))]\n"
        );
        let file = ferrofuse::read(&text).expect("a definition");
        let specs = file.inputs.expect("inputs stand behind it");
        let (hints, _) = facts_of(&file.definition, &specs);
        let options = CompileOptions {
            machine: Arc::clone(machine),
            hints: hints.clone(),
            target: CpuTarget::Host,
            ..CompileOptions::default()
        };
        let plan = ferrofuse::plan(&file.definition, &options).map_err(Failure::machine)?;
        let explained = ferrofuse::explain(&file.definition, &plan, &hints).map_err(Failure::user)?;
        let bytes = explained.bytes as f64;
        let computing = plan.costs(&hints).iter().map(|cost| cost.computing).sum();
        let inputs = specs.iter().enumerate().map(|(place, spec)| draw(spec, 0, place));
        let inputs: Vec<StridedArray> = inputs.collect::<Result<_, _>>().map_err(Failure::machine)?;
        let views: Vec<ArrayView<'_>> = inputs.iter().map(StridedArray::view).collect();
        let executable =
            Executable::for_inputs(file.definition, options, &views).map_err(Failure::machine)?;
        let call = || -> Result<f64, Failure> {
            let start = Instant::now();
            let outputs = executable.run(&views).map_err(Failure::machine)?;
            let seconds = start.elapsed().as_secs_f64();
            drop(outputs);
            Ok(seconds)
        };
        call()?;
        let mut seconds = f64::INFINITY;
        for _ in 0..CALLS {
            seconds = seconds.min(call()?);
        }
        Ok(Timed { seconds, bytes, computing })
    }
}
