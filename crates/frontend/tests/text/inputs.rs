//! The lists of inputs in definition files.

use ferrofuse_frontend::text::{InputSpec, TensorSpec, parse};

/// The declaration of an input that prints in this way.
fn declared(shown: &str) -> String {
    let dtype = match shown.split(' ').next() {
        Some("bool") => "Bool",
        Some("i32") => "Int32",
        Some("i64") => "Int",
        Some("u64") => "UInt64",
        Some("f16") => "Half",
        Some("bf16") => "BFloat16",
        Some("f32") => "Float",
        Some("c64") => "ComplexFloat",
        Some("c128") => "ComplexDouble",
        _ => "Double",
    };
    let sizes = shown.split_once('[').and_then(|(_, text)| text.split_once(']'));
    let each = |sizes: &str, of: &str| vec![of; sizes.split_terminator(", ").count()].join(", ");
    match sizes {
        Some((sizes, _)) => format!(
            "    fd.define_tensor(shape=[{}], contiguity=[{}], dtype=DataType.{dtype})\n",
            each(sizes, "-1"),
            each(sizes, "False"),
        ),
        None => format!("    fd.define_scalar(dtype=DataType.{dtype})\n"),
    }
}

/// Compares the result of a list of inputs, or the error.
pub fn check(source: &str, expected: &str) {
    let inputs: String = expected.split("; ").map(declared).collect();
    let output = "    fd.add_output(fd.ops.full([2], 1.0, dtype=DataType.Float))\n";
    let text = match parse(&format!("def f(fd):\n{inputs}{output}inputs = [{source}]\n")) {
        Ok(file) => file.inputs.expect("a list").iter().map(shown).collect::<Vec<_>>().join("; "),
        Err(diagnostic) => format!("{} ({})", diagnostic.message, diagnostic.label),
    };
    assert_eq!(text, expected, "{source}");
}

fn shown(spec: &InputSpec) -> String {
    match spec {
        InputSpec::Scalar(scalar) => format!("{} {scalar}", scalar.dtype()),
        InputSpec::Tensor(TensorSpec { dtype, sizes, strides, offset, storage, distribution }) => {
            let offset = if *offset == 0 { String::new() } else { format!("from {offset} ") };
            format!("{dtype} {sizes:?} {strides:?} {offset}{storage} {distribution:?}")
        }
    }
}

