//! How long the evaluator takes, with bounds, on one thread: nanoseconds an element of each op of the table, each cast,
//! each tensor op, and a multiply-add of matrix products.
//!
//! `cargo bench -p ferrofuse-reference --bench evaluator [FILTER] [--keep]`. What has operands with errors is timed together
//! with what gives them those errors, and that is subtracted. These operands end with the op, so that its results may take
//! their memory, but with `--keep`; exact operands are inputs, and stay. Memory stays with the process from run to run: what
//! the system takes to hand out and clear new pages is not in. The slowest in proportion to their goals come first, with a
//! mark where they are above.

mod program;
mod tensor_ops;

use std::cell::RefCell;

use ferrofuse_reference::evaluate::{EvaluateOptions, Serial, compare, evaluate};
use ir::graph::TensorOp;
use ops::{CpuSpelling, DType, Primitive, ScalarOp, Typing};

use program::Program;

/// Elements of what is timed.
const COUNT: usize = 1 << 20;

fn main() {
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let keeps_operands = std::env::args().any(|argument| argument == "--keep");
    program::keep_memory();
    let report = Report { filter, keeps_operands, lines: RefCell::default() };
    ops(&report);
    casts(&report);
    tensor_ops::tensor_ops(&report);
    comparisons(&report);
    report.print();
}

/// Nanoseconds an element, or a multiply-add, that are aimed at.
pub mod goal {
    /// Arithmetic, comparisons, casts, movement.
    pub const SIMPLE: f64 = 4.0;
    /// Functions that a processor has no instruction for.
    pub const ELEMENTARY: f64 = 20.0;
    /// Of products of matrices.
    pub const PRODUCT: f64 = 0.3;

    /// Of an op that gives `count` results of the size of its operand, or takes as many parts of numbers: as simple for
    /// each.
    pub fn of_results(count: usize) -> f64 {
        SIMPLE * count as f64
    }

    /// Of sorting by comparisons: an element of a line meets the logarithm of its length of them, one of a selection that of
    /// what is selected.
    pub fn of_sort(length: usize) -> f64 {
        SIMPLE * (length as f64).log2()
    }
}

/// Which goal an op has.
fn goal_of(row: &Primitive) -> f64 {
    let spellings = [row.cpu.float, row.cpu.int];
    let is_call = |spelling: &Option<CpuSpelling>| {
        use CpuSpelling::{Approximate, Call, Philox, Polynomial};
        matches!(spelling, Some(Call { .. } | Polynomial(_) | Philox | Approximate(_)))
    };
    if spellings.iter().any(is_call) { goal::ELEMENTARY } else { goal::SIMPLE }
}

/// What was measured.
struct Line {
    name: String,
    goal: f64,
    exact: f64,
    inexact: Option<f64>,
}

impl Line {
    /// The slower of its times over what is aimed at.
    fn ratio(&self) -> f64 {
        self.exact.max(self.inexact.unwrap_or_default()) / self.goal
    }
}

/// What the filter lets through.
struct Report {
    filter: String,
    /// Whether operands with errors are needed after the op.
    keeps_operands: bool,
    lines: RefCell<Vec<Line>>,
}

impl Report {
    /// Times a program on exact operands, and one on operands with errors less what gives them those.
    fn line(&self, name: &str, goal: f64, count: usize, build: impl Fn(&mut Program, bool)) {
        if !name.contains(&self.filter) {
            return;
        }
        let time = |inexact: bool| {
            let mut program = Program::default();
            build(&mut program, inexact);
            program.time(self.keeps_operands) * 1e9 / count as f64
        };
        let inexact = Program::takes_errors(&build).then(|| time(true));
        self.add(name, goal, time(false), inexact);
    }

    fn add(&self, name: &str, goal: f64, exact: f64, inexact: Option<f64>) {
        eprint!(".");
        self.lines.borrow_mut().push(Line { name: name.to_owned(), goal, exact, inexact });
    }

    fn print(self) {
        let mut lines = self.lines.into_inner();
        lines.sort_by(|a, b| b.ratio().total_cmp(&a.ratio()));
        println!("\n{:36} {:>9} {:>9} {:>9}", "ns an element, one thread", "goal", "exact", "inexact");
        for line in lines {
            let inexact = line.inexact.map_or("-".to_owned(), |time| format!("{time:.2}"));
            let mark = if line.ratio() > 1.0 { " above" } else { "" };
            println!("{:36} {:9.2} {:9.2} {inexact:>9}{mark}", line.name, line.goal, line.exact);
        }
    }
}

fn ops(report: &Report) {
    for &op in ScalarOp::ALL {
        let row = op.row();
        let classes = row.classes();
        let dtypes = [
            (DType::F32, classes.float),
            (DType::F64, classes.float),
            (DType::I32, classes.int && row.typing != Typing::Counter),
            (DType::I64, classes.int),
            (DType::U64, classes.int && row.typing != Typing::Counter),
            (DType::Bool, classes.boolean),
        ];
        for (dtype, _) in dtypes.into_iter().filter(|(_, takes)| *takes) {
            report.line(&format!("{} {dtype}", row.name), goal_of(row), COUNT, |p, inexact| {
                let operands: Vec<_> = (0..row.params.len())
                    .map(|place| {
                        let is_condition = row.typing == Typing::Where && place == 0;
                        p.operand(if is_condition { DType::Bool } else { dtype }, &[COUNT], inexact)
                    })
                    .collect();
                p.measure(TensorOp::Map(op), &operands);
            });
        }
    }
}

fn casts(report: &Report) {
    for from in DType::REAL {
        for to in DType::REAL.into_iter().filter(|&to| to != from) {
            report.line(&format!("cast {from} to {to}"), goal::SIMPLE, COUNT, |p, inexact| {
                let x = p.operand(from, &[COUNT], inexact);
                p.measure(TensorOp::Cast(to), &[x]);
            });
        }
    }
}

fn comparisons(report: &Report) {
    for dtype in DType::REAL.into_iter().chain([DType::C64]) {
        let name = format!("compare {dtype}");
        if !name.contains(&report.filter) {
            continue;
        }
        let array = program::elements(dtype, &[COUNT], 0);
        let mut program = Program::default();
        let x = program.input(array);
        let result = program.add(TensorOp::Permute([0].into_iter().collect()), &[x]);
        let view = program.view(&[result]);
        let array = program.arrays[0].view();
        let given =
            evaluate(&program.graph, &view, std::slice::from_ref(&array), &EvaluateOptions::default());
        let given = given.expect("a sound call");
        let time = program::fastest(|| {
            assert!(compare(&given.outputs[0], &array, &Serial).expect("alike").matches());
        });
        let parts = if dtype.is_complex() { 2 } else { 1 };
        report.add(&name, goal::of_results(parts), time * 1e9 / COUNT as f64, None);
    }
}
