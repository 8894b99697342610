//! Small definitions, one per kind of segment, each with the dtypes and shapes of its inputs as functions of two sizes.

/// A definition and its inputs.
pub struct Case {
    pub name: &'static str,
    pub text: &'static str,
    /// The shape of each input, over the rows `R` and the columns `C`.
    pub inputs: &'static [&'static str],
}

pub const SILU_MUL: Case = Case {
    name: "silu_mul",
    text: "
def silu_mul(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.BFloat16)
    y = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.BFloat16)
    xf = fd.ops.cast(x, dtype=DataType.Float)
    yf = fd.ops.cast(y, dtype=DataType.Float)
    s = fd.ops.mul(xf, fd.ops.sigmoid(xf))
    out = fd.ops.cast(fd.ops.mul(s, yf), dtype=DataType.BFloat16)
    fd.add_output(out)
",
    inputs: &["R C", "R C"],
};

pub const SOFTMAX: Case = Case {
    name: "softmax",
    text: "
def softmax(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
    m = fd.ops.max(x, dims=[1], keepdim=True)
    e = fd.ops.exp(fd.ops.sub(x, m))
    s = fd.ops.sum(e, dims=[1], keepdim=True)
    fd.add_output(fd.ops.div(e, s))
",
    inputs: &["R C"],
};

pub const SUM_ROWS: Case = Case {
    name: "sum_rows",
    text: "
def sum_rows(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
    fd.add_output(fd.ops.sum(x, dims=[1]))
",
    inputs: &["R C"],
};

pub const SUM_COLUMNS: Case = Case {
    name: "sum_columns",
    text: "
def sum_columns(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Half)
    xf = fd.ops.cast(x, dtype=DataType.Float)
    fd.add_output(fd.ops.sum(xf, dims=[0]))
",
    inputs: &["R C"],
};

pub const SUM_ALL: Case = Case {
    name: "sum_all",
    text: "
def sum_all(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
    fd.add_output(fd.ops.sum(fd.ops.mul(x, x), dims=[0, 1]))
",
    inputs: &["R C"],
};

pub const BIAS_SCALE: Case = Case {
    name: "bias_scale",
    text: "
def bias_scale(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
    b = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Float)
    k = fd.define_scalar(dtype=DataType.Double)
    bb = fd.ops.broadcast(b, is_broadcast_dim=[True, False])
    y = fd.ops.add(x, bb)
    fd.add_output(fd.ops.mul(y, k))
",
    inputs: &["R C", "C", ""],
};

/// Two normalizations along different axes: more than one segment.
pub const TWO_AXES: Case = Case {
    name: "two_axes",
    text: "
def two_axes(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
    rows = fd.ops.sum(x, dims=[1], keepdim=True)
    y = fd.ops.sub(x, rows)
    columns = fd.ops.max(y, dims=[0], keepdim=True)
    z = fd.ops.sub(y, columns)
    fd.add_output(z)
    fd.add_output(fd.ops.sum(z, dims=[1]))
",
    inputs: &["R C"],
};

/// An input that is an output, and an output that is returned twice.
pub const COPIES: Case = Case {
    name: "copies",
    text: "
def copies(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
    y = fd.ops.neg(x)
    fd.add_output(x)
    fd.add_output(y)
    fd.add_output(y)
",
    inputs: &["R C"],
};

pub const TRANSPOSE_ADD: Case = Case {
    name: "transpose_add",
    text: "
def transpose_add(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
    y = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
    fd.add_output(fd.ops.add(fd.ops.permute(x, dims=[1, 0]), y))
",
    inputs: &["R C", "C R"],
};

pub const INTEGERS: Case = Case {
    name: "integers",
    text: "
def integers(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Int)
    y = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Int)
    fd.add_output(fd.ops.sum(fd.ops.mul(x, y), dims=[1]))
    fd.add_output(fd.ops.lt(x, y))
",
    inputs: &["R C", "R C"],
};

pub const ALL: [&Case; 10] = [
    &SILU_MUL,
    &SOFTMAX,
    &SUM_ROWS,
    &SUM_COLUMNS,
    &SUM_ALL,
    &BIAS_SCALE,
    &TWO_AXES,
    &COPIES,
    &TRANSPOSE_ADD,
    &INTEGERS,
];
