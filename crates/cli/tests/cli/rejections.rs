//! Bad input of every kind: exit code 2 or 3, an error of one screen that names the place, and no file left behind.

use std::fs;
use std::path::Path;

use super::{definition, ferrofuse, files, fine};

/// The number of lines that fit on a screen.
const SCREEN: usize = 24;

const ADD: &str = "def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    y = fd.define_tensor(shape=[-1, -1], contiguity=True)
    z = fd.ops.add(x, y)
    fd.add_output(z)
";

/// Runs a definition with these words and an output folder, which must not be created; returns the error.
fn rejected(path: &str, words: &[&str], code: i32) -> String {
    let folder = Path::new(path).parent().unwrap().join("outputs");
    let mut line = vec!["run", path, "--output", folder.to_str().unwrap()];
    line.extend(words);
    let ended = ferrofuse(&line);
    assert_eq!(ended.code, code, "{line:?}\n{}", ended.stderr);
    assert!(ended.stdout.is_empty(), "{}", ended.stdout);
    assert!(ended.stderr.lines().count() <= SCREEN, "more than a screen:\n{}", ended.stderr);
    assert!(ended.stderr.lines().all(|line| line.chars().count() < 250), "{}", ended.stderr);
    assert_eq!(files(&folder), [] as [&str; 0]);
    ended.stderr
}

fn rejected_definition(text: &str) -> String {
    let (_folder, path) = definition(text);
    rejected(&path, &[], 2)
}

#[test]
fn definitions_are_rejected_with_their_place() {
    let broken = ADD.replace("fd.ops.add(x, y)", "fd.ops.add(x, y");
    let error = rejected_definition(&broken);
    assert!(error.contains("definition.py:"), "{error}");
    let error = rejected_definition(&ADD.replace("ops.add", "ops.ad"));
    assert!(error.contains("definition.py:4:") && error.contains("did you mean `add`"), "{error}");
    assert!(error.contains("z = fd.ops.ad(x, y)"), "the line is shown: {error}");
    let error = rejected_definition(&ADD.replace("ops.add", "ops.bitwise_and"));
    assert!(error.contains("must be an integer or a bool"), "{error}");
    let sized = ADD.replacen("[-1, -1]", "[3, 4]", 1).replace("[-1, -1]", "[3, 5]");
    let error = rejected_definition(&sized);
    assert!(error.contains("definition.py:4:") && error.contains("size 4"), "{error}");
}

/// A part of a line that is too wide for a screen is shown, with the right line number.
#[test]
fn places_in_wide_lines_are_those_of_the_file() {
    let nested = format!("{}z{}", "fd.ops.exp(".repeat(30), ")".repeat(30));
    let error = rejected_definition(&ADD.replace("add_output(z)", &format!("add_output({nested} + w)")));
    let column = "    fd.add_output( + ".len() + nested.len();
    assert!(error.contains(&format!("definition.py:5:{}", column + 1)), "{error}");
    assert!(error.contains(" 5 │ "), "{error}");
    let wide = ADD.replace("ops.add(x, y)", &format!("ops.ad(x, y) # {}", "x".repeat(300)));
    let error = rejected_definition(&wide);
    assert!(error.contains("definition.py:4:9"), "{error}");
}

#[test]
fn files_that_hold_no_definition_are_rejected() {
    let error = rejected_definition("");
    assert!(error.contains("no definition"), "{error}");
    let error = rejected_definition(&format!("x = {}", "(".repeat(100_000)));
    assert!(error.contains("definition.py"), "{error}");
    rejected_definition(&"x".repeat(1_000_000));
    let (folder, path) = definition("");
    fs::write(&path, (0..4096_u32).map(|k| (k.wrapping_mul(2_654_435_761) >> 13) as u8).collect::<Vec<u8>>())
        .unwrap();
    assert!(rejected(&path, &[], 2).contains("not text"));
    let missing = folder.path().join("missing.py");
    assert!(rejected(missing.to_str().unwrap(), &[], 2).contains("missing.py"));
    assert!(rejected(folder.path().to_str().unwrap(), &[], 2).contains("directory"));
}

