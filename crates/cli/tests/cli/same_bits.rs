//! Segments give the same bits however they are run: one by one, all in Rust, and from a written folder. All examples and
//! random definitions with random segmentations, which overlap.

use std::collections::HashMap;
use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::thread;

use ferrofuse::{
    Array, ArrayView, CacheOptions, CallOptions, CompileOptions, DType, Definition, Executable, File, Hints,
    Machine, MachineOptions, ObjectCache, PlanOptions, Scalar, Segment, Segmentation, Stream, output_names,
    plan, read, segments, value_name,
};
use frontend::text::InputSpec;
use ir::array::StridedArray;
use ir::definition::InputDecl;
use tempfile::TempDir;
use testing::inputs::draw;
use testing::random::{Draws, generate, segmentation};
use testing::reduce::file;

use super::{definition, ferrofuse, objects};

/// Programs that are cut into segments, and segmentations of each example.
const SEEDS: u64 = 100;
const SEEDS_OF_EXAMPLES: u64 = 2;
/// The fewest that must run: others have indices or sizes that are wrong.
const MIN_RUN: usize = 60;
/// The seed of inputs and random numbers.
const SEED: u64 = 3;

fn call_options() -> CallOptions {
    CallOptions { stream: Some(Stream::new(SEED)), ..CallOptions::default() }
}

/// Options of a machine that shares the binary's cache: a kernel is compiled once for all three ways.
fn compile_options() -> CompileOptions {
    static MACHINE: LazyLock<Arc<Machine>> = LazyLock::new(|| {
        let cache = ObjectCache::open(CacheOptions::new(objects())).expect("a cache");
        Arc::new(Machine::new(MachineOptions { cache: Some(cache.into()), ..MachineOptions::default() }))
    });
    CompileOptions { machine: Arc::clone(&MACHINE), ..CompileOptions::default() }
}

/// Bytes of an array, row by row.
fn bytes(array: &ArrayView<'_>) -> Vec<u8> {
    array.to_array().unwrap().as_bytes().to_vec()
}

