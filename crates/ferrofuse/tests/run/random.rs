//! Random numbers: their distribution, their state from call to call, and that nothing else changes them.

use std::num::NonZeroUsize;
use std::sync::Arc;

use ferrofuse::{
    CompileOptions, Executable, ExecutorKind, Generator, Machine, MachineOptions, PlanOptions, Stream,
    compile, define, unfused,
};

const COUNT: usize = 100_000;

const DRAWS: &str = "
def draws(fd):
    u = fd.ops.uniform(0.0, 1.0, shape=[100000])
    n = fd.ops.normal(0.0, 1.0, shape=[100000])
    fd.add_output(u)
    fd.add_output(n)
    fd.add_output(fd.ops.sum(fd.ops.mul(u, n), dims=[0]))
";

fn executable(options: CompileOptions) -> Executable {
    compile(define(DRAWS).expect("defines"), options).expect("compiles")
}

fn numbers(executable: &Executable, output: usize) -> Vec<f64> {
    let outputs = executable.run(&[]).expect("runs");
    let array = outputs[output].to_array().expect("dense");
    array.as_slice::<f32>().iter().map(|&x| f64::from(x)).collect()
}

/// The largest distance between the empirical and the expected distribution function (Kolmogorov and Smirnov), times the
/// root of the count: above 1.95 in one of a thousand samples.
fn departure(mut numbers: Vec<f64>, distribution: impl Fn(f64) -> f64) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    let count = numbers.len() as f64;
    let distance = |(k, &x): (usize, &f64)| (distribution(x) - (k as f64 + 0.5) / count).abs();
    numbers.iter().enumerate().map(distance).fold(0.0, f64::max) * count.sqrt()
}

fn moments(numbers: &[f64]) -> (f64, f64) {
    let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
    let variance = numbers.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / numbers.len() as f64;
    (mean, variance)
}

#[test]
fn uniform_and_normal_numbers_have_their_distributions() {
    for seed in [0, 1, 42] {
        let options = || CompileOptions { generator: Arc::new(Generator::new(seed)), ..Default::default() };
        let uniform = numbers(&executable(options()), 0);
        let (mean, variance) = moments(&uniform);
        assert!((mean - 0.5).abs() < 4e-3 && (variance - 1.0 / 12.0).abs() < 1.5e-3, "{mean} {variance}");
        assert!(uniform.iter().all(|&x| x > 0.0 && x <= 1.0));
        assert!(departure(uniform, |x| x) < 1.95);
        let normal = numbers(&executable(options()), 1);
        let (mean, variance) = moments(&normal);
        assert!(mean.abs() < 1.5e-2 && (variance - 1.0).abs() < 2e-2, "{mean} {variance}");
        assert!(departure(normal, |x| 0.5 * libm::erfc(-x / 2.0_f64.sqrt())) < 1.95);
    }
}

#[test]
fn calls_go_on_where_the_last_one_ended() {
    let executable = executable(CompileOptions::default());
    executable.generator().seed(7);
    let first = numbers(&executable, 0);
    assert_eq!(executable.generator().state(), Stream { seed: 7, offset: 2 });
    let second = numbers(&executable, 0);
    assert_ne!(first, second);
    let named = "
def named(fd):
    fd.add_output(fd.ops.uniform(0.0, 1.0, shape=[100000], rng_seed=7, rng_offset=2))
";
    let named = compile(define(named).expect("defines"), CompileOptions::default()).expect("compiles");
    assert_eq!(numbers(&named, 0), second);
    assert_eq!(named.generator().state(), Stream::default());
    executable.generator().set_state(Stream { seed: 7, offset: 0 });
    assert_eq!(numbers(&executable, 0), first);
}

#[test]
fn executors_threads_and_segments_do_not_change_the_bits() {
    let expected = numbers(&executable(CompileOptions::default()), 1);
    assert_eq!(expected.len(), COUNT);
    let definition = define(DRAWS).expect("defines");
    let apart = PlanOptions {
        segmentation: Some(unfused(&definition.graph, &definition.fusion, &definition.tasks)),
        ..PlanOptions::default()
    };
    let machine = |threads| {
        Arc::new(Machine::new(MachineOptions {
            threads: NonZeroUsize::new(threads),
            min_shared: Some(0),
            ..Default::default()
        }))
    };
    for threads in [1, 3] {
        for plan in [PlanOptions::default(), apart.clone()] {
            let options = CompileOptions { machine: machine(threads), plan, ..Default::default() };
            assert_eq!(numbers(&executable(options), 1), expected, "{threads} threads");
        }
    }
    let uniform = numbers(&executable(CompileOptions::default()), 0);
    for executor in [ExecutorKind::Interpreter, ExecutorKind::Evaluator, ExecutorKind::CUDA] {
        let options = crate::gpu::options(executor);
        assert_eq!(numbers(&executable(options), 0), uniform, "{}", executor.name());
    }
}
