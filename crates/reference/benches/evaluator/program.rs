//! Programs of one op: drawn operands, with errors or without, and the time of the op alone.

use std::sync::Arc;

use ferrofuse_reference::evaluate::{EvaluateOptions, evaluate};
use index::{Expr, Facts};
use ir::array::{Array, ArrayView};
use ir::graph::{Fusion, Graph, InputLayout, TensorOp, Type, Val};
use ops::{DType, Scalar, ScalarOp};

/// A graph under construction, and its inputs.
#[derive(Default)]
pub struct Program {
    pub graph: Graph,
    pub arrays: Vec<Array>,
    facts: Facts,
    inputs: Vec<Val>,
    /// What is made before the time is taken, such as operands with errors.
    before: Vec<Val>,
    results: Vec<Val>,
}

impl Program {
    /// An input of these elements.
    pub fn input(&mut self, array: Array) -> Val {
        let sizes = array.sizes().iter().map(|&size| Expr::constant(size as i64));
        let ty = Type::new(array.dtype(), sizes);
        let ordinal = self.inputs.len() as u32;
        let val = self.add(TensorOp::Input { ordinal, ty, layout: InputLayout::default() }, &[]);
        self.arrays.push(array);
        self.inputs.push(val);
        val
    }

    pub fn add(&mut self, op: TensorOp, operands: &[Val]) -> Val {
        self.graph.add(op, operands, &mut self.facts).expect("a legal op").into()
    }

    /// Drawn numbers; if they are to have errors, a part of the reciprocals of such, cast to the dtype.
    pub fn operand(&mut self, dtype: DType, sizes: &[usize], inexact: bool) -> Val {
        let takes = dtype.is_float() && dtype != DType::F8E8M0;
        if !inexact || !takes {
            return self.input(elements(dtype, sizes, self.inputs.len()));
        }
        let x = self.input(elements(dtype.compute(), sizes, self.inputs.len()));
        let part = self.constant(dtype.compute(), 0.045);
        let reciprocal = self.add(TensorOp::Map(ScalarOp::ReciprocalHalf), &[x]);
        let mut val = self.add(TensorOp::Map(ScalarOp::Mul), &[reciprocal, part]);
        if dtype.compute() != dtype {
            val = self.add(TensorOp::Cast(dtype), &[val]);
        }
        self.before(val);
        val
    }

    /// A value that is made before the time is taken.
    pub fn before(&mut self, val: Val) {
        self.before.push(val);
    }

    /// The op to be timed, with all its results.
    pub fn measure(&mut self, op: TensorOp, operands: &[Val]) {
        let node = self.graph.add(op, operands, &mut self.facts).expect("a legal op");
        self.results.extend(self.graph.results(node));
    }

    /// A constant.
    pub fn constant(&mut self, dtype: DType, x: f64) -> Val {
        self.add(TensorOp::Constant(Scalar::from_f64(dtype, x)), &[])
    }

    /// Whether a program has operands that can have errors.
    pub fn takes_errors(build: &impl Fn(&mut Program, bool)) -> bool {
        let made = |inexact: bool| {
            let mut program = Program::default();
            build(&mut program, inexact);
            program.before.len()
        };
        made(true) > made(false)
    }

    pub fn view(&self, outputs: &[Val]) -> Fusion {
        let outputs = outputs.iter().map(|&val| val.into()).collect();
        let facts = Arc::new(self.facts.clone());
        Fusion::new(&self.graph, self.inputs.clone(), outputs, facts).expect("a closed view")
    }

    /// Seconds that the op alone takes, where its operands with errors end or are kept.
    pub fn time(&self, keeps_operands: bool) -> f64 {
        let kept = if keeps_operands { &self.before[..] } else { &[] };
        let outputs = [[&self.results[..], kept].concat(), self.before.clone()];
        let inputs: Vec<ArrayView<'_>> = self.arrays.iter().map(Array::view).collect();
        let run = |outputs: &[Val]| {
            let view = self.view(outputs);
            seconds_of(|| {
                let done = evaluate(&self.graph, &view, &inputs, &EvaluateOptions::default());
                drop(std::hint::black_box(done.expect("a sound call")));
            })
        };
        // In iteration, so that both meet the same disturbances.
        let times = (0..ROUNDS).map(|_| outputs.each_ref().map(|outputs| run(outputs)));
        let fastest = times.reduce(|a, b| [a[0].min(b[0]), a[1].min(b[1])]).unwrap_or_default();
        if self.before.is_empty() { fastest[0] } else { fastest[0] - fastest[1] }
    }
}

/// Runs of which the fastest counts.
const ROUNDS: usize = 9;

/// Seconds of the fastest of a few runs.
pub fn fastest(mut run: impl FnMut()) -> f64 {
    (0..ROUNDS).map(|_| seconds_of(&mut run)).fold(f64::INFINITY, f64::min)
}

fn seconds_of(run: impl FnOnce()) -> f64 {
    let begin = seconds();
    run();
    seconds() - begin
}

/// Lets the allocator keep what is given back to it, however much. Else it hands large blocks back to the system after some
/// ops and not after others, by how many results they have.
pub fn keep_memory() {
    const LARGE: libc::c_int = 1 << 25;
    // SAFETY: the two settings of the allocator take any size, and change no block.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
        libc::mallopt(libc::M_TRIM_THRESHOLD, libc::c_int::MAX);
    }
}

/// Processor time of this thread, which other processes do not lengthen.
fn seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock exists on Linux, and writes the time that it is given.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Numbers without pattern, the same in every run (xorshift, Marsaglia 2003), others for each seed: floats between 0.05 and
/// 0.95, integers from 0 to 62.
pub fn elements(dtype: DType, sizes: &[usize], seed: usize) -> Array {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(2 * seed as u64 + 1);
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let count = sizes.iter().product();
    let reals: Vec<f64> = (0..count)
        .map(|_| match dtype.is_float() || dtype.is_complex() {
            true => 0.05 + 0.9 * (next() >> 11) as f64 / (1_u64 << 53) as f64,
            false => (next() >> 40) as f64 % 63.0,
        })
        .collect();
    let mut array = Array::zeros(dtype, sizes).expect("memory");
    ir::array::with_element!(dtype, T => {
        let slots = array.as_mut_slice::<T>();
        slots.iter_mut().zip(&reals).for_each(|(slot, &x)| {
            *slot = <T as ir::array::Element>::from_real(x);
        });
    });
    array
}
