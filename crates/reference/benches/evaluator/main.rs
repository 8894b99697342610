//! How long the evaluator takes, with bounds, on one thread: nanoseconds an element of each op of the table, each cast,
//! each form, and a multiply-add of matrix products.
//!
//! `cargo bench -p ferrofuse-ir --bench evaluator [FILTER]`. What has operands with errors is timed together with what
//! gives them those errors, and that is subtracted.

mod forms;
mod program;

use ferrofuse_reference::evaluate::{EvaluateOptions, Serial, compare, evaluate};
use ir::graph::Form;
use ops::{DType, Prim, Typing};

use program::Program;

/// Elements of what is timed.
const COUNT: usize = 1 << 20;

fn main() {
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let report = Report { filter };
    println!("{:36} {:>9} {:>9}", "ns an element, one thread", "exact", "inexact");
    ops(&report);
    casts(&report);
    forms::forms(&report);
    comparisons(&report);
}

/// Prints what the filter lets through.
struct Report {
    filter: String,
}

impl Report {
    /// Times a program on exact operands, and one on operands with errors less what gives them those.
    fn line(&self, name: &str, count: usize, build: impl Fn(&mut Program, bool)) {
        if !name.contains(&self.filter) {
            return;
        }
        let time = |inexact: bool| {
            let mut program = Program::default();
            build(&mut program, inexact);
            program.time() * 1e9 / count as f64
        };
        let inexact = match Program::takes_errors(&build) {
            true => format!("{:9.2}", time(true)),
            false => format!("{:>9}", "-"),
        };
        println!("{name:36} {:9.2} {inexact}", time(false));
    }
}

fn ops(report: &Report) {
    for &prim in Prim::ALL {
        let row = prim.row();
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
            report.line(&format!("{} {dtype}", row.name), COUNT, |p, inexact| {
                let operands: Vec<_> = (0..row.params.len())
                    .map(|place| {
                        let is_condition = row.typing == Typing::Where && place == 0;
                        p.operand(if is_condition { DType::Bool } else { dtype }, &[COUNT], inexact)
                    })
                    .collect();
                p.measure(Form::Map(prim), &operands);
            });
        }
    }
}

fn casts(report: &Report) {
    for from in DType::REAL {
        for to in DType::REAL.into_iter().filter(|&to| to != from) {
            report.line(&format!("cast {from} to {to}"), COUNT, |p, inexact| {
                let x = p.operand(from, &[COUNT], inexact);
                p.measure(Form::Cast(to), &[x]);
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
        let array = program::elements(dtype, &[COUNT]);
        let mut program = Program::default();
        let x = program.input(array);
        let result = program.add(Form::Permute([0].into_iter().collect()), &[x]);
        let view = program.view(&[result]);
        let array = program.arrays[0].view();
        let given =
            evaluate(&program.graph, &view, std::slice::from_ref(&array), &EvaluateOptions::default());
        let given = given.expect("a sound call");
        let time = program::fastest(|| {
            assert!(compare(&given.outputs[0], &array, &Serial).expect("alike").matches());
        });
        println!("{name:36} {:9.2} {:>9}", time * 1e9 / COUNT as f64, "-");
    }
}
