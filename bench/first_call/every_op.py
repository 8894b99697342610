"""A long chain of each op of the language, those of the tables of `ferrofuse ops` and those of forms.

Takes the list that `ferrofuse ops --json` prints; gives a maker of definitions for each name in it. A scalar op is
called by its signature, on the dtype that the language prefers among those it takes. How a form is called stands in
`FORMS`; a form that does not is an error, so that none is left out.
"""

from definitions import SIDE

# Names of dtypes in the list and in a definition, the one to choose first at the top; and data of an input.
DTYPES = {
    "f32": ("Float", "torch.randn({shape}, dtype=torch.float32)"),
    "i64": ("Int", "torch.randint(1, 9, {shape}, dtype=torch.int64)"),
    "bool": ("Bool", "torch.ones({shape}, dtype=torch.bool)"),
    "c64": ("ComplexFloat", "torch.ones({shape}, dtype=torch.complex64)"),
}

# Inputs that calls of forms name.
OPERANDS = {
    "row": ((SIDE,), "f32"),
    "index": ((SIDE, SIDE), "i64"),
    "rows": ((SIDE,), "i64"),
    "column": ((SIDE, 1), "f32"),
    "halves": ((1, 2), "f32"),
    "mask": ((SIDE, SIDE), "bool"),
    "groups": ((2, SIDE, SIDE), "f32"),
    "ends": ((2,), "i64"),
}

FOUR = f"reshape({{y}}, new_shape=[1, 4, {SIDE // 4}, {SIDE}])"
TWO = f"reshape({{y}}, new_shape=[{SIDE}, {SIDE}])"
CENTRED = "sub({x}, {y})"


def fold(call):
    """A fold of rows, beside what was folded."""
    return [call, CENTRED]


def in_four_axes(*calls):
    """Calls on a tensor of four axes."""
    return [FOUR, *calls, TWO]


# The calls of a step for each form: each takes the result {y} of the one before. {x} is what the
# step began with, {w} an input like it, and `a = CALL` or `a, b = CALL` gives results names by the way.
FORMS = {
    "cast": ["cast({y}, dtype=DataType.Half)", "add({y}, 0.1)", "cast({y}, dtype=DataType.Float)"],
    "broadcast": ["broadcast({y}, is_broadcast_dim=[True, False, False])", "relu({y})", "squeeze({y}, dims=[0])"],
    "broadcast_in_dim": [
        "sum({y}, dims=[0])",
        f"broadcast_in_dim({{y}}, shape=[{SIDE}, {SIDE}], broadcast_dims=[1])",
    ],
    "expand": ["sum({y}, dims=[0], keepdim=True)", f"expand({{y}}, shape=[{SIDE}, {SIDE}])"],
    "squeeze": ["broadcast({y}, is_broadcast_dim=[False, True, False])", "squeeze({y}, dims=[1])", "sin({y})"],
    "reshape": [f"reshape({{y}}, new_shape=[{SIDE * SIDE}])", TWO, "sin({y})"],
    "permute": ["permute({y}, dims=[1, 0])", "sin({y})"],
    "stride_order": ["stride_order({y}, stride_order=[0, 1])", "sin({y})"],
    "slice": [
        f"slice({{y}}, start_indices=[0, 1], end_indices=[{SIDE}, {SIDE}])",
        "pad({y}, [1, 0])",
    ],
    "pad": ["pad({y}, [1, -1])", "sin({y})"],
    "cat": [
        "a = max({y}, dims=[0], keepdim=True)",
        "b = min({y}, dims=[0], keepdim=True)",
        "cat([{a}, {b}], dim=0)",
    ],
    "gather": ["gather({y}, {index}, dim=1)"],
    "take_along_axis": ["take_along_axis({y}, {index}, dim=0)"],
    "index_select": ["index_select({y}, {rows}, dim=0)", "index_select({y}, {rows}, dim=1)"],
    "select": fold("select({y}, 1, dim=0)"),
    "embedding_fwd": ["embedding_fwd({rows}, {y})"],
    "triu": ["triu({y}, -1)", "sin({y})"],
    "sum": fold("sum({y}, dims=[1], keepdim=True)"),
    "prod": fold("prod({y}, dims=[1], keepdim=True)"),
    "max": fold("max({y}, dims=[1], keepdim=True)"),
    "min": fold("min({y}, dims=[1], keepdim=True)"),
    "var": fold("var({y}, dims=[1], keepdim=True)"),
    "var_mean": fold("var_mean({y}, dims=[1], keepdim=True)[1]"),
    "welford": fold("welford({y}, dims=[0])[0]"),
    "any": ["any({y}, dims=[1], keepdim=True)", "cast({y}, dtype=DataType.Float)", CENTRED],
    "all": ["all({y}, dims=[1], keepdim=True)", "cast({y}, dtype=DataType.Float)", CENTRED],
    "argmax": ["argmax({y}, dim=1, keepdim=True)", "cast({y}, dtype=DataType.Float)", CENTRED],
    "argmin": ["argmin({y}, dim=1, keepdim=True)", "cast({y}, dtype=DataType.Float)", CENTRED],
    "fold": fold("fold({y}, lambda a, b: a + b + a * b, init=0.0, dims=[1], keepdim=True)"),
    "cumsum": ["cumsum({y}, dim=1)"],
    "cumprod": ["cumprod({y}, dim=1)"],
    "cummax": ["cummax({y}, dim=1)", "sin({y})"],
    "cummin": ["cummin({y}, dim=0)", "sin({y})"],
    "scan": ["scan({y}, lambda a, b: a + b + a * b, init=0.0, dim=1)"],
    "full": [f"full([{SIDE}, {SIDE}], fill_value=0.5, dtype=DataType.Float)", CENTRED],
    "iota": [f"iota({SIDE}, dtype=DataType.Int)", "cast({y}, dtype=DataType.Float)", CENTRED],
    "argsort": ["argsort({y}, dim=1)", "take_along_axis({x}, {y}, dim=1)"],
    "topk": [f"topk({{y}}, {SIDE}, dim=1)[0]"],
    "scatter": ["scatter({y}, {index}, {w}, dim=1)"],
    "matmul": ["matmul({y}, {w})"],
    "linear": ["linear({y}, {w}, bias={row})"],
    "grouped_mm": ["grouped_mm({y}, {groups}, {ends})"],
    "sdpfa_fwd": in_four_axes("sdpfa_fwd({y}, {y}, {y})[0]"),
    "sdpfa_bwd": in_four_axes(
        "a, b, c, d = sdpfa_fwd({y}, {y}, {y})",
        "sdpfa_bwd({y}, {y}, {y}, {y}, {a}, {b}, 0.0, False, {c}, {d}, None)[0]",
    ),
    "uniform": [f"uniform(0.0, 1.0, [{SIDE}, {SIDE}])", CENTRED],
    "normal": [f"normal(0.0, 1.0, [{SIDE}, {SIDE}])", CENTRED],
    "rand_like": ["rand_like({y})", CENTRED],
    "randn_like": ["randn_like({y})", CENTRED],
    "size": ["size({y}, dim=0)", CENTRED],
    "shape": ["shape({y})[1]", CENTRED],
    "softmax": ["softmax({y}, dim=1)"],
    "log_softmax": ["log_softmax({y}, dim=1)"],
    "layer_norm": ["layer_norm({y}, [32], {row}, {row})"],
    "rms_norm": ["rms_norm({y}, [32], {row})"],
    "softmax_backward": ["softmax_backward({y}, {w}, dim=1)"],
    "log_softmax_backward": ["log_softmax_backward({y}, {w}, dim=1)"],
    "layer_norm_backward": ["layer_norm_backward({w}, {y}, [32], {column}, {column}, {row})[0]"],
    "rms_norm_backward": ["rms_norm_backward({w}, {y}, [32], {column}, {row})[0]"],
    "batch_norm": ["batch_norm({y}, {row}, {row})[0]"],
    "batch_norm_backward": ["a, b, c = batch_norm({y}, {row}, {row})", "batch_norm_backward({w}, {y}, {b}, {c}, {row})[0]"],
    "instance_norm": in_four_axes("instance_norm({y})[0]"),
    "instance_norm_backward": in_four_axes("a, b, c = instance_norm({y})", "instance_norm_backward({a}, {y}, {b}, {c})[0]"),
    "group_norm": in_four_axes("group_norm({y}, 2)"),
    "group_norm_backward": in_four_axes("group_norm_backward({y}, {y}, 2, {halves}, {halves})[0]"),
    "dropout": ["dropout({y}, 0.1)[0]"],
    "dropout_backward": ["dropout_backward({y}, {mask}, 1.1)"],
    "mean": fold("mean({y}, dims=[1], keepdim=True)"),
    "standard_deviation": fold("standard_deviation({y}, dims=[1], keepdim=True)"),
    "complex": ["complex({y}, {w})", "real({y})"],
    "real": ["complex({w}, {y})", "real({y})"],
    "imag": ["complex({w}, {y})", "imag({y})"],
    "where": ["where({mask}, {y}, {w})"],
}