#[test]
fn inputs_without_data_are_named_with_the_ways_to_give_some() {
    let (_folder, path) = definition(ADD);
    let error = rejected(&path, &[], 2);
    for expected in ["no data for `x`", "--input x=FILE", "--size i0=N", "inputs = [...]"] {
        assert!(error.contains(expected), "{expected} is missing:\n{error}");
    }
    assert!(rejected(&path, &["--size", "i9=4"], 2).contains("i0 (axis 0 of x)"));
    assert!(rejected(&path, &["--size", "i0=-4"], 2).contains("--size"));
    assert!(rejected(&path, &["--input", "w=a.npy"], 2).contains("no input `w`; it has x, y"));
    assert!(rejected(&path, &["--input", "x=nowhere.npy"], 2).contains("nowhere.npy"));
    assert!(rejected(&path, &["--input", "x=a.txt"], 2).contains(".npy, .npz or .safetensors"));
    let twice = rejected(&path, &["--input", "x=a.npy", "--input", "x=b.npy"], 2);
    assert!(twice.contains("--input: `x` is given twice"), "{twice}");
}

/// A `.npy` file of zeros.
fn npy(folder: &Path, name: &str, kind: &str, shape: &str, bytes: usize) -> String {
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(vec![0; bytes]);
    let path = folder.join(name);
    fs::write(&path, file).unwrap();
    path.display().to_string()
}

#[test]
fn arrays_that_do_not_fit_are_rejected() {
    let (folder, path) = definition(ADD);
    let x = format!("x={}", npy(folder.path(), "x.npy", "<f4", "(3, 4)", 48));
    let with_y = |name: &str, kind: &str, shape: &str, bytes: usize| {
        let y = format!("y={}", npy(folder.path(), name, kind, shape, bytes));
        rejected(&path, &["--input", &x, "--input", &y], 2)
    };
    let error = with_y("shape.npy", "<f4", "(3, 5)", 60);
    assert!(error.contains('y') && error.contains("expected size 4") && error.contains("got 5"), "{error}");
    let error = rejected(&path, &["--input", &x, "--size", "i1=5"], 2);
    assert!(error.contains("--size i1=5: axis 1 of the data given for `x` has size 4"), "{error}");
    assert!(with_y("dtype.npy", "<f8", "(3, 4)", 96).contains("expected dtype f32, got f64"));
    assert!(with_y("rank.npy", "<f4", "(12,)", 48).contains("axes"));
    assert!(with_y("truncated.npy", "<f4", "(3, 4)", 40).contains("truncated"));
    assert!(with_y("short.npy", "<m2", "(3, 4)", 24).contains("short.npy"));
    assert!(with_y("huge.npy", "<f4", "(99999999999, 99999999999)", 0).contains("beyond any memory"));
    for name in ["random.npy", "random.npz", "random.safetensors"] {
        let place = folder.path().join(name);
        fs::write(&place, (0..999_u32).map(|k| ((k * k) >> 3) as u8).collect::<Vec<u8>>()).unwrap();
        let y = format!("y={}", place.display());
        assert!(rejected(&path, &["--input", &x, "--input", &y], 2).contains(name));
    }
}

/// A `.safetensors` file of f32 tensors of one element.
fn safetensors(folder: &Path, names: &[&str]) -> String {
    let entry = |(place, name): (usize, &&str)| {
        let offsets = [4 * place, 4 * place + 4];
        (name.to_string(), serde_json::json!({ "dtype": "F32", "shape": [1, 1], "data_offsets": offsets }))
    };
    let header = serde_json::Value::Object(names.iter().enumerate().map(entry).collect()).to_string();
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.as_bytes());
    file.extend(vec![0; 4 * names.len()]);
    let path = folder.join(format!("{}.safetensors", names.join("_")));
    fs::write(&path, file).unwrap();
    path.display().to_string()
}

