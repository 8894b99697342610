//! A second dialect of C: kernels as plain C99, compiled by `cc` and run block by block and lane by lane, give the kernel
//! interpreter's bits.

mod dialect;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ferrofuse_codegen_c::c::{KernelText, emit};
use kernel::{Kernel, parse};
use ops::DType::{BF16, Bool, F32, I32, I64};
use reference::interpret::{DenseMemory, Options, interpret};
use tempfile::TempDir;

use dialect::C99;

/// A kernel as a program that takes its arguments and buffers and returns the buffers.
struct Program {
    kernel: Kernel,
    text: KernelText,
    executable: PathBuf,
    _folder: TempDir,
}

/// The kernel of a text, with other lanes.
fn kernel(text: &str, lanes: &str) -> Kernel {
    let text = text.replace("lanes 128 {", &format!("{lanes} {{"));
    parse(&text).unwrap_or_else(|error| panic!("{error}"))
}

impl Program {
    fn new(kernel: Kernel) -> Program {
        let text = emit(&kernel, 1, &C99).unwrap_or_else(|error| panic!("{error}"));
        let folder = TempDir::new().expect("a folder");
        let executable = folder.path().join("kernel");
        compile(&main_program(&kernel, &text), folder.path(), &executable);
        Program { kernel, text, executable, _folder: folder }
    }

    /// Asserts that the program's buffers have the interpreter's bits. All NaNs are equal.
    #[track_caller]
    fn check(&self, args: &[i64], buffers: &[DenseMemory]) {
        let mut expected = buffers.to_vec();
        interpret(&self.kernel, args, &mut expected, &Options { contracts: true, ..Options::default() })
            .unwrap_or_else(|fault| panic!("{fault}"));
        let found = self.run(args, buffers);
        let mut rest = found.as_slice();
        for (number, expected) in expected.iter().enumerate() {
            let (bytes, behind) = rest.split_at(expected.bytes().len());
            let found = DenseMemory::from_bytes(expected.dtype(), bytes.to_vec()).expect("whole elements");
            rest = behind;
            for index in 0..expected.len() {
                let (want, got) = (expected.read(index), found.read(index));
                let are_nan = want.as_f64().is_nan() && got.as_f64().is_nan();
                let place = format!("b{number}[{index}] of {args:?}");
                assert!(want == got || are_nan, "{place} is {got}, not {want}:\n{}", self.text.source);
            }
        }
        assert!(rest.is_empty(), "{} bytes too many", rest.len());
    }

    /// The bytes of all buffers after the run.
    fn run(&self, args: &[i64], buffers: &[DenseMemory]) -> Vec<u8> {
        let symbol = |symbol| {
            self.kernel.arguments.iter().position(|&argument| argument == symbol).map(|place| args[place])
        };
        let sizes = [&self.kernel.blocks, &self.text.scratch_bytes];
        let sizes = sizes.map(|size| size.eval(&symbol).expect("a small size"));
        let mut given: Vec<u8> = sizes.iter().chain(args).flat_map(|number| number.to_ne_bytes()).collect();
        for memory in buffers {
            given.extend((memory.bytes().len() as i64).to_ne_bytes());
            given.extend(memory.bytes());
        }
        let mut command = Command::new(&self.executable);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        child.stdin.take().expect("piped").write_all(&given).expect("it reads");
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{}:\n{}", output.status, self.text.source);
        output.stdout
    }
}

/// The kernel's function with a program that runs it.
fn main_program(kernel: &Kernel, text: &KernelText) -> String {
    let (buffers, arguments) = (kernel.buffers.len(), kernel.arguments.len());
    let given = (0..buffers).map(|i| format!("buffers[{i}]"));
    let given: Vec<String> = given.chain((0..arguments).map(|i| format!("arguments[{i}]"))).collect();
    let call = format!("{}({})", text.name, given.join(", "));
    let facts = format!(
        "#define LANES {}\n#define BUFFERS {buffers}\n#define ARGUMENTS {arguments}\n#define KERNEL {call}\n",
        kernel.lanes
    );
    format!("{}\n{facts}{}", text.source, include_str!("block.c"))
}