def operands(signature):
    """How many operands of a signature have no default."""
    params = signature[signature.index("(") + 1 : -1].split(", ")
    return sum("=" not in param for param in params)


def of_scalar_op(op):
    """The call of a scalar op, cast back to the dtype that it is called on; and that dtype."""
    dtype = next(dtype for dtype in DTYPES if dtype in op["dtypes"])
    given = ", ".join(["{y}", *["{w}"] * (operands(op["signature"]) - 1)])
    return [f"cast(fd.ops.{op['name']}({given}), dtype=DataType.{DTYPES[dtype][0]})"], dtype


def declared(text, shape, dtype):
    """An input."""
    name, data = DTYPES[dtype]
    return text.tensor(shape, name, data)


def chain_of(op):
    """Makes a chain of an op."""
    if op["name"] not in FORMS and op["kind"] == "forms":
        raise SystemExit(f"bench/every_op.py does not say how {op['name']} is called")
    steps, dtype = (FORMS[op["name"]], "f32") if op["name"] in FORMS else of_scalar_op(op)

    def make(text, ops):
        y = declared(text, (SIDE, SIDE), dtype)
        named = {"w": declared(text, (SIDE, SIDE), dtype)}
        for name, (shape, of) in OPERANDS.items():
            if any(f"{{{name}}}" in step for step in steps):
                named[name] = declared(text, shape, of)
        for _ in range(ops // len(steps)):
            named["x"] = y
            for step in steps:
                results, _, call = step.rpartition(" = ")
                given = text.op(call.format(y=y, **named))
                if not results:
                    y = given
                elif ", " in results:
                    named.update((name, f"{given}[{at}]") for at, name in enumerate(results.split(", ")))
                else:
                    named[results] = given
        text.output(y)

    return make


def chains(ops):
    """A maker for each op of the list."""
    return {op["name"]: chain_of(op) for op in ops}
