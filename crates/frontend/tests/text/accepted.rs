//! Spellings that occur in existing files.

use ferrofuse_frontend::text::{InputSpec, NameStyle, TensorSpec, numbers, parse, print};
use ir::graph::dump;

const EXPECTED: &str = "n0 = input 0 : f32[i0, 1]\nn1 = constant 2.0 : f32[]\nn2 = mul (n0, n1) : f32[i0, 1]\n\
     n3 = expand [i0, 8] (n2) : f32[i0, 8]\noutput n3\n";

fn check(source: &str) {
    let file = parse(source).unwrap_or_else(|error| panic!("{error}\n{source}"));
    assert_eq!(dump(&file.definition.graph, &file.definition.fusion), EXPECTED, "{source}");
}

#[test]
fn older_newer_and_operator_spellings_are_one_program() {
    check(
        "import torch
from nvfuser import FusionDefinition, DataType

def nvfuser_fusion_id1(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[-1, 1], contiguity=[True, None], dtype=DataType.Float, is_cpu=False, stride_order=[1, 0])
    S1 = fd.define_scalar(2.00000, dtype=DataType.Double)
    T2 = fd.ops.mul(T0, S1)
    S3 = fd.define_scalar(-1, dtype=DataType.Int)
    S4 = fd.define_scalar(8, dtype=DataType.Int)
    V5 = fd.define_vector([S3, S4], dtype=DataType.Int)
    T6 = fd.ops.expand(T2, shape=V5)
    fd.add_output(T6)

with FusionDefinition() as fd:
    nvfuser_fusion_id1(fd)
",
    );
    check(
        "def nvfuser_fusion(fd : FusionDefinition) -> None :
    tv0 = fd.define_tensor(shape=[-1, 1], contiguity=[True, None], dtype=DataType.Float, is_cpu=False)
    tv1 = fd.ops.mul(tv0, 2.00000)
    tv2 = fd.ops.expand(tv1, shape=[-1, 8])
    fd.add_output(tv2)
",
    );
    check(
        "with FusionDefinition() as g:
    'A comment.'
    t = g.define_tensor((-1, 1), True)
    u = (t *
         2)  # twice
    g.add_output(g.ops.expand(
        u,
        shape=(-1, 8),
    ))
",
    );
    check(
        "def f(fd):\n\tt = fd.define_tensor(sizes=[5, 1], strides=[1, 1]); fd.add_output(fd.ops.expand(t * 2.0, [-1, 8]))\r\n",
    );
}

#[test]
fn inputs_are_read_with_the_definition() {
    let source = "def f(fd):\n    t = fd.define_tensor([-1, -1], dtype=DataType.BFloat16)\n    fd.add_output(t)\n\
         inputs = [torch.randn(6, dtype=torch.bfloat16).as_strided((2, 3), (3, 1))]\nfd.execute(inputs)\n";
    let inputs = parse(source).expect("it parses").inputs.expect("it says its inputs");
    let [InputSpec::Tensor(TensorSpec { sizes, strides, storage: 6, .. })] = &inputs[..] else {
        panic!("{inputs:?}")
    };
    assert_eq!((&sizes[..], &strides[..]), (&[2, 3][..], &[3, 1][..]));
}

#[test]
fn the_newer_printer_s_style() {
    let source = "def f(fd):
    a = fd.define_tensor(sizes=[4, 1, 6], strides=[1, 6, 4], dtype=DataType.Half)
    s = fd.define_scalar(None, dtype=DataType.Double)
    v, m = fd.ops.var_mean(fd.ops.cast(a, DataType.Float), dims=[0], keepdim=False)
    n = fd.ops.shape(v)
    r = fd.ops.full([n[1]], -0.5, DataType.Float) + fd.define_scalar(0.1, dtype=DataType.Float) * s
    fd.add_output(fd.ops.clamp(v, None, 2), None)
    fd.add_output(r)
    fd.add_output(a.size(0) * m)
    fd.add_output(a, a)
";
    let expected = "def nvfuser_fusion(fd : FusionDefinition) -> None :
    tv0 = fd.define_tensor(shape=[-1, 1, -1], contiguity=[None, True, True], dtype=DataType.Half, is_cpu=False, stride_order=[0, 2, 1])
    c0 = fd.define_scalar(None, dtype=DataType.Double)
    tv1 = fd.ops.cast(tv0, dtype=DataType.Float)
    tv2, tv3 = fd.ops.var_mean(tv1, dims=[0])
    c1 = fd.ops.size(tv2, dim=0)
    c2 = fd.ops.size(tv2, dim=1)
    tv4 = fd.ops.full(shape=[c2], fill_value=-0.5, dtype=DataType.Float)
    c3 = fd.define_scalar(0.1, dtype=DataType.Float)
    c4 = fd.ops.mul(c3, c0)
    tv5 = fd.ops.add(tv4, c4)
    tv6 = fd.ops.clamp(tv2, None, 2)
    fd.add_output(tv6)
    fd.add_output(tv5)
    c5 = fd.ops.size(tv0, dim=0)
    tv7 = fd.ops.mul(c5, tv3)
    fd.add_output(tv7)
    fd.add_output(tv0, tv0)
";
    let definition = parse(source).unwrap_or_else(|error| panic!("{error}")).definition;
    assert_eq!(print(&definition, NameStyle::Long), expected);
    assert_eq!(definition.name_of(definition.fusion.outputs()[1].val), "r");
    assert_eq!(definition.name_of(definition.fusion.inputs()[0]), "a");
}

/// Numbers of other dtypes than Python's get separate lines if an op would not cast them to the same, and these lines are
/// numbered.
#[test]
fn results_have_the_numbers_that_they_print_with() {
    let source = "def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    n = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Int32)
    s = fd.define_scalar(dtype=DataType.Float)
    a = fd.ops.add(n, fd.define_scalar(2.5, dtype=DataType.Float))
    b = fd.ops.mul(x, fd.define_scalar(3, dtype=DataType.Int32))
    c = fd.ops.where(fd.ops.gt(n, fd.define_scalar(1, dtype=DataType.Int32)), a, b)
    d = fd.ops.sum(fd.ops.add(c, s), dims=[-1], keepdim=True)
    e = fd.ops.full([4], fd.define_scalar(1.5, dtype=DataType.Float), dtype=DataType.Double)
    fd.add_output(d)
    fd.add_output(e)
";
    let definition = parse(source).unwrap_or_else(|error| panic!("{error}")).definition;
    let text = print(&definition, NameStyle::Short);
    let is_own_line = |line: &&str| line.contains("define_scalar(") && !line.contains("None");
    assert!(text.lines().any(|line| is_own_line(&line)), "{text}");
    let made =
        text.lines().filter(|line| !is_own_line(line)).filter_map(|line| line.trim().split_once(" = "));
    let printed: Vec<usize> = made.map(|(name, _)| name[1..].parse().expect("a number")).collect();
    let counted: Vec<usize> = numbers(&definition).into_values().collect();
    assert_eq!(counted, printed, "{text}");
}