#[test]
fn constructors() {
    check("torch.randn((2, 3), dtype=torch.bfloat16, device='cuda:0')", "bf16 [2, 3] [3, 1] 6 Normal");
    check("torch.randn(2, 3)", "f32 [2, 3] [3, 1] 6 Normal");
    check("np.random.rand(2 * 4)", "f64 [8] [1] 8 Uniform(0.0, 1.0)");
    check("torch.zeros((0, 3))", "f32 [0, 3] [3, 1] 0 Constant(0.0)");
    check("torch.full((2,), 7)", "i64 [2] [1] 2 Constant(7.0)");
    check("torch.full(size=(), fill_value=float('inf'))", "f32 [] [] 1 Constant(inf)");
    check("torch.randint(0, 10, (4,), dtype=torch.int32)", "i32 [4] [1] 4 Integers(0, 10)");
    check("torch.randint(5, size=(4,))", "i64 [4] [1] 4 Integers(0, 5)");
    check("torch.randint(high=5, size=(4,))", "i64 [4] [1] 4 Integers(0, 5)");
    check("torch.randint(low=5, high=10, size=(4,))", "i64 [4] [1] 4 Integers(5, 10)");
    check("torch.randint(5, high=10, size=(4,))", "i64 [4] [1] 4 Integers(5, 10)");
    check("torch.randint(5, 10, size=(4,))", "i64 [4] [1] 4 Integers(5, 10)");
    check("torch.arange(2, 9, 3)", "i64 [3] [1] 3 Range(2.0, 3.0)");
    check("torch.arange(1, 10, step=4)", "i64 [3] [1] 3 Range(1.0, 4.0)");
    check("torch.arange(start=1, end=4)", "i64 [3] [1] 3 Range(1.0, 1.0)");
    check("np.arange(4.0, step=2)", "f64 [2] [1] 2 Range(0.0, 2.0)");
    check("np.arange(5, 0)", "i64 [0] [1] 0 Range(5.0, 1.0)");
    check("torch.arange(5, 0)", "this range has no length (a step of 1 does not lead from 5 to 0)");
    check("torch.arange(2**53, 2**53 + 3)", "this range is too far from 0 (integers up to 2**53)");
    check("torch.arange(6, 0, -4)", "i64 [2] [1] 2 Range(6.0, -4.0)");
    check("torch.arange(8, 0, -4)", "i64 [2] [1] 2 Range(8.0, -4.0)");
    check("torch.arange(-3, 4, 3)", "i64 [3] [1] 3 Range(-3.0, 3.0)");
    check("torch.arange(7, 0, -2)", "i64 [4] [1] 4 Range(7.0, -2.0)");
    check("np.ones(4, order='C')", "f64 [4] [1] 4 Constant(1.0)");
    check("torch.randn(0, 3).reshape(0, -1)", "the size -1 is negative (expected 0 or more)");
    check("torch.arange(6).reshape(-1, 2)", "i64 [3, 2] [2, 1] 6 Range(0.0, 1.0)");
    check("torch.arange(6, foo=1)", "unknown argument `foo` (known: start, end, stop, step, dtype)");
    check("torch.ones(3, foo=2)", "unknown argument `foo` (known: size, shape, dtype)");
    check("torch.ones(4).reshape(2, 2, foo=1)", "unknown argument `foo` (known: size, shape, dtype)");
    check("torch.arange(1, 5, 0)", "this range has no length (a step of 0 does not lead from 1 to 5)");
    check("torch.testing.make_tensor((2,), dtype=torch.bool)", "bool [2] [1] 2 Integers(0, 2)");
    check("1, -2.5, True", "i64 1; f64 -2.5; bool True");
    check("7 // -2, 2 ** -1, ~True", "i64 -4; f64 0.5; i64 -2");
    check("1 / 0", "`/` of these numbers is no number (division by zero)");
    check("2j, 1.5 - 2 * 1j, complex(-0.0, 1)", "c128 0.0+2.0j; c128 1.5-2.0j; c128 complex(-0.0, 1.0)");
    check("torch.randn(2, dtype=torch.complex64)", "c64 [2] [1] 2 Normal");
    check("np.random.randn(2).astype(np.complex128)", "c128 [2] [1] 2 Normal");
}

/// NumPy takes dtypes by position, also as strings and as Python's types; torch by name only.
#[test]
fn dtypes_by_position() {
    check("np.ones((2, 3), np.float32)", "f32 [2, 3] [3, 1] 6 Constant(1.0)");
    check("np.zeros(3, np.int64)", "i64 [3] [1] 3 Constant(0.0)");
    check("np.empty((2,), 'f2')", "f16 [2] [1] 2 Constant(0.0)");
    check("np.full((2,), 7, np.float32)", "f32 [2] [1] 2 Constant(7.0)");
    check("np.random.randint(0, 9, (2,), np.int32)", "i32 [2] [1] 2 Integers(0, 9)");
    check("np.random.randint(0, 9, 2, np.int32)", "i32 [2] [1] 2 Integers(0, 9)");
    check("np.arange(0, 4, 2, np.float32)", "f32 [2] [1] 2 Range(0.0, 2.0)");
    check("np.ones(2, dtype='bfloat16')", "bf16 [2] [1] 2 Constant(1.0)");
    check("np.ones(2, float)", "f64 [2] [1] 2 Constant(1.0)");
    check("np.ones(2, dtype=None)", "f64 [2] [1] 2 Constant(1.0)");
    check("np.ones(2).astype('<f4')", "f32 [2] [1] 2 Constant(1.0)");
    check("torch.ones(2).to('cuda').to('float16')", "f16 [2] [1] 2 Constant(1.0)");
    check("np.ones((2,), 'float31')", "this is not a dtype (expected a dtype such as torch.float32)");
    check("np.ones(2, 3)", "this is not a dtype (expected a dtype such as torch.float32)");
}

