//! Bugs that random programs found, reduced: each is a definition, sizes of its inputs, and a schedule if it needs one.

use ferrofuse::{Definition, Segmentation, parse_schedule, value_named};
use ferrofuse_testing::differential::{Chosen, check_definition};
use ferrofuse_testing::random::{Input, Numbers, Placed, Placement};

struct Found {
    name: &'static str,
    body: &'static str,
    /// Sizes of each input.
    sizes: &'static [&'static [usize]],
    numbers: Numbers,
    /// The segmentation, if it is not the compiler's.
    segments: &'static str,
    /// The schedule of the last segment, if it is not the compiler's.
    schedule: &'static str,
}

const FOUND: &[Found] = &[
    Found {
        name: "an array of one row is filled anew while lanes still read that of the row before",
        body: "
            T0 = fd.define_tensor(shape=[-1, -1, -1], contiguity=True, dtype=DataType.Float)
            T1 = fd.ops.max(T0, dims=[2], keepdim=True)
            T2 = fd.ops.maximum(T0, T1)
            fd.add_output(T2)",
        sizes: &[&[3, 2, 5]],
        numbers: Numbers::Normal,
        segments: "",
        schedule: "schedule lanes 4\nrow x0\ninner x1\ninner x2\nlane x2",
    },
    Found {
        name: "a mean of infinities may be anything, and so may what is computed of it",
        body: "
            T0 = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
            T1, T2 = fd.ops.var_mean(T0, dims=[1])
            T3 = fd.ops.mul(T2, T2)
            T4 = fd.ops.tanh(T2)
            T5 = fd.ops.cast(T2, dtype=DataType.BFloat16)
            T6 = fd.ops.max(T2, dims=[0])
            fd.add_output(T3)
            fd.add_output(T4)
            fd.add_output(T5)
            fd.add_output(T6)",
        sizes: &[&[900, 17]],
        numbers: Numbers::Strange,
        segments: "",
        schedule: "",
    },
    Found {
        name: "what has no elements is not read outside the loops that never run",
        body: "
            T0 = fd.define_tensor(shape=[0, 3, 0], contiguity=True, dtype=DataType.Float)
            T1 = fd.ops.reshape(T0, new_shape=[0, 0])
            fd.add_output(fd.ops.neg(T1))",
        sizes: &[&[0, 3, 0]],
        numbers: Numbers::Normal,
        segments: "",
        schedule: "",
    },
    Found {
        name: "further results of a fold have names that kernels take",
        body: "
            T0 = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
            T1, T2, T3 = fd.ops.welford(T0, dims=[0])
            fd.add_output(T2)
            fd.add_output(T3)",
        sizes: &[&[50, 7]],
        numbers: Numbers::Normal,
        segments: "",
        schedule: "schedule lanes 4\nblock x0 by 3\ninner x1\nlane x1",
    },
    Found {
        name: "what persists within rows that there are none of is not there after them",
        body: "
            T0 = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
            T1 = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
            T2 = fd.ops.sum(T0, dims=[1])
            T3 = fd.ops.exp(T1)
            T4 = fd.ops.add(T2, T3)
            fd.add_output(T4)",
        sizes: &[&[3, 0], &[3]],
        numbers: Numbers::Normal,
        segments: "",
        schedule: "schedule lanes 4\nblock x0 by 2\nrow x1\ninner x0\nlane x0\npersist n3",
    },
    Found {
        name: "one lane may add a whole column, and lose every small number beside a large one",
        body: "
            T0 = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
            S1 = fd.ops.size(T0, dim=0)
            T2 = fd.ops.iota(S1, 0, 1, DataType.Int)
            T3 = fd.ops.cast(fd.ops.where(fd.ops.eq(T2, 0), 1.0, 5e-8), dtype=DataType.Float)
            T4 = fd.ops.broadcast(T3, is_broadcast_dim=[False, True])
            T5 = fd.ops.add(fd.ops.mul(T0, 0.0), T4)
            T6 = fd.ops.sum(T5, dims=[0])
            fd.add_output(T6)",
        sizes: &[&[4096, 3]],
        numbers: Numbers::Normal,
        segments: "",
        schedule: "schedule lanes 4\ninner x1\ninner x2\nlane x2",
    },
    Found {
        name: "a result of a fold that is read from memory is read at any index, though the fold is computed for another",
        body: "
            T0 = fd.define_tensor(shape=[1, 3, 1], contiguity=True, dtype=DataType.Float)
            T1, T2, T3 = fd.ops.welford(T0, dims=[0, 2])
            T4 = fd.ops.broadcast(fd.ops.exp(T2), is_broadcast_dim=[True, False, True])
            T5 = fd.ops.broadcast(T1, is_broadcast_dim=[True, True, False])
            T6 = fd.ops.add(T4, T5)
            fd.add_output(T6)",
        sizes: &[&[1, 3, 1]],
        numbers: Numbers::Normal,
        segments: "segment seg0 -> T1\nsegment seg1 -> T6",
        schedule: "schedule lanes 4\ninner x0\ninner x1\nlane x1",
    },
    Found {
        name: "rows that are walked together have elements of their own of an array that is over them",
        body: "
            T0 = fd.define_tensor(shape=[5, 5, 520], contiguity=True, dtype=DataType.Float)
            T1, T2 = fd.ops.var_mean(T0, dims=[2])
            T3 = fd.ops.exp(T2)
            fd.add_output(T3)",
        sizes: &[&[5, 5, 520]],
        numbers: Numbers::Normal,
        segments: "",
        schedule: "schedule lanes 4\nblock x0 by 14\nblock x2 by 200\nrow x1\ninner x0\nlane x0\njam x1 by 5",
    },
    Found {
        name: "what lanes collect for rows that are walked together goes to each row's own element",
        body: "
            T0 = fd.define_tensor(shape=[5, 5, 5], contiguity=True, dtype=DataType.Float)
            T1 = fd.ops.sum(T0, dims=[0, 2])
            fd.add_output(T1)",
        sizes: &[&[5, 5, 5]],
        numbers: Numbers::Normal,
        segments: "",
        schedule: "schedule lanes 4\nblock x2 by 2\nrow x1\ninner x0\nlane x0\njam x1 by 5",
    },
    Found {
        name: "folds that keep axes of size 1 in other places are finished together",
        body: "
            T0 = fd.define_tensor(shape=[1, 1, 2], contiguity=True, dtype=DataType.Float)
            T1, T2, T3 = fd.ops.instance_norm(T0)
            T4, T5, T6 = fd.ops.instance_norm_backward(T0, arg=T0, mean=T2, invstd=T3)
            fd.add_output(fd.ops.div(T6, T2))",
        sizes: &[&[1, 1, 2]],
        numbers: Numbers::Normal,
        segments: "",
        schedule: "",
    },
    Found {
        name: "folds that keep the same axes in another order",
        body: "
            T0 = fd.define_tensor(shape=[-1, -1, -1], contiguity=True, dtype=DataType.Float)
            T1 = fd.ops.sum(T0, dims=[0])
            T2 = fd.ops.max(fd.ops.permute(T0, dims=[0, 2, 1]), dims=[0])
            fd.add_output(fd.ops.add(T1, fd.ops.permute(T2, dims=[1, 0])))",
        sizes: &[&[40, 3, 5]],
        numbers: Numbers::Normal,
        segments: "",
        schedule: "",
    },
    Found {
        name: "the arrays of a block are no larger than sizes that are known",
        body: "
            T0 = fd.define_tensor(shape=[2, 2], contiguity=True, dtype=DataType.Float)
            T1 = fd.define_tensor(shape=[2, 2], contiguity=True, dtype=DataType.UInt64)
            T2 = fd.ops.embedding_fwd(T1, weight=T0)
            T3, T4, T5 = fd.ops.instance_norm(T2)
            fd.add_output(fd.ops.stride_order(T5, stride_order=[0, 1]))",
        sizes: &[&[2, 2], &[2, 2]],
        numbers: Numbers::Normal,
        segments: "",
        schedule: "",
    },
    Found {
        name: "an array is as long as what there is, though blocks were to take more at once",
        body: "
            T0 = fd.define_tensor(shape=[-1, -1, -1], contiguity=True, dtype=DataType.Float)
            fd.add_output(fd.ops.max(T0, dims=[0]))",
        sizes: &[&[5, 3, 4]],
        numbers: Numbers::Normal,
        segments: "",
        schedule: "schedule lanes 4\nfuse x1 x2\nblock x2 by 268435456\nrow x0\ninner x2\nlane x2",
    },
];