fn compile(source: &str, folder: &Path, executable: &Path) {
    let file = folder.join("kernel.c");
    std::fs::write(&file, source).expect("the folder takes files");
    let mut command = Command::new("cc");
    command.args(["-std=c99", "-D_XOPEN_SOURCE=700", "-D_DEFAULT_SOURCE", "-O2", "-ffp-contract=off"]);
    let output = command.arg("-o").arg(executable).arg(&file).arg("-lm").output();
    let output = output.unwrap_or_else(|error| panic!("these tests need `cc`, a C compiler: {error}"));
    assert!(output.status.success(), "{}\n{source}", String::from_utf8_lossy(&output.stderr));
}

/// Elements in -4..4 that look random and are the same in every run.
fn values(dtype: ops::DType, count: usize) -> DenseMemory {
    let numbers: Vec<f64> = (0..count as u64).map(|i| (i * 7919 % 8191) as f64 / 1024.0 - 4.0).collect();
    DenseMemory::from_f64s(dtype, &numbers)
}

/// Inputs and outputs of a kernel that makes a row of each.
fn rows(dtype: ops::DType, rows: usize, columns: usize) -> [DenseMemory; 2] {
    [values(dtype, rows * columns), DenseMemory::zeros(F32, rows * columns)]
}

#[test]
fn softmax_of_rows() {
    for lanes in ["lanes 1", "lanes 16"] {
        let program =
            Program::new(kernel(include_str!("../../../testing/tests/cuda/programs/softmax.kernel"), lanes));
        for (i, j) in [(2, 1), (1, 17), (3, 300), (2, 0), (0, 5)] {
            program.check(&[i as i64, j as i64], &rows(F32, i, j));
        }
    }
}

#[test]
fn rows_standardized_warp_by_warp() {
    for lanes in ["lanes 8 warps 2", "lanes 64 warps 32"] {
        let program = Program::new(kernel(
            include_str!("../../../testing/tests/cuda/programs/standardize.kernel"),
            lanes,
        ));
        for (i, j) in [(2, 1), (3, 300)] {
            program.check(&[i as i64, j as i64], &rows(F32, i, j));
        }
    }
}

#[test]
fn mean_and_variance_of_rows() {
    let program =
        Program::new(kernel(include_str!("../../../testing/tests/cuda/programs/welford.kernel"), "lanes 32"));
    for (i, j) in [(3, 1), (2, 100), (3, 777)] {
        let [mean, variance] = [DenseMemory::zeros(F32, i), DenseMemory::zeros(F32, i)];
        program.check(&[i as i64, j as i64], &[values(F32, i * j), mean, variance]);
    }
}

#[test]
fn column_sums() {
    let program = Program::new(kernel(
        include_str!("../../../testing/tests/cuda/programs/column_sum_partial.kernel"),
        "lanes 8",
    ));
    for (i, j) in [(1, 1), (40, 300), (17usize, 33)] {
        let sums = DenseMemory::zeros(F32, i.div_ceil(16) * j);
        program.check(&[i as i64, j as i64], &[values(BF16, i * j), sums]);
    }
}

#[test]
fn rows_reversed_through_scratch() {
    let program =
        Program::new(kernel(include_str!("../../../testing/tests/cuda/programs/reverse.kernel"), "lanes 8"));
    for (i, j) in [(1, 1), (2, 31), (3, 300)] {
        let outputs =
            [DenseMemory::zeros(I64, i * j), DenseMemory::zeros(I32, 2 * i), DenseMemory::zeros(Bool, i)];
        let [reversed, extremes, any] = outputs;
        program.check(&[i as i64, j as i64], &[values(I64, i * j), reversed, extremes, any]);
    }
}

#[test]
fn vectors_kept_in_registers() {
    let program = Program::new(kernel(include_str!("centered.kernel"), "lanes 8"));
    assert!(program.text.scratch_bytes.is_zero(), "{}", program.text.source);
    assert!(program.text.source.contains("} w0[4];"), "{}", program.text.source);
    for (i, j) in [(1, 4), (3, 100), (2, 128)] {
        program.check(&[i as i64, j as i64], &rows(BF16, i, j));
    }
}

/// The variable of an accumulator that is set once is unchanged when another accumulator changes.
#[test]
fn an_accumulator_set_to_another() {
    let program = Program::new(kernel(include_str!("promoted.kernel"), "lanes 1"));
    assert!(!program.text.source.contains("a1"), "{}", program.text.source);
    program.check(&[3], &[values(F32, 3), DenseMemory::zeros(F32, 1)]);
}