/// An array of an archive that is for no input is not left out in silence, whether others are for inputs or not.
#[test]
fn arrays_for_no_input_are_rejected() {
    let (folder, path) = definition(&format!("{ADD}\ninputs = [torch.ones(1, 1), torch.ones(1, 1)]\n"));
    for names in [&["foo"][..], &["x", "foo"], &["foo", "x", "y"]] {
        let file = safetensors(folder.path(), names);
        let error = rejected(&path, &["--input", &file], 2);
        for expected in ["no input is called `foo`", "foo", names[0], "the definition has x, y", "x=/"] {
            assert!(error.contains(expected), "{expected} is missing:\n{error}");
        }
        for verb in ["explain", "emit --stage graph", "segment --output nowhere"] {
            let mut words: Vec<&str> = verb.split(' ').collect();
            words.splice(1..1, [path.as_str(), "--input", &file]);
            assert_eq!(super::ferrofuse(&words).code, 2, "{words:?}");
        }
    }
    let (foo, both) = (safetensors(folder.path(), &["foo"]), safetensors(folder.path(), &["x", "y"]));
    let text = fine(&format!("run {path} --input x={foo} --input {both} --check"));
    assert!(text.contains("matches the evaluator"), "{text}");
    let x = safetensors(folder.path(), &["x"]);
    let twice = rejected(&path, &["--input", &both, "--input", &x], 2);
    assert!(twice.contains("--input: `x` is given twice, the second time by /"), "{twice}");
}

/// What only the data shows has its line, as what is wrong in the file has.
#[test]
fn an_index_out_of_range_has_its_line() {
    let (_folder, path) = definition(
        "def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True)
    index = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
    y = fd.ops.index_select(x, index, dim=0)
    fd.add_output(y)

inputs = [torch.randn((3, 4)), torch.arange(9)]
",
    );
    let error = rejected(&path, &[], 2);
    for expected in [
        "`index_select`: index 3 is out of range for axis 0 of size 3",
        "definition.py:4:5",
        "y = fd.ops.index_select(x, index, dim=0)",
    ] {
        assert!(error.contains(expected), "{expected} is missing:\n{error}");
    }
}

/// A scalar that is a size has the value of `--size`, and what follows from other sizes.
#[test]
fn scalars_that_are_sizes_are_those_asked_for() {
    let (_folder, path) = definition(
        "def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    s = fd.define_scalar(dtype=DataType.Int)
    ones = fd.ops.full(shape=[s], fill_value=1.0, dtype=DataType.Float)
    fd.add_output(ones)
    fd.add_output(fd.ops.full(shape=[fd.ops.add(s, 1)], fill_value=1.0, dtype=DataType.Float))
    fd.add_output(fd.ops.add(x, 1.0))

inputs = [torch.randn((3,)), 5]
",
    );
    for (given, size) in [("", 5), ("--size i1=9", 9), ("--input s=7", 7), ("--input s=7 --size i1=7", 7)] {
        let text = fine(&format!("run {path} {given}"));
        assert!(text.contains(&format!("f32[{size}]\n")), "{given}: {text}");
        assert!(text.contains(&format!("f32[{}]\n", size + 1)), "{given}: {text}");
    }
    let error = rejected(&path, &["--size", "i1=9", "--input", "s=7"], 2);
    assert!(error.contains("--size i1=9: the number given for `s` is 7"), "{error}");
    let error = rejected(&path, &["--input", "s=many"], 2);
    assert!(error.contains("`s` is a scalar: expected a number, as in s=8"), "{error}");
}

