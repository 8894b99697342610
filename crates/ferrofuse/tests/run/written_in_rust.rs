//! Definitions written in Rust.

use ferrofuse::{
    Array, CompileOptions, DType, Definition, DefinitionError, FusionDefinition, FusionValue, OpArgument,
    compile, define, op, ops, value_named,
};
use frontend::text::{NameStyle, print};

fn text(definition: &Definition) -> String {
    print(definition, NameStyle::Long)
}

#[test]
fn a_definition_in_rust_is_that_of_its_text() {
    let fd = FusionDefinition::new();
    let x = op!(fd.define_tensor(shape = [-1, -1], contiguity = true, dtype = DType::BF16));
    let wide = op!(fd.cast(x, dtype = DType::F32));
    let [var, mean] = ops!(fd.var_mean(wide, dims = [1], correction = 0, keepdim = true));
    let scaled = (wide - mean) / op!(fd.sqrt(1e-5 + var));
    fd.add_output(op!(fd.cast(scaled, dtype = DType::BF16)));
    let written = fd.finish().unwrap();

    let read = define(
        "def norm(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    wide = fd.ops.cast(x, dtype=DataType.Float)
    var, mean = fd.ops.var_mean(wide, dims=[1], correction=0, keepdim=True)
    centred = fd.ops.sub(wide, mean)
    shifted = fd.ops.add(1e-5, var)
    scaled = fd.ops.truediv(centred, fd.ops.sqrt(shifted))
    fd.add_output(fd.ops.cast(scaled, dtype=DataType.BFloat16))
",
    );
    assert_eq!(text(&written), text(&read.unwrap()));
}

#[test]
fn operators_are_the_ops_with_their_meaning() {
    let fd = FusionDefinition::new();
    let x = op!(fd.define_tensor(shape = [-1], contiguity = true, dtype = DType::I64));
    let [factor] = ops!(fd.define_scalar(DType::I64));
    fd.add_output((2_i64 - x) * factor % 5_i64);
    fd.add_output(!((x & 6_i64) | (x ^ 1_i64)) << 1_i64);
    fd.add_output(-(x >> 1_i64));
    let executable = compile(fd.finish().unwrap(), CompileOptions::default()).unwrap();

    let xs = [1_i64, 2, 7];
    let (x, three) = (Array::from_slice(&[3], &xs).unwrap(), Array::from_slice(&[], &[3_i64]).unwrap());
    let outputs = executable.run(&[x.view(), three.view()]).unwrap();
    let output = |place: usize| outputs[place].to_array().unwrap().as_slice::<i64>().to_vec();
    assert_eq!(output(0), xs.map(|x| ((2 - x) * 3).rem_euclid(5)));
    assert_eq!(output(1), xs.map(|x| !((x & 6) | (x ^ 1)) << 1));
    assert_eq!(output(2), xs.map(|x| -(x >> 1)));
}

#[test]
fn arguments_are_lists_words_and_nothing_too() {
    let fd = FusionDefinition::new();
    let x = op!(fd.define_tensor(shape = vec![-1_i64, 4], contiguity = [true, true]));
    let [rows, columns] = ops!(fd.shape(x));
    let sizes: &[FusionValue<'_>] = &[rows, columns];
    let ones = op!(fd.full(shape = sizes, fill_value = 1.0, dtype = DType::F32));
    let gelu = op!(fd.gelu(x));
    let both = op!(fd.cat([ones, gelu], dim = 1_usize));
    let summed = op!(fd.fold([both], "sum", init = None::<f64>, dims = [1]));
    let ty = (summed.dtype(), summed.rank());
    fd.add_output(summed.named("total"));
    let definition = fd.finish().unwrap();
    assert_eq!(ty, (Some(DType::F32), Some(1)));
    assert!(value_named(&definition, "total").is_some());
}

#[test]
fn outputs_are_written_in_place_and_groups_stay() {
    let fd = FusionDefinition::new();
    let x = op!(fd.define_tensor(shape = [-1], contiguity = true));
    let y = fd.group("step", true, || op!(fd.exp(x)) + 1.0);
    fd.add_output_in_place(y, x);
    let text = text(&fd.finish().unwrap());
    assert!(text.contains("fd.add_output(tv2, tv0)"), "{text}");
    assert!(text.contains("with fd.group(\"step\", stay=True):"), "{text}");
}

#[test]
fn lists_mix_values_and_numbers_and_definitions_are_fields() {
    struct Layer<'f> {
        fd: &'f FusionDefinition,
        weight: FusionValue<'f>,
    }
    impl<'f> Layer<'f> {
        fn apply(&self, x: &FusionValue<'f>) -> FusionValue<'f> {
            let mut scaled = op!(self.fd.mul(x, self.weight));
            scaled += 1;
            scaled
        }
    }
    let fd = FusionDefinition::new();
    let x = op!(fd.define_tensor(shape = [-1, 4], contiguity = true));
    let weight = op!(fd.define_tensor(shape = [], contiguity = []));
    let y = Layer { fd: &fd, weight }.apply(&x);
    let y = op!((x.definition()).clamp(y, min = None, max = 2.0));
    let rows = op!(fd.size(y, 0));
    let y = op!(fd.reshape(y, [rows, 2, -1]));
    assert_eq!(format!("{y:?}").split_once(": ").unwrap().1, "f32[i0, 2, 2]");
    fd.add_output(op!(fd.sum(y, dims = &vec![0, 1])));
    let executable = compile(fd.finish().unwrap(), CompileOptions::default()).unwrap();
    let x = Array::from_slice(&[1, 4], &[0.25_f32, 0.5, 0.75, 1.0]).unwrap();
    let weight = Array::from_slice(&[], &[2.0_f32]).unwrap();
    let outputs = executable.run(&[x.view(), weight.view()]).unwrap();
    assert_eq!(outputs[0].to_array().unwrap().as_slice::<f32>(), [1.5 + 2.0, 2.0 + 2.0]);
}

#[test]
fn a_panic_closes_its_group() {
    let fd = FusionDefinition::new();
    let x = op!(fd.define_tensor(shape = [-1], contiguity = true));
    let inside = || fd.group("step", true, || panic!("in the group"));
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(inside)).unwrap_err();
    fd.add_output(x * 2);
    assert!(!text(&fd.finish().unwrap()).contains("group"));
}

