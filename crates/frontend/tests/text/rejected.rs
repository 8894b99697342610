//! Every kind of mistake has a message and a place.

use ferrofuse_frontend::text::{decode, parse};

/// A body over `a` f32[i0, 4], `b` f32[4], `n` i64[i1], `s` a scalar; the expected text is `line:column: message (label)`,
/// lines counted in the body.
fn check(body: &str, expected: &str) {
    let source = format!(
        "def f(fd):
    a = fd.define_tensor([-1, 4], True); b = fd.define_tensor([4], True)
    n = fd.define_tensor([-1], True, DataType.Int); s = fd.define_scalar()
    {}
",
        body.replace('\n', "\n    ")
    );
    let error = parse(&source).expect_err(body);
    let (line, column) = error.position();
    let shown = format!("{}:{}: {} ({})", line as i64 - 3, column as i64 - 4, error.message, error.label);
    let help = error.help.map_or(String::new(), |help| format!("; {help}"));
    assert_eq!(format!("{shown}{help}"), expected, "{body}");
}

/// A whole file.
fn check_file(source: &str, expected: &str) {
    assert_eq!(parse(source).expect_err(source).to_string(), expected, "{source}");
}

#[test]
fn names() {
    check("fd.ops.ad(a, b)", "1:1: `ad` is not an op (here); did you mean `add`?");
    check("fd.add_output(c)", "1:15: `c` is not defined (expected a name assigned above)");
    check(
        "fd.define_tensr([1])",
        "1:1: the definition has no method `define_tensr` (expected a method it has); known: define_tensor, define_scalar, \
         define_vector, add_output, group, ops",
    );
    check(
        "a.median()",
        "1:1: `a` has no method `median` (tensors have the methods size and shape); definitions made in Python may have \
         more: print(fd) gives their text form",
    );
    check("math.sqrt(2)", "1:1: `math` is not defined (expected a name assigned above)");
    check(
        "fd.ops.cast(a, DataType.Flot)",
        "1:16: unknown dtype `DataType.Flot` (expected a dtype); known: Bool, Char, Short, Int32, Int, Byte, UInt16, UInt32, UInt64, Float8_e8m0fnu, Float8_e4m3fn, Float8_e5m2, Half, BFloat16, Float, Double, ComplexFloat, ComplexDouble",
    );
}

/// What works on Python's tensors and not in files says how to write it.
#[test]
fn members_of_values() {
    let has = "(tensors have the methods size and shape); ";
    let shape = "write fd.ops.shape(a), or fd.ops.size(a, dim=…) for one";
    check("y = a.T", &format!("1:5: `a` has no attribute `T` {has}write fd.ops.permute(a, dims=[1, 0])"));
    check("y = a.shape", &format!("1:5: `a` has no attribute `shape` {has}{shape}"));
    let python = "definitions made in Python may have more: print(fd) gives their text form";
    check("y = a.ndim", &format!("1:5: `a` has no attribute `ndim` {has}{python}"));
    check("y = a.sum()", &format!("1:5: `a` has no method `sum` {has}write fd.ops.sum(a, …)"));
    check(
        "y = (a + b).T",
        &format!("1:5: a value has no attribute `T` {has}write fd.ops.permute(…, dims=[…])"),
    );
    check(
        "y = (a + b).sum()",
        "1:5: no such function (expected a method of the definition); write fd.ops.sum(…, …)",
    );
    check(
        "y = fd.ops.exp(a.T)",
        &format!("1:16: `a` has no attribute `T` {has}write fd.ops.permute(a, dims=[1, 0])"),
    );
}

#[test]
fn items_of_vectors() {
    check(
        "v = fd.ops.shape(a); s = fd.ops.at(v, 2)",
        "1:39: `at`: argument `index` must be a number from -2 to 1, but is the number 2 (expected a number from -2 to 1)",
    );
    check(
        "v = fd.ops.shape(a)\ns = v.at(-3)",
        "2:10: `at`: argument `index` must be a number from -2 to 1, but is the number -3 (expected a number from -2 to 1)",
    );
    check(
        "s = fd.ops.at(a, 0)",
        "1:15: `at`: argument `vector` must be a list of sizes, but is a value of the program (expected a list of sizes)",
    );
    check(
        "s = a.at(0)",
        "1:5: `a` has no method `at` (tensors have the methods size and shape); definitions made in Python may have more: \
         print(fd) gives their text form",
    );
    let help = "definitions made in Python may have more: print(fd) gives their text form";
    check(
        "v = fd.define_vector([2, 3]); s = v.count()",
        &format!("1:35: `v` has no method `count` (lists have the method at); {help}"),
    );
}