fn define(body: &str) -> Definition {
    let lines: String = body.trim().lines().map(|line| format!("    {}\n", line.trim())).collect();
    let text = format!("def fusion(fd):\n{lines}");
    ferrofuse::define(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn inputs(found: &Found, definition: &Definition) -> Vec<Placed> {
    let decls = definition.input_decls().iter().zip(found.sizes);
    let input = |(seed, (decl, sizes)): (usize, (&ir::definition::InputDecl, &&[usize]))| Input {
        dtype: decl.dtype,
        sizes: sizes.to_vec(),
        is_scalar: false,
        symbolic: Vec::new(),
        expanded: Vec::new(),
        declared_order: Vec::new(),
        placement: Placement::default(),
        numbers: found.numbers,
        seed: seed as u64,
        within: None,
    };
    decls.enumerate().map(input).map(|input| input.place()).collect()
}

#[test]
fn what_was_found_stays_mended() {
    for found in FOUND {
        let definition = define(found.body);
        let mut chosen = Chosen::default();
        if !found.segments.is_empty() {
            let value = |name: &str| value_named(&definition, name);
            let segmentation = Segmentation::parse(found.segments, &value).expect("a segmentation");
            chosen.plan.segmentation = Some(segmentation);
        }
        if !found.schedule.is_empty() {
            let last = found.segments.lines().count().saturating_sub(1);
            chosen.plan.schedules.push((last.into(), parse_schedule(found.schedule).expect("a schedule")));
        }
        let inputs = inputs(found, &definition);
        let checked = check_definition(definition, inputs, &chosen);
        checked.unwrap_or_else(|failure| panic!("{}: {failure}", found.name));
    }
}