#[test]
fn large_unsigned_numbers_are_themselves() {
    let fd = FusionDefinition::new();
    let x = op!(fd.define_tensor(shape = [-1], contiguity = true, dtype = DType::U64));
    fd.add_output(x & u64::MAX);
    let executable = compile(fd.finish().unwrap(), CompileOptions::default()).unwrap();
    let x = Array::from_slice(&[1], &[u64::MAX]).unwrap();
    assert_eq!(executable.run(&[x.view()]).unwrap()[0].to_array().unwrap().as_slice::<u64>(), [u64::MAX]);
}

/// The message of the error that a definition ends with.
fn rejected(build: impl FnOnce(&FusionDefinition)) -> String {
    let fd = FusionDefinition::new();
    build(&fd);
    let error: DefinitionError = fd.finish().unwrap_err();
    error.to_string()
}

#[test]
fn the_first_rejected_call_is_told_with_its_line() {
    let line = line!() + 4;
    let message = rejected(|fd| {
        let x = op!(fd.define_tensor(shape = [-1], contiguity = true));
        let y = op!(fd.define_tensor(shape = [-1, 3], contiguity = true));
        let wrong = op!(fd.mull(x, y));
        fd.add_output(op!(fd.sum(wrong, dims = [9])));
    });
    assert_eq!(message, format!("written_in_rust.rs:{line}: `mull` is not an op; did you mean `mul`?"));
    let line = line!() + 3;
    let message = rejected(|fd| {
        let x = op!(fd.define_tensor(shape = [-1], contiguity = true, dtype = DType::F32));
        fd.add_output(x & 1.5);
    });
    assert!(message.starts_with(&format!("written_in_rust.rs:{line}: `bitwise_and`")), "{message}");
    let message = rejected(|fd| {
        let x = op!(fd.define_tensor(shape = [-1]));
        let _ = op!(fd.add_output(x));
    });
    let help = "it is a method: write `fd.add_output(…)` without `op!`";
    assert!(message.ends_with(&format!(": `add_output` is not an op; {help}")), "{message}");
}

#[test]
fn arguments_by_position_come_first_and_names_are_words() {
    let message = rejected(|fd| {
        let x = op!(fd.define_tensor(shape = [-1, -1]));
        fd.add_output(op!(fd.sum(dims = [0], x)));
    });
    let said = ": `sum` needs arguments by position first, but has one after an argument by name";
    assert!(message.ends_with(said), "{message}");
    for name in ["", "two words", "3x", "a\nsegment b"] {
        let message = rejected(|fd| fd.add_output(op!(fd.define_tensor(shape = [-1])).named(name)));
        let said = format!(
            ": `named` needs a name of letters, digits and `_` that begins with no digit, but has {name:?}"
        );
        assert!(message.ends_with(&said), "{message}");
    }
}

#[test]
fn names_may_be_raw() {
    let fd = FusionDefinition::new();
    let x = op!(fd.define_tensor(r#shape = [-1], r#dtype = DType::F32));
    fd.add_output(op!(fd.r#where(op!(fd.gt(x, 0.0)), x, 0.0)));
    assert!(text(&fd.finish().unwrap()).contains("fd.ops.where("));
}

#[test]
fn lists_have_none_among_their_items() {
    let fd = FusionDefinition::new();
    let rows = op!(fd.define_tensor(shape = [-1, 1], contiguity = [true, None], dtype = DType::F32));
    fd.add_output(op!(fd.clamp(rows, None, 1.0)));
    let definition = fd.finish().unwrap();
    let same = define(
        "def f(fd):
    x = fd.define_tensor(shape=[-1, 1], contiguity=[True, None], dtype=DataType.Float)
    fd.add_output(fd.ops.clamp(x, None, 1.0))
",
    );
    assert_eq!(text(&definition), text(&same.unwrap()));
}

#[test]
fn results_are_counted_and_definitions_kept_apart() {
    let message = rejected(|fd| {
        let x = op!(fd.define_tensor(shape = [-1, -1]));
        fd.add_output(op!(fd.var_mean(x, dims = [1])));
    });
    assert!(message.ends_with(": `var_mean` needs 1 result, but has 2"), "{message}");
    let other = FusionDefinition::new();
    let x = op!(other.define_tensor(shape = [-1]));
    let fd = FusionDefinition::new();
    fd.add_output(fd.call("exp", vec![OpArgument::from(x)]));
    let message = fd.finish().unwrap_err().to_string();
    assert!(
        message.ends_with(": `exp` needs values of its own definition, but has one of another"),
        "{message}"
    );
    assert!(rejected(|_| ()).starts_with("`FusionDefinition` needs at least one output, but has none"));
}