/// Runs the segments in order, each called as a separate definition on values by name, with the layouts of these, on which
/// the order of additions depends; `None` if a segment takes a size by a formula.
fn by_hand(file: &File, segments: &[Segment], inputs: &[ArrayView<'_>]) -> Option<Vec<Vec<u8>>> {
    let definition = &file.definition;
    let named = definition.fusion.inputs().iter().map(|&val| value_name(definition, val));
    let mut values: HashMap<String, StridedArray> =
        named.zip(inputs).map(|(name, view)| (name, StridedArray::copy_of(view).unwrap())).collect();
    let sizes = definition.signature().bind(inputs, &[]).unwrap();
    let mut known: HashMap<String, i64> =
        sizes.known().map(|(symbol, value)| (symbol.to_string(), value)).collect();
    let seeds = Stream::new(SEED).symbols(&definition.graph);
    known.extend(seeds.map(|(symbol, value)| (symbol.to_string(), value)));
    for segment in segments {
        for name in &segment.inputs {
            if !values.contains_key(name) {
                let size = Scalar::from_i64(DType::I64, *known.get(name)?);
                values.insert(name.clone(), Array::full(size, &[]).unwrap().into());
            }
        }
        let taken: Vec<ArrayView<'_>> = segment.inputs.iter().map(|name| values[name].view()).collect();
        let executable = Executable::by_size(segment.definition().clone(), compile_options());
        let made = executable.run_with(&call_options(), &taken).unwrap();
        let made: Vec<StridedArray> =
            made.iter().map(|output| StridedArray::copy_of(&output.view()).unwrap()).collect();
        values.extend(segment.outputs.iter().cloned().zip(made));
    }
    let outputs = definition.fusion.outputs().iter();
    Some(outputs.map(|output| bytes(&values[&value_name(definition, output.val)].view())).collect())
}

/// Asserts that the files of a run of the folder have these bytes, with those of half types in one file.
fn require_written(folder: &Path, definition: &Definition, outputs: &[Vec<u8>], what: &str) {
    for (name, output) in output_names(definition).iter().zip(outputs) {
        let alone = fs::read(folder.join(format!("{name}.npy")));
        let is_there = match &alone {
            Ok(written) => written.ends_with(output),
            Err(_) => {
                let written = fs::read(folder.join("outputs.safetensors")).unwrap();
                output.is_empty() || written.windows(output.len()).any(|part| part == output)
            }
        };
        assert!(is_there, "{what}: {name} from the folder differs");
    }
}

fn cut(definition: &Definition, chosen: Segmentation) -> Vec<Segment> {
    let options = PlanOptions { segmentation: Some(chosen), ..PlanOptions::default() };
    let options = CompileOptions { plan: options, ..CompileOptions::default() };
    let plan = plan(definition, &options).expect("a segmentation that fits");
    segments(definition, &plan, &Hints::default()).expect("segments")
}

/// The inputs of a file, drawn; `None` if one exceeds its storage.
fn drawn(file: &File) -> Option<Vec<StridedArray>> {
    let specs = file.inputs.as_deref().unwrap_or(&[]).iter().zip(file.definition.input_decls());
    let as_declared = |(spec, decl): (&InputSpec, &InputDecl)| match spec {
        InputSpec::Scalar(scalar) => InputSpec::Scalar(scalar.cast(decl.dtype)),
        InputSpec::Tensor(_) => spec.clone(),
    };
    specs.map(as_declared).enumerate().map(|(place, spec)| draw(&spec, SEED, place).ok()).collect()
}

/// Writes the folder of a definition's segments and runs it; returns the place of the outputs, or the error.
fn run_folder(text: &str, segmentation: &str) -> Result<(TempDir, PathBuf), String> {
    let (kept, path) = definition(text);
    let [by, folder, output] = ["cut.txt", "segments", "outputs"].map(|name| kept.path().join(name));
    fs::write(&by, segmentation).unwrap();
    let cutting = format!("segment {path} --segmentation {} --output {}", by.display(), folder.display());
    let running = format!("run {} --seed {SEED} --output {}", folder.display(), output.display());
    for line in [cutting, running] {
        let ended = ferrofuse(line.split_whitespace());
        if ended.code != 0 {
            return Err(ended.stderr);
        }
    }
    Ok((kept, output))
}

/// Whether a definition ran with a random segmentation, and whether its segments ran one by one.
fn require_same_bits(what: &str, text: &str, seed: u64) -> (bool, bool) {
    let file = read(text).unwrap_or_else(|error| panic!("{what}: {error:?}\n{text}"));
    let Some(drawn) = drawn(&file) else { return (false, false) };
    let inputs: Vec<ArrayView<'_>> = drawn.iter().map(|input| input.view()).collect();
    let chosen = segmentation(&file.definition, &mut Draws::new(seed));
    let chosen_text = chosen.to_text(&|val| value_name(&file.definition, val));
    let cut = cut(&file.definition, chosen);
    let chain = Executable::from_segments(file.definition.clone(), &cut, compile_options()).unwrap();
    let outputs = match (chain.run_with(&call_options(), &inputs), run_folder(text, &chosen_text)) {
        (Err(_), Err(_)) => return (false, false),
        (Err(error), Ok(_)) => panic!("{what}: the folder runs, and in Rust: {error}"),
        (Ok(_), Err(said)) => panic!("{what}: in Rust it runs, and the folder: {said}"),
        (Ok(outputs), Ok((kept, folder))) => {
            let outputs: Vec<Vec<u8>> = outputs.iter().map(|output| bytes(&output.view())).collect();
            require_written(&folder, &file.definition, &outputs, what);
            drop(kept);
            outputs
        }
    };
    let by_hand = by_hand(&file, &cut, &inputs);
    for (name, (by_hand, output)) in
        output_names(&file.definition).iter().zip(by_hand.iter().flatten().zip(&outputs))
    {
        assert!(by_hand == output, "{what}: {name} by hand differs\n{chosen_text}");
    }
    (true, by_hand.is_some())
}

fn of_random_program(seed: u64) -> (bool, bool) {
    let program = generate(seed);
    let Ok(defined) = program.define() else { return (false, false) };
    require_same_bits(&format!("seed {seed}"), &file(&program, &defined), seed)
}

/// Calls a function for each number on all processors: this test takes longer than all others of its binary.
fn side_by_side<T: Send>(numbers: u64, call: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let part = |first: usize| (first as u64..numbers).step_by(threads).map(&call).collect::<Vec<T>>();
    let part = &part;
    thread::scope(|scope| {
        let start = |first| scope.spawn(move || part(first));
        let running: Vec<_> = (0..threads).map(start).collect();
        running.into_iter().flat_map(|part| part.join().expect("no program differs")).collect()
    })
}

#[test]
fn segments_give_the_same_bits_by_hand_in_rust_and_from_their_folder() {
    let ran = side_by_side(SEEDS, of_random_program);
    let all = ran.iter().filter(|(ran, _)| *ran).count();
    let by_hand = ran.iter().filter(|(_, by_hand)| *by_hand).count();
    assert!(all >= MIN_RUN && by_hand >= MIN_RUN * 3 / 4, "{all} ran, {by_hand} by hand");
}

/// An example on small inputs: sizes that it leaves open are only in their list.
fn small(text: &str) -> String {
    let (definition, inputs) = text.split_once("inputs = [").expect("an example lists inputs");
    let sizes = [
        ("16777216", "1009"),
        ("32000", "29"),
        ("8192", "17"),
        ("4096", "33"),
        ("1024", "21"),
        ("256", "9"),
        ("320, 64, 64", "320, 6, 7"),
        ("56", "5"),
    ];
    let inputs = sizes.iter().fold(inputs.to_owned(), |text, (large, small)| text.replace(large, small));
    format!("{definition}inputs = [{inputs}")
}

#[test]
fn segments_of_examples_give_the_same_bits_by_hand_in_rust_and_from_their_folder() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let (what, text) = (path.display().to_string(), small(&fs::read_to_string(&path).unwrap()));
        for seed in 0..SEEDS_OF_EXAMPLES {
            assert_eq!(require_same_bits(&what, &text, seed), (true, true), "{what}, seed {seed}");
        }
    }
}
