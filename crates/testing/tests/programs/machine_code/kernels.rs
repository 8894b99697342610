//! Kernels of examples and workloads for three architectures, those of the corpus and of random programs for sm_90, and one
//! in fifteen of these for each of the other architectures (all of them with the feature `every-architecture`): registers
//! suffice, no function is called in a loop, nearly all accesses move 16 bytes, with few instructions, and enough bytes are
//! in flight.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::process::Command;
use std::rc::Rc;

use compiler::{Decision, Plan};
use ferrofuse::{
    CodeTarget, Definition, EmitOptions, File, KernelOnGpu, NameStyle, Stage, declared_layouts, emit,
    explain, read,
};
use ferrofuse_testing::machine_code::{Counts, Tools};
use ferrofuse_testing::random::generate;
use ferrofuse_testing::warps::{CountedBlock, counted_blocks};
use scheduler::hints::Hints;
use target::{BlockNeeds, GpuModel};

use super::exceptions::{ELSEWHERE, EXCEPTIONS, Exception};
use super::{files_in, files_of, planned, planned_for};

const ARCHITECTURES: [&str; 3] = ["sm_80", "sm_90", "sm_100"];

/// One in this many definitions is compiled for each architecture other than sm_90, so that CI does not take long.
const SAMPLED: usize = 15;

/// Whether all are compiled for every architecture, which takes ten minutes.
const EVERY: bool = cfg!(feature = "every-architecture");

/// The architectures for the definition with this number.
type Architectures = fn(usize) -> Vec<&'static str>;

const ALL: Architectures = |_| ARCHITECTURES.to_vec();

const SOME: Architectures = |number| {
    let is_chosen = |place: &usize| EVERY || ARCHITECTURES[*place] == "sm_90" || number % SAMPLED == *place;
    (0..ARCHITECTURES.len()).filter(is_chosen).map(|place| ARCHITECTURES[place]).collect()
};

/// Bytes that a multiprocessor must have in flight to keep memory busy.
const IN_FLIGHT: u64 = 40_000;

/// The minimum fraction of the bytes of global memory that are moved 16 at a time.
const VECTORS: f64 = 0.95;

/// Instructions of a thread for each byte that it moves, at most; and where random bits are drawn.
const INSTRUCTIONS: f64 = 4.5;
const INSTRUCTIONS_WITH_PHILOX: f64 = 9.0;

/// A rule that a kernel falls short of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Shortfall {
    /// Something is kept in local memory.
    Local,
    /// A function is called in a loop.
    Calls,
    /// Accesses are not nearly all of 16 bytes.
    Narrow,
    /// A thread takes many instructions for a byte.
    Instructions,
    /// A multiprocessor has few bytes in flight.
    InFlight,
}

/// A kernel's counts, the bytes that a multiprocessor has in flight with it, and the instructions of a thread for each byte:
/// the actual number and the limit.
struct Counted {
    counts: Counts,
    in_flight: u64,
    instructions: f64,
    most_instructions: f64,
}

impl Counted {
    /// The rules that it falls short of. Combine steps move few bytes, so only their registers count.
    fn shortfalls(&self) -> impl Iterator<Item = Shortfall> {
        let is_main = !self.counts.kernel.contains("_combine");
        let shortfalls = [
            (Shortfall::Local, self.counts.local_bytes > 0),
            (Shortfall::Calls, self.counts.calls_in_loops > 0),
            (Shortfall::Narrow, self.counts.share_of_vectors() < VECTORS && is_main),
            (Shortfall::Instructions, self.instructions > self.most_instructions && is_main),
            (Shortfall::InFlight, self.in_flight < IN_FLIGHT && is_main),
        ];
        shortfalls.into_iter().filter_map(|(shortfall, is_so)| is_so.then_some(shortfall))
    }
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} bytes in flight, {:.1} instructions for a byte", self.in_flight, self.instructions)?;
        write!(f, "{}", self.counts)
    }
}

/// The segments that are kernels.
fn with_kernels(plan: &Plan) -> impl Iterator<Item = usize> + '_ {
    let has_kernels = |segment: &usize| matches!(plan.segments[*segment].decision, Decision::Kernels(_));
    (0..plan.segments.len()).filter(has_kernels)
}

