//! Timed calls on tensors of a GPU report the compilation of every new variant, and of no other.

use std::time::Duration;

use cuda::DeviceBuffer;
use ferrofuse::{CallOptions, GpuInput, define};
use ir::array::Layout;

use crate::tensors::{argument, on_gpu, stream, uploaded};

/// Inputs of which each is dense or repeats one element: 128 variants, more than an executable keeps.
const INPUTS: usize = 7;

/// A tensor that repeats its element if a bit is set.
fn input(buffer: &DeviceBuffer, bit: usize) -> GpuInput<'_> {
    argument(
        buffer,
        0,
        if bit == 0 { Layout::dense(&[8]) } else { Layout::dense(&[1]).expanded(&[8]) },
        false,
    )
}

#[test]
fn every_new_variant_is_timed_however_many_there_are() {
    let mut text = "def f(fd):\n".to_owned();
    for input in 0..INPUTS {
        text += &format!(
            "    x{input} = fd.define_tensor(shape=[-1], contiguity=[False], dtype=DataType.Float)\n"
        );
    }
    text += "    fd.add_output(x0 * x1 * x2 * x3 * x4 * x5 * x6)\n";
    let (executable, stream) = (on_gpu(define(&text).expect("defines")), stream());
    let buffer = uploaded(&stream, &[2.0; 8]);
    let call = |variant: usize| {
        let inputs: Vec<GpuInput<'_>> =
            (0..INPUTS).map(|place| input(&buffer, variant >> place & 1)).collect();
        let place = |forms: &[_]| Ok(forms.iter().map(|_| None).collect());
        let ran = executable.run_on_gpu_timed(&CallOptions::default(), &stream, &inputs, place);
        let (_, report) = ran.expect("runs");
        [report.compile, report.steps.iter().map(|step| step.compile).sum()]
    };
    for variant in 0..66 {
        let [all, kernels] = call(variant);
        assert!(all >= kernels && kernels > Duration::ZERO, "{variant}: {all:?} {kernels:?}");
    }
    assert_eq!(call(65), [Duration::ZERO; 2]);
}