#[test]
fn arguments() {
    check(
        "fd.ops.add(a)",
        "1:1: `add`: argument `rhs` must be a tensor, a scalar or a number, but is missing (expected a \
         tensor, a scalar or a number)",
    );
    check("fd.ops.add(a, b, a)", "1:18: `add` needs the arguments lhs, rhs, but has 3 arguments (here)");
    check(
        "fd.ops.sum(a, dimz=[1])",
        "1:20: `sum` needs the arguments arg, dims, keepdim, dtype, but has an argument `dimz` (here); did you mean `dims`?",
    );
    check(
        "fd.ops.sum(a, [1], dims=[0])",
        "1:25: `sum` needs each argument once, but has `dims` twice (here)",
    );
    check(
        "fd.ops.sum(a, [0.5])",
        "1:15: `sum`: argument `dims` must be a list of whole numbers, but is [0.5] (expected a \
         list of whole numbers)",
    );
    check(
        "fd.ops.sum(s)",
        "1:12: `sum`: argument `arg` must be a tensor, but is a scalar (expected a tensor)",
    );
    check(
        "fd.ops.permute(a, [1, 1])",
        "1:19: `permute`: argument `dims` must be axes from -2 to 1, each once, but is [1, \
         1] (expected axes from -2 to 1, each once)",
    );
    check(
        "fd.ops.squeeze(a, [5])",
        "1:19: `squeeze`: argument `dims` must be axes from -2 to 1, each once, but is [5] \
         (expected axes from -2 to 1, each once)",
    );
    check(
        "fd.ops.sum(a, [])",
        "1:15: `sum`: argument `dims` must be a list of at least one axis, but is [] (expected a \
         list of at least one axis)",
    );
}

#[test]
fn dtypes() {
    check(
        "fd.ops.bitwise_and(a, 1)",
        "1:20: `bitwise_and`: argument `lhs` must be an integer or a bool, but is f32 \
         (expected an integer or a bool)",
    );
    check(
        "fd.ops.where(a, b, b)",
        "1:14: `where`: argument `condition` must be a bool, but is f32 (expected a bool)",
    );
    check(
        "fd.ops.var_mean(n, [0])",
        "1:17: `var_mean`: argument `arg` must be a tensor of f32 or f64, but is one of i64 \
         (expected a tensor of f32 or f64); cast it to DataType.Float first",
    );
    check(
        "fd.ops.softmax(n, 0)",
        "1:16: `softmax`: argument `arg` must be a tensor of floats, but is one of i64 (expected \
         a tensor of floats)",
    );
    check("fd.ops.cat([b, n], 0)", "1:1: `cat` needs f32, but has i64 (here)");
    check(
        "fd.ops.pad(n, [1, 1], 0.5)",
        "1:23: `pad`: argument `value` must be a number that i64 can hold, but is the \
         number 0.5 (expected a number that i64 can hold)",
    );
    check(
        "fd.ops.iota(3, step=0)",
        "1:21: `iota`: argument `step` must be a number that is not 0, but is the number 0 \
         (expected a number that is not 0)",
    );
}

#[test]
fn shapes() {
    check(
        "c = fd.define_tensor([3])\nfd.ops.add(b, c)",
        "2:1: `add` needs size 4 on axis 0, but has size 3 (here)",
    );
    check(
        "fd.ops.reshape(b, [3, 5])",
        "1:19: `reshape` needs a shape of 4 elements, but has one of 15 (here)",
    );
    check(
        "fd.ops.reshape(a, [-1, -1])",
        "1:19: `reshape`: argument `new_shape` must be a list with at most one -1, and no 0 \
         beside it, but is [-1, -1] (expected a list with at most one -1, and no 0 beside it)",
    );
    check("fd.ops.expand(b, [5])", "1:1: `expand` needs size 4 or -1 on axis 0, but has size 5 (here)");
    check("fd.ops.squeeze(b, [0])", "1:1: `squeeze` needs size 1 on axis 0, but has size 4 (here)");
    check("fd.ops.pad(b, [-3, -3])", "1:1: `pad` needs no negative size on axis 0, but has size -2 (here)");
    check(
        "fd.ops.layer_norm(a, [5])",
        "1:22: `layer_norm`: argument `normalized_shape` must be the trailing sizes [4], \
         but is [5] (expected the trailing sizes [4])",
    );
    check(
        "fd.ops.slice(b, [3], [2])",
        "1:22: `slice`: argument `end_indices` must be at least `start_indices` on each axis, \
         but is [2] (expected at least `start_indices` on each axis); in nvFuser's words: Slice \
         operation end_indices must be greater than or equal to start_indices. Given: [2]",
    );
    check(
        "fd.ops.full([fd.ops.sum(b, [0])], 1, DataType.Float)",
        "1:13: `full`: argument `shape` must be a list of numbers and of scalars that follow from sizes and scalar inputs, \
         but is [a value] (expected a list of numbers and of scalars that follow from sizes and scalar inputs)",
    );
}