/// The text of a segment.
fn text(definition: &Definition, plan: &Plan, segment: usize) -> String {
    let missing = ::llvm::Error::NotFound { tried: Vec::new(), hint: "not needed" };
    let options = EmitOptions {
        target: CodeTarget::CUDA,
        segment: Some(segment),
        names: NameStyle::default(),
        llvm: Err(&missing),
    };
    emit(Stage::CUDA, definition, plan, &options).expect("it has text")
}

/// A segment's text, the facts about its kernels, and its definition.
struct Unit {
    name: String,
    text: String,
    kernels: Rc<Vec<(KernelOnGpu, CountedBlock)>>,
}

/// The units of a definition at its own sizes.
fn units(name: &str, file: &File) -> Vec<Unit> {
    let (plan, hints) = planned(file);
    let explained = explain(&file.definition, &plan, &hints).expect("its own plan");
    let blocks = counted_blocks(&plan, &hints).expect("their sizes are known");
    let of_kernel = |kernel: KernelOnGpu| {
        let block = blocks.iter().find(|block| block.kernel == kernel.name).expect("it is counted");
        (kernel, block.clone())
    };
    let kernels = explained.segments.into_iter().flat_map(|segment| segment.kernels).map(of_kernel);
    let kernels = Rc::new(kernels.collect());
    let unit = |segment| {
        let text = text(&file.definition, &plan, segment);
        Unit { name: name.to_owned(), text, kernels: Rc::clone(&kernels) }
    };
    with_kernels(&plan).map(unit).collect()
}

impl Unit {
    /// The machine code's counts of one of its kernels beside the plan's facts about it.
    fn counted(&self, counts: Counts, model: &GpuModel) -> Counted {
        let known = self.kernels.iter().find(|(kernel, _)| kernel.name == counts.kernel);
        let (kernel, block) = known.expect("it is explained");
        let threads = u64::from(kernel.threads);
        let registers = Some(counts.registers.into());
        let needs = BlockNeeds { threads, registers, shared_bytes: kernel.shared_bytes };
        let resident = model.multiprocessor.blocks_of(&needs);
        let bytes = block.counts.bytes as f64 / f64::from(block.lanes);
        let instructions = counts.instructions_per_byte(bytes);
        let in_flight = resident * threads * u64::from(counts.in_flight_bytes);
        let draws = self.text.contains("philox(");
        let most_instructions = if draws { INSTRUCTIONS_WITH_PHILOX } else { INSTRUCTIONS };
        Counted { in_flight, instructions, most_instructions, counts }
    }
}

/// The units of those definitions that are compiled for this architecture.
fn compiled_for<'u>(
    architecture: &str,
    units: &'u [(usize, Unit)],
    architectures: Architectures,
) -> Vec<&'u Unit> {
    let is_chosen = |number: usize| architectures(number).contains(&architecture);
    units.iter().filter(|(number, _)| is_chosen(*number)).map(|(_, unit)| unit).collect()
}

/// The counts of the kernels of each of these units.
fn counted(tools: &Tools, units: &[&Unit], architecture: &str) -> Vec<Vec<Counts>> {
    let texts: Vec<&str> = units.iter().map(|unit| unit.text.as_str()).collect();
    let names = || units.iter().map(|unit| unit.name.as_str()).collect::<Vec<_>>().join(", ");
    let counts = tools.counts_of_each(&texts, architecture);
    counts.unwrap_or_else(|error| panic!("{architecture}, units of {}: {error}", names()))
}

/// Graphs of the corpus with fewer nodes than this are compiled.
const MOST_NODES: usize = 200;

/// Those of them that take NVRTC twenty seconds each: fifteen `lgamma` and `erf` in one, forty kernels alike, and scans, of
/// which random programs have some. They are compiled with the feature.
const SLOW: [&str; 3] = ["corpus/costly_chain", "corpus/scans", "corpus/sgd_clipped_20"];

/// Random programs that are compiled.
const RANDOM: u64 = if EVERY { 100 } else { 30 };

/// The limit on their kernels that keep something in local memory: sizes and strides may be any, and indices are divided by
/// them.
const SPILLED: usize = RANDOM as usize / 4;