/// A size that a run computes is for `emit` and `explain`, which have no scalars to compute it of.
#[test]
fn computed_sizes_are_not_given() {
    let (_folder, path) = definition(
        "def f(fd):
    share = fd.define_scalar(dtype=DataType.Double)
    rows = fd.ops.cast(fd.ops.mul(share, 8.0), dtype=DataType.Int)
    fd.add_output(fd.ops.full(shape=[rows], fill_value=1.0, dtype=DataType.Float))

inputs = [0.5]
",
    );
    assert!(fine(&format!("run {path}")).contains("f32[4]\n"));
    let error = rejected(&path, &["--size", "i0=9"], 2);
    assert!(error.contains("--size i0=9: a run computes i0 of scalars"), "{error}");
    fine(&format!("emit {path} --stage schedule --size i0=9"));
}

/// A segmentation that lacks an output, or needs more memory than is allowed where others may not.
#[test]
fn segmentations_that_do_not_fit_are_rejected() {
    let (folder, path) = definition(ADD);
    let cut = folder.path().join("cut.txt").display().to_string();
    fs::write(&cut, "").unwrap();
    let sizes = ["--size", "i0=64", "--size", "i1=64", "--segmentation", &cut];
    let error = rejected(&path, &sizes, 2);
    assert!(error.contains("no segment makes the output `z`"), "{error}");
    fs::write(&cut, "segment all -> z\n").unwrap();
    let error = rejected(&path, &[&sizes[..], &["--peak-memory", "64"]].concat(), 2);
    assert!(error.contains("64 are allowed: other segments may need less"), "{error}");
    let error = rejected(&path, &[&sizes[..], &["--peak-memory", "-1"]].concat(), 2);
    assert!(error.contains("`-1` is no number of bytes"), "{error}");
}

#[test]
fn sizes_beyond_memory_are_the_machines_fault() {
    let (_folder, path) = definition(ADD);
    let error = rejected(&path, &["--size", "i0=10000000", "--size", "i1=10000000"], 3);
    assert!(error.contains("no memory"), "{error}");
    let error = rejected(&path, &["--size", "i0=9000000000000000000", "--size", "i1=9000000000000000000"], 3);
    assert!(error.contains("no memory: `x` has more elements than can be counted"), "{error}");
    let (_folder, path) = definition(
        "def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=[None, None])
    fd.add_output(fd.ops.sum(x, dims=[0, 1]))
",
    );
    let error = rejected(&path, &["--size", "i0=4294967296", "--size", "i1=4294967296"], 3);
    assert!(error.contains("no memory: `x` has more elements than can be counted"), "{error}");
}

#[test]
fn outputs_beyond_memory_are_the_machines_fault() {
    let (_folder, path) = definition(
        "def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True)
    y = fd.define_tensor(shape=[-1], contiguity=True)
    rows = fd.ops.broadcast(x, is_broadcast_dim=[False, True])
    columns = fd.ops.broadcast(y, is_broadcast_dim=[True, False])
    fd.add_output(fd.ops.add(rows, columns))
",
    );
    let error = rejected(&path, &["--size", "i0=10000000", "--size", "i1=10000000"], 3);
    assert!(error.contains("no memory"), "{error}");
}

#[test]
fn wrong_words_are_rejected() {
    for line in [
        &["runn"][..],
        &["run"],
        &["run", "examples/softmax.py", "--threads", "0"],
        &["run", "examples/softmax.py", "--threads", "0777"],
        &["run", "examples/softmax.py", "--seed", "+7"],
        &["run", "examples/softmax.py", "--input", "S1=+7"],
        &["run", "examples/softmax.py", "--device", "cuda:01"],
        &["fuzz", "--cases", "1_0"],
        &["emit", "a", "--stage", "x"],
    ] {
        let ended = ferrofuse(line);
        assert!(ended.code == 2 && !ended.stderr.is_empty(), "{line:?}: {}", ended.stderr);
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error() {
    let (folder, path) = definition(ADD);
    let place = folder.path().join("file");
    fs::write(&place, "in the way").unwrap();
    let place = place.to_str().unwrap();
    let ended = ferrofuse(["run", &path, "--size", "i0=2", "--size", "i1=2", "--output", place]);
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    assert!(ended.stderr.contains(place), "{}", ended.stderr);
    assert_eq!(fs::read_to_string(place).unwrap(), "in the way");
}
