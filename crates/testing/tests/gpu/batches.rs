//! Like segments in one launch, replayed.

use std::fmt::Write;

use cuda::DeviceBuffer;
use ferrofuse::{CallOptions, GpuInput, define};
use ir::array::Layout;

use crate::tensors::{argument, downloaded, on_gpu, stream, uploaded};

/// `p -= 0.5 * g` for tensors of these sizes.
fn updates(sizes: &[i64]) -> String {
    let mut text = "def updates(fd):\n".to_owned();
    for size in sizes {
        let tensor = format!("fd.define_tensor(shape=[{size}], contiguity=True, dtype=DataType.Float)");
        let _ = writeln!(text, "    p = {tensor}\n    g = {tensor}");
        text += "    fd.add_output(fd.ops.sub(p, fd.ops.mul(g, 0.5)), p)\n";
    }
    text
}

#[test]
fn a_batch_is_replayed() {
    let executable = on_gpu(define(&updates(&[1024, 64, 8])).expect("defines"));
    let stream = stream();
    let sizes = [1024, 64, 8];
    let steps = sizes.map(|size| {
        let count = |from: usize| (from..from + size).map(|number| number as f32).collect::<Vec<f32>>();
        [count(0), count(3)]
    });
    let buffers: Vec<DeviceBuffer> = steps.iter().flatten().map(|floats| uploaded(&stream, floats)).collect();
    let inputs: Vec<GpuInput<'_>> = buffers
        .iter()
        .enumerate()
        .map(|(place, buffer)| argument(buffer, 0, Layout::dense(&[sizes[place / 2]]), place % 2 == 0))
        .collect();
    let options = CallOptions::default();
    let own = |forms: &[_]| Ok(forms.iter().map(|_| None).collect());
    let mut graph = executable.capture_on_gpu(&options, &stream, &inputs, own).expect("captures");
    for _ in 0..2 {
        // SAFETY: all tensors live until the end of the test, and all work is on one stream.
        unsafe { graph.replay(&stream) }.expect("runs");
    }
    for (number, [p, g]) in steps.iter().enumerate() {
        let expected: Vec<f32> = p.iter().zip(g).map(|(p, g)| p - g).collect();
        assert_eq!(downloaded(&stream, buffers[2 * number].address(), sizes[number]), expected);
    }
}
