//! Tensors in the memory of a GPU as arguments: read and written in place, in the order of a stream.

use std::sync::Arc;

use cuda::{DeviceBuffer, Stream};
use ferrofuse::{
    CallOptions, CompileOptions, DType, Definition, Executable, GpuArgument, GpuInput, GpuOutput, define,
};
use ferrofuse_testing::stand_in;
use ir::array::{Array, Layout};

/// An executable on the shared GPU.
pub fn executable(body: &str) -> Executable {
    let matrix = "fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)";
    let text = format!("def f(fd):\n    x = {matrix}\n    y = {matrix}\n{body}");
    on_gpu(define(&text).expect("defines"))
}

pub fn on_gpu(definition: Definition) -> Executable {
    let executor = stand_in::gpu().expect("the stand-in opens").into();
    Executable::by_size(definition, CompileOptions { executor, ..CompileOptions::default() })
}

/// A stream on the shared GPU.
pub fn stream() -> Arc<Stream> {
    Arc::new(stand_in::gpu().expect("the stand-in opens").new_stream().expect("a stream"))
}

/// Floats in the GPU's memory.
pub fn uploaded(stream: &Arc<Stream>, floats: &[f32]) -> DeviceBuffer {
    let array = Array::from_slice(&[floats.len()], floats).expect("memory");
    let mut buffer = DeviceBuffer::allocate(stream, array.as_bytes().len()).expect("memory");
    // SAFETY: an array is in pageable memory.
    unsafe { buffer.upload(array.as_bytes()) }.expect("uploads");
    buffer
}

/// Floats of the GPU's memory, once all work of the stream is done.
pub fn downloaded(stream: &Stream, address: u64, floats: usize) -> Vec<f32> {
    let mut array = Array::zeros(DType::F32, &[floats]).expect("memory");
    // SAFETY: the callers' buffers have this many floats.
    unsafe { stream.download(array.as_mut_bytes(), address) }.expect("downloads");
    array.as_slice::<f32>().to_vec()
}

/// A buffer as an argument, whose first element is `first` floats in.
pub fn argument(buffer: &DeviceBuffer, first: u64, layout: Layout, writable: bool) -> GpuInput<'_> {
    // SAFETY: the tests give layouts within the buffers, which live longer than the calls and are used on one stream.
    GpuInput::Tensor(unsafe {
        GpuArgument::from_raw_parts(buffer.address() + 4 * first, DType::F32, layout, writable)
    })
}

#[test]
fn memory_of_a_poisoned_gpu_is_nan() {
    let gpu = stand_in::gpu().and_then(|gpu| gpu.sibling(1).map_err(|error| error.to_string()));
    let gpu = gpu.expect("the stand-in has two");
    gpu.poison();
    let stream = Arc::new(gpu.new_stream().expect("a stream"));
    let buffer = DeviceBuffer::allocate(&stream, 12).expect("memory");
    assert!(downloaded(&stream, buffer.address(), 3).iter().all(|float| float.is_nan()));
}

fn count(from: usize, to: usize) -> Vec<f32> {
    (from..to).map(|number| number as f32).collect()
}