/// The definitions of the corpus, as its own program writes them.
fn corpus() -> Vec<(String, String)> {
    let folder = tempfile::tempdir().expect("a folder");
    let bench = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench");
    let mut writer = Command::new("python3");
    let written = writer.args(["-m", "corpus"]).arg(folder.path()).current_dir(bench).status();
    assert!(written.expect("python3 runs").success());
    files_in(folder.path()).into_iter().map(|(name, source)| (format!("corpus/{name}"), source)).collect()
}

/// NVRTC and nvdisasm; prints a message if they are missing.
fn tools() -> Option<Tools> {
    Tools::find().map_err(|reason| eprintln!("not checked: {reason}")).ok()
}

/// Asserts that the shortfalls of these definitions are exactly those of the table.
fn check(sources: Vec<(String, String)>, exceptions: &[Exception], architectures: Architectures) {
    let Some(tools) = tools() else { return };
    let listed = |(shortfall, _, names): &Exception| {
        let shortfall = *shortfall;
        names.iter().map(move |name| ((*name).to_owned(), shortfall))
    };
    let mut known: BTreeSet<(String, Shortfall)> = exceptions.iter().flat_map(listed).collect();
    let is_slow = |name: &str| !EVERY && SLOW.contains(&name);
    known.retain(|(name, _)| sources.iter().any(|(of, _)| of == name) && !is_slow(name));
    let (mut found, mut unexpected) = (BTreeSet::new(), String::new());
    let is_left_out =
        |name: &str, file: &File| is_slow(name) || file.definition.graph.nodes().count() >= MOST_NODES;
    let mut units_of: Vec<(usize, Unit)> = Vec::new();
    for (number, (name, source)) in sources.into_iter().enumerate() {
        let file = read(&source).expect("it reads");
        if !is_left_out(&name, &file) {
            units_of.extend(units(&name, &file).into_iter().map(|unit| (number, unit)));
        }
    }
    for architecture in ARCHITECTURES {
        let model = GpuModel::named(architecture).expect("it is in the table");
        let units = compiled_for(architecture, &units_of, architectures);
        for (unit, counts) in units.iter().zip(counted(&tools, &units, architecture)) {
            for kernel in counts.into_iter().map(|counts| unit.counted(counts, model)) {
                for shortfall in kernel.shortfalls().map(|shortfall| (unit.name.clone(), shortfall)) {
                    if !known.contains(&shortfall) {
                        unexpected += &format!("{shortfall:?} for {architecture}: {kernel}\n");
                    }
                    found.insert(shortfall);
                }
            }
        }
    }
    assert!(unexpected.is_empty(), "{unexpected}");
    assert_eq!(found, known, "an exception is none any more");
}

#[test]
fn examples_compile_for_every_architecture() {
    check([files_of("examples"), files_of("bench/workloads")].concat(), EXCEPTIONS, ALL);
}

#[test]
fn the_corpus_compiles() {
    let elsewhere = if EVERY { ELSEWHERE } else { &[] };
    check(corpus(), &[EXCEPTIONS, elsewhere].concat(), SOME);
}

/// The kernels of random programs compile, whatever their sizes.
#[test]
fn random_programs_compile() {
    let Some(tools) = tools() else { return };
    let units_of = |seed: u64| {
        let definition = generate(seed).define().expect("it is accepted");
        let plan = planned_for(&definition, &Hints::default(), &declared_layouts(&definition));
        let unit = |segment| Unit {
            name: seed.to_string(),
            text: text(&definition, &plan, segment),
            kernels: Rc::default(),
        };
        with_kernels(&plan).map(|segment| (seed as usize, unit(segment))).collect::<Vec<_>>()
    };
    let units: Vec<(usize, Unit)> = (0..RANDOM).flat_map(units_of).collect();
    let mut spilled = Vec::new();
    for architecture in ARCHITECTURES {
        let units = compiled_for(architecture, &units, SOME);
        for (unit, counts) in units.iter().zip(counted(&tools, &units, architecture)) {
            let counts = counts.into_iter().filter(|counts| counts.local_bytes > 0);
            spilled.extend(counts.filter(|_| architecture == "sm_90").map(|counts| (&unit.name, counts)));
        }
    }
    let texts: Vec<String> = spilled.iter().map(|(seed, counts)| format!("{seed}: {counts}")).collect();
    assert!(spilled.len() <= SPILLED, "{} kernels:\n{}", spilled.len(), texts.join("\n"));
}