#[test]
fn declarations_and_outputs() {
    check(
        "fd.define_tensor([-2])",
        "1:18: `define_tensor`: argument `shape` must be a list of sizes, -1 for those only known \
         later, but is [-2] (expected a list of sizes, -1 for those only known later)",
    );
    check(
        "fd.define_tensor([1, 2], [True])",
        "1:26: `define_tensor`: argument `contiguity` must be a list of 2 flags, but \
         is [True] (expected a list of 2 flags)",
    );
    check(
        "fd.define_tensor([2], stride_order=[1])",
        "1:36: `define_tensor`: argument `stride_order` must be the numbers from 0 \
         to 0, each once, but is [1] (expected the numbers from 0 to 0, each once)",
    );
    check(
        "fd.add_output(s)",
        "1:1: `add_output`: argument `output` must be a tensor, but is a scalar (expected a tensor)",
    );
    check(
        "c = fd.ops.neg(a)\nfd.add_output(a, c)",
        "2:1: `add_output`: argument `alias_input` must be an input of the \
         definition, but is a computed tensor (expected an input of the definition)",
    );
    check(
        "fd.add_output(a, b)",
        "1:1: `add_output`: argument `alias_input` must be an input of type f32[i0, 4], but is one \
         of type f32[4] (expected an input of type f32[i0, 4])",
    );
    check(
        "c = 1",
        "1:6: `FusionDefinition` needs at least one output, but has none (here); give results back with \
         fd.add_output(...)",
    );
}

#[test]
fn syntax() {
    check("c = a +", "1:8: unexpected end of line (expected a value)");
    check("c, d = fd.ops.neg(a)", "1:8: only lists are unpacked (expected a list of 2)");
    check(
        "a[0]",
        "1:1: only lists have items (this is not a list); use fd.ops.slice, or fd.ops.index_select",
    );
    check("c = a // 2", "1:5: `//` is not an operator of tensors (expected an op of fd.ops)");
    check("c = [[1]]", "1:6: a list in a list (expected a number or a value)");
    check(
        "fd.ops.exp('x')",
        "1:12: `exp`: argument `x` must be a tensor, a scalar or a number, but is \"x\" (expected a tensor, a scalar or a number)",
    );
    check(
        "for x in a: pass",
        "1:1: `for` is not part of the definition language (expected a statement); definitions are straight-line programs: \
         assignments and calls, one after the other",
    );
}

#[test]
fn files() {
    check_file(
        "",
        "1:1: this file has no definition (expected `def name(fd):` or `with FusionDefinition() as fd:`)",
    );
    check_file(
        "x = 1",
        "1:1: this line is not part of a definition file (expected a definition, `inputs = [...]` or \
         `fd.execute(inputs)`)",
    );
    check_file(
        "def f(fd): pass\ndef g(fd): pass",
        "1:1: this file has several definitions and uses none (expected `def \
         name(fd):` or `with FusionDefinition() as fd:`)",
    );
    check_file("def f(a, b): pass", "1:5: a definition takes one argument (expected `def name(fd):`)");
    check_file(
        "with open(x) as y: pass",
        "1:1: this block defines nothing (expected `with FusionDefinition() as fd:`)",
    );
    check_file(
        "with FusionDefinition() as fd: g(fd)",
        "1:32: no function is called `g` (expected a function defined above)",
    );
    let with_inputs =
        |inputs: &str| format!("def f(fd): fd.add_output(fd.define_tensor([-1]))\ninputs = {inputs}\n");
    check_file(&with_inputs("[]"), "2:10: the list has 0 inputs (expected 1)");
    check_file(
        &with_inputs("[1.5]"),
        "2:10: the input for `n0` does not fit its declaration (expected a tensor of f32[i0], \
         given the number 1.5)",
    );
    check_file(
        &with_inputs("[torch.ones(2, 2)]"),
        "2:10: the input for `n0` does not fit its declaration (expected a tensor \
         of f32[i0], given a tensor of f32[2, 2])",
    );
    assert_eq!(
        decode(b"ab\xffc").expect_err("not text").to_string(),
        "1:3: this file is not text (expected UTF-8)"
    );
}