#[test]
fn tensors_are_read_where_they_are() {
    let executable =
        executable("    fd.add_output(fd.ops.add(x, y))\n    fd.add_output(fd.ops.permute(x, [1, 0]))\n");
    let stream = stream();
    let (x, y) = (uploaded(&stream, &count(0, 40)), uploaded(&stream, &count(100, 112)));
    // Rows of x with gaps; y transposed; addresses that are no multiple of 16 bytes.
    for first in [0, 1] {
        let rows =
            Layout { offset: 4, sizes: [3, 4].into_iter().collect(), strides: [8, 1].into_iter().collect() };
        let columns = Layout { strides: [1, 3].into_iter().collect(), ..Layout::dense(&[3, 4]) };
        let inputs = [argument(&x, first, rows, false), argument(&y, 0, columns, false)];
        let outputs = executable.run_on_gpu(&CallOptions::default(), &stream, &inputs).expect("runs");
        let GpuOutput::Made(sum) = &outputs[0] else { panic!("a sum is made") };
        let expected: Vec<f32> = (0..3)
            .flat_map(|row| {
                (0..4).map(move |column| (first + 4 + 8 * row + column + 100 + row + 3 * column) as f32)
            })
            .collect();
        assert_eq!(downloaded(&stream, sum.address(), 12), expected);
        match &outputs[1] {
            GpuOutput::View { input: 0, layout } if first == 0 => assert_eq!(layout.strides[..], [1, 8]),
            // A copy was read, which the call alone owns.
            GpuOutput::Made(copy) if first == 1 => assert_eq!(copy.sizes(), [4, 3]),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn outputs_are_written_to_tensors() {
    let executable = executable("    fd.add_output(fd.ops.mul(x, y), x)\n");
    let stream = stream();
    let y = uploaded(&stream, &count(1, 13));
    for first in [0, 1] {
        let x = uploaded(&stream, &count(0, 14));
        let dense = Layout::dense(&[3, 4]);
        let inputs = [argument(&x, first, dense.clone(), true), argument(&y, 0, dense, false)];
        let outputs = executable.run_on_gpu(&CallOptions::default(), &stream, &inputs).expect("runs");
        assert!(outputs.is_empty(), "what is written to an input is not given back");
        let mut expected = count(0, 14);
        (0..12).for_each(|place| expected[first as usize + place] *= (place + 1) as f32);
        assert_eq!(downloaded(&stream, x.address(), 14), expected, "from float {first} on");
    }
}

/// Each argument contains half of the other.
#[test]
fn arguments_may_overlap() {
    let executable = executable("    fd.add_output(fd.ops.add(x, y), x)\n");
    let stream = stream();
    let memory = uploaded(&stream, &count(0, 20));
    let dense = Layout::dense(&[2, 6]);
    let inputs = [argument(&memory, 0, dense.clone(), true), argument(&memory, 6, dense, false)];
    executable.run_on_gpu(&CallOptions::default(), &stream, &inputs).expect("runs");
    let expected: Vec<f32> =
        (0..20).map(|place| if place < 12 { (2 * place + 6) as f32 } else { place as f32 }).collect();
    assert_eq!(downloaded(&stream, memory.address(), 20), expected);
}

#[test]
fn library_ops_go_through_the_host() {
    let executable =
        executable("    fd.add_output(fd.ops.matmul(x, y))\n    fd.add_output(fd.ops.argsort(x, dim=1))\n");
    let stream = stream();
    let (x, y) = (uploaded(&stream, &[1.0, 2.0, 4.0, 3.0]), uploaded(&stream, &[5.0, 6.0, 7.0, 8.0]));
    let dense = Layout::dense(&[2, 2]);
    let inputs = [argument(&x, 0, dense.clone(), false), argument(&y, 0, dense, false)];
    let outputs = executable.run_on_gpu(&CallOptions::default(), &stream, &inputs).expect("runs");
    let [GpuOutput::Made(product), GpuOutput::Made(order)] = &outputs[..] else { panic!("both are made") };
    assert_eq!(downloaded(&stream, product.address(), 4), [19.0, 22.0, 41.0, 48.0]);
    assert_eq!((order.dtype(), order.sizes()), (DType::I64, &[2, 2][..]));
}

#[test]
fn outputs_go_where_the_caller_says() {
    let executable = executable(
        "    fd.add_output(fd.ops.add(x, y))\n    fd.add_output(fd.ops.permute(x, [1, 0]))\n    fd.add_output(fd.ops.mul(x, y))\n",
    );
    let stream = stream();
    let (x, y) = (uploaded(&stream, &count(0, 12)), uploaded(&stream, &count(1, 13)));
    let made = uploaded(&stream, &[-1.0; 30]);
    let dense = Layout::dense(&[3, 4]);
    let inputs = [argument(&x, 0, dense.clone(), false), argument(&y, 0, dense.clone(), false)];
    let place = |buffer, first, layout| match argument(buffer, first, layout, true) {
        GpuInput::Tensor(argument) => Some(argument),
        GpuInput::Host(_) => None,
    };
    let run = |places: [Option<GpuArgument<'_>>; 3]| {
        executable.run_on_gpu_into(&CallOptions::default(), &stream, &inputs, |forms| {
            let inputs: Vec<Option<usize>> = forms.iter().map(|form| form.input).collect();
            assert_eq!(inputs, [None, Some(0), None]);
            assert_eq!(forms[1].layout.strides[..], [1, 4]);
            Ok(places.into())
        })
    };
    // The second of them begins at an address that is no multiple of 16 bytes.
    let outputs = run([place(&made, 0, dense.clone()), None, place(&made, 13, dense.clone())]).expect("runs");
    let [GpuOutput::Placed, GpuOutput::View { input: 0, .. }, GpuOutput::Placed] = &outputs[..] else {
        panic!("{outputs:?}");
    };
    let mut expected = vec![-1.0; 30];
    for element in 0..12 {
        expected[element] = (2 * element + 1) as f32;
        expected[13 + element] = (element * (element + 1)) as f32;
    }
    assert_eq!(downloaded(&stream, made.address(), 30), expected);

    let rejected = |places| run(places).expect_err("rejected").to_string();
    let free = || place(&made, 0, dense.clone());
    assert_eq!(
        rejected([free(), None, place(&x, 0, dense.clone())]),
        "out[2]: its memory overlaps that of input 0"
    );
    assert_eq!(rejected([free(), None, free()]), "out[2]: its memory overlaps that of out[0]");
    let other = place(&made, 0, Layout::dense(&[4, 3]));
    assert_eq!(rejected([other, None, None]), "out[0]: expected f32[3, 4], got f32[4, 3]");
}