/// Positional arguments that a constructor or a method does not have.
#[test]
fn surplus_arguments() {
    let rejected = |function: &str, place: usize, expected: &str| {
        format!("`{function}` has no positional argument {place} (expected {expected})")
    };
    check("torch.ones((2, 3), torch.float16)", &rejected("ones", 1, "only size"));
    check("torch.full((2, 3), 1.0, torch.float16)", &rejected("full", 2, "only size, fill_value"));
    check("torch.randint(9, (2, 3), torch.int32)", &rejected("randint", 2, "only high, size"));
    check("torch.arange(0, 4, 1, torch.float32)", &rejected("arange", 3, "only start, end, step"));
    check("np.ones((2, 3), np.float32, 'F')", &rejected("ones", 2, "only shape, dtype"));
    check("np.random.randn((2, 3), 4)", &rejected("randn", 1, "only size"));
    check("torch.ones(3).view((3, 1), 2)", &rejected("view", 1, "only shape"));
    check("torch.ones(3).half(2)", &rejected("half", 0, "none"));
}

#[test]
fn views_of_storage() {
    check("torch.randn(4).as_strided((2, 3, 4), (0, 0, 1))", "f32 [2, 3, 4] [0, 0, 1] 4 Normal");
    check("torch.randn(9).as_strided((2, 3), (3, 1), 2)", "f32 [2, 3] [3, 1] from 2 9 Normal");
    check("torch.as_strided(torch.randn(9), (2, 3), (3, 1), 2)", "f32 [2, 3] [3, 1] from 2 9 Normal");
    check(
        "numpy.lib.stride_tricks.as_strided(np.random.randn(11).astype(ml_dtypes.bfloat16), (2, 3), (12, 4))",
        "bf16 [2, 3] [6, 2] 11 Normal",
    );
    check("torch.randn(2, 3).t().to(torch.float16)", "f16 [3, 2] [1, 3] 6 Normal");
    check("torch.randn(2, 3, 4).permute(2, 0, -2).cuda()", "f32 [4, 2, 3] [1, 12, 4] 24 Normal");
    check("torch.randn(2, 3, 4).transpose(0, 1)", "f32 [3, 2, 4] [4, 12, 1] 24 Normal");
    check("torch.randn(2, 3).t().contiguous()", "f32 [3, 2] [2, 1] 6 Normal");
    check("torch.randn(6).view(2, 3).half()", "f16 [2, 3] [3, 1] 6 Normal");
    check("torch.randn(6).to('cuda')", "f32 [6] [1] 6 Normal");
    check("torch.randn(6).to('cuda', torch.float16)", "f16 [6] [1] 6 Normal");
    check("torch.randn(6).to('cuda', dtype=torch.float16)", "f16 [6] [1] 6 Normal");
}

#[test]
fn mistakes() {
    check(
        "torch.randn(4).as_strided((2, 4), (4, 1))",
        "this view reaches beyond its storage (the storage has 4 elements)",
    );
    check(
        "torch.randn(7).as_strided((2, 3), (3, 1), storage_offset=2)",
        "this view reaches beyond its storage (the storage has 7 elements)",
    );
    check(
        "torch.randn(4).as_strided((4,), (1, 1))",
        "as many strides as sizes are needed (expected 1 strides)",
    );
    check(
        "np.lib.stride_tricks.as_strided(np.random.randn(4), (2, 2), (4, 8))",
        "strides of NumPy are in bytes (expected multiples of 8)",
    );
    check("torch.randn(-4)", "the size -4 is negative (expected 0 or more)");
    check("torch.randn(1 << -3)", "this is not an integer (expected an integer)");
    check("torch.randn(2 ** 40, 2 ** 40)", "this tensor is too large (more elements than 63 bits can count)");
    check(
        "torch.randn(2, dtype=torch.complex32)",
        "this is not a dtype (expected a dtype such as torch.float32)",
    );
    check("torch.eye(3)", "this is not an input (expected a number or a torch or NumPy tensor)");
    check("x", "this is not an input (expected a number or a torch or NumPy tensor)");
    check("torch.randn(2).median()", "unknown tensor method `median` (in the list of inputs)");
    check(
        "torch.randn(2, 3).permute(0, 0)",
        "this is not an order of the axes (expected each of the 2 axes once)",
    );
    check("torch.randint(3, 3, (2,))", "no integer to draw (3 is not below 3)");
    check("torch.full((2,))", "an argument is missing (expected fill_value)");
}
