//! Schedules and segmentations are values: they print, parse, are checked, and any valid one can be lowered.

use ferrofuse_compiler::{Plan, PlanError, PlanOptions, SegmentId};
use index::Facts;
use ir::definition::Definition;
use ir::graph::TensorOp;
use ops::ScalarOp;
use scheduler::schedule::parse;
use segmenter::Segmentation;
use target::{GpuModel, Target};

use super::{INNER_OUTER, SOFTMAX, cpu_plan, define, first_kernel, kernels, only, try_plan, verify_kernels};

fn with_schedule(body: &str, schedule: &str) -> Result<String, PlanError> {
    let options = PlanOptions {
        schedules: vec![(0.into(), parse(schedule).expect("a schedule"))],
        ..PlanOptions::default()
    };
    let plan = try_plan(&define(body), &Target::cpu(512), &options)?;
    verify_kernels(&plan);
    Ok(first_kernel(&plan))
}

#[test]
fn schedules_print_and_parse() {
    for body in [SOFTMAX, INNER_OUTER] {
        let plan = cpu_plan(&define(body));
        for kernels in plan.segments.iter().filter_map(kernels) {
            let text = kernels.schedule.to_string();
            assert_eq!(parse(&text).as_ref(), Ok(&kernels.schedule), "{text}");
        }
    }
}

#[test]
fn every_legal_division_of_a_softmax_lowers() {
    for schedule in [
        "schedule lanes 8\nblock x0 by 3\ninner x1\nlane x1",
        "schedule lanes 4\nrow x0\ninner x1\nlane x1",
        "schedule lanes 16\ninner x1\nlane x0 outside",
        "schedule lanes 16\nblock x0 by 64\ninner x1\nlane x0 outside",
        "schedule lanes 1\nrow x0\ninner x1",
        "schedule lanes 8\nrow x0\ninner x1\nlane x1\npersist n3\npersist n8",
    ] {
        with_schedule(SOFTMAX, schedule).unwrap_or_else(|error| panic!("{schedule}\n{error}"));
    }
}

#[test]
fn a_schedule_that_does_not_fit_says_why() {
    for (schedule, expected) in [
        ("schedule lanes 3\nrow x0\ninner x1", "lanes must be a power of two from 1 to 1024, not 3"),
        ("schedule lanes 8\nrow x0\ninner x1\nrow x9", "the segment has no axis x9"),
        ("schedule lanes 8\nrow x0", "axis x1 must stand in exactly one of block, rows and inner"),
        (
            "schedule lanes 8\nrow x0\nrow x1",
            "axis x1 is scanned, or reduced by a fold whose result the segment needs",
        ),
        ("schedule lanes 8\nblock x0 by 0\ninner x1", "axis x0 has chunks of size 0"),
        ("schedule lanes 8\nblock x0 by 9223372036854775807\ninner x1", "must be from 1 to 4503599627370496"),
        ("schedule lanes 8\nfuse x0 x1\ninner x1", "axes x0 and x1 cannot be walked by one loop"),
        ("schedule lanes 8\nrow x0\ninner x1\npersist n0", "n0 cannot persist from stage to stage: no stage"),
        (
            "schedule lanes 8\nrow x0\ninner x1\njam x0 by 1",
            "axis x0 cannot be walked 1 at a time: at least 2",
        ),
        (
            "schedule lanes 8\nrow x0\ninner x1\njam x1 by 4",
            "it is not the innermost axis outside the stages",
        ),
        (
            "schedule lanes 8\nrow x0\ninner x1\nprefetch x1 by 1",
            "what lies along axis x1 cannot be prefetched: it is neither the innermost axis outside",
        ),
        (
            "schedule lanes 8\nrow x0\ninner x1\nlane x1\nprefetch x1 by 0",
            "what lies along axis x1 cannot be prefetched: the distance must be at least 1",
        ),
        (
            "schedule lanes 8\nrow x0\ninner x1\nlane x1\ntile x1 by 8",
            "an inner axis besides that of the lanes",
        ),
        ("schedule lanes 8\nrow x0\ninner x1\nlane x1\ntile x0 by 3", "the side must be a power of two"),
        (
            "schedule lanes 8\nrow x0\ninner x1\nlane x1\ntile x1 by 8\njam x9 by 4",
            "the segment has no axis x9",
        ),
        (
            "schedule lanes 8\nrow x0\ninner x1\njam x0 by 4\npartition x0\npartition x0",
            "axis x0 cannot be partitioned: it is partitioned already",
        ),
        (
            "schedule lanes 8\nrow x0\ninner x1\nlane x1\nunroll x1",
            "axis x1 cannot be unrolled: it is not an inner axis beside that of the lanes",
        ),
        (
            "schedule lanes 8\ninner x0\ninner x1\nlane x1\nunroll x0",
            "axis x0 cannot be unrolled: its size is not a number from 1 to 4",
        ),
        (
            "schedule lanes 8\ninner x1\nlane x0 outside\npersist n4",
            "n4 cannot persist from stage to stage: the loop over lanes stands around the stages",
        ),
    ] {
        let error = with_schedule(SOFTMAX, schedule).expect_err(schedule).to_string();
        assert!(
            error.starts_with("the schedule of seg0 does not fit it: ") && error.contains(expected),
            "{error}"
        );
    }
}

#[test]
fn no_value_persists_where_an_axis_is_unrolled() {
    const PAIRS: &str = "
    T0 = fd.define_tensor(shape=[-1, 2], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[-1, 1], contiguity=[True, None], dtype=DataType.Float)
    T2 = fd.ops.mul(T0, T1)
    T3 = fd.ops.exp(T2)
    fd.add_output(T3)";
    let schedule = "schedule lanes 8\ninner x1\ninner x0\nlane x0\nunroll x1";
    let kernel = with_schedule(PAIRS, schedule).expect("it fits");
    assert_eq!(kernel.matches("store b2[2*x0").count(), 2, "{kernel}");
    let error =
        with_schedule(PAIRS, &format!("{schedule}\npersist n2")).expect_err("it persists").to_string();
    assert!(error.contains("n2 cannot persist from stage to stage: an axis is unrolled"), "{error}");
}

/// Once a row, and in the stage after the first, though there is a third.
#[test]
fn the_next_row_is_prefetched_while_this_one_is_worked_on() {
    let schedule = "schedule lanes 8\nblock x0 by 7\ninner x1\nlane x1\nprefetch x0 by 1";
    let fetches = |schedule: &str| {
        let kernel = with_schedule(SOFTMAX, schedule).expect("it fits");
        let stages = kernel.split("lanes {\n    ").skip(1);
        stages.map(|stage| stage.matches("prefetch b0").count()).collect::<Vec<_>>()
    };
    assert_eq!(fetches(schedule), [0, 1, 0]);
    assert_eq!(fetches(&format!("{schedule}\njam x0 by 3")), [0, 3, 0, 0, 1, 0]);
    assert_eq!(fetches(&schedule.replace("prefetch x0 by 1", "")), [0, 0, 0]);
    let l2 = with_schedule(SOFTMAX, &format!("{schedule} L2")).expect("it fits");
    assert!(l2.lines().any(|line| line.ends_with("] L2")), "{l2}");
}

/// Long folds over rows run in blocks of rows: the index of a read includes the block as well.
#[test]
fn the_next_row_is_prefetched_where_rows_are_folded_in_blocks() {
    let fetches = |rows: u32| {
        let schedule = format!("schedule lanes 8\nblock x0 by {rows}\ninner x1\nlane x1\nprefetch x0 by 1");
        let kernel = with_schedule(INNER_OUTER, &schedule).expect("it fits");
        (kernel.contains("x0_block"), kernel.matches("prefetch").count())
    };
    assert_eq!(fetches(32), (false, 2));
    assert_eq!(fetches(512), (true, 2));
}

/// In the loop that reads it, except values that each row reads again, and values across the lanes.
#[test]
fn elements_further_along_the_lanes_are_prefetched() {
    let text = "
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    y = fd.define_tensor(shape=[-1, -1], contiguity=True)
    bias = fd.define_tensor(shape=[-1], contiguity=True)
    rows = fd.ops.broadcast(bias, is_broadcast_dim=[True, False])
    across = fd.ops.permute(y, dims=[1, 0])
    fd.add_output(fd.ops.add(fd.ops.add(x, rows), across))";
    let kernel = with_schedule(text, "schedule lanes 8\nrow x1\ninner x0\nlane x0\nprefetch x0 by 24");
    let kernel = kernel.expect("it fits");
    assert!(kernel.contains("prefetch b0[x1*i1 + x0 + 24]"), "{kernel}");
    assert_eq!(kernel.matches("prefetch").count(), 1, "{kernel}");
}

/// Much computation for each element in the one, and little in the other.
#[test]
fn lanes_prefetch_where_they_compute_for_long() {
    let of = |outputs: &str| {
        let text = format!("x = fd.define_tensor(shape=[-1, 4096], contiguity=True)\n{outputs}");
        only(&cpu_plan(&define(&text))).schedule.prefetch.map(|prefetch| prefetch.distance)
    };
    assert_eq!(of("fd.add_output(fd.ops.gelu(x))"), Some(512));
    assert_eq!(of("fd.add_output(fd.ops.add(x, 1.0))"), None);
}

/// Each subrange of a loop that is partitioned at breakpoints prefetches its own reads.
#[test]
fn the_next_row_is_prefetched_in_subranges() {
    let transposed = "
    x = fd.define_tensor(shape=[-1, 128], contiguity=True)
    rows, columns = fd.ops.shape(x)
    first = fd.ops.slice(x, start_indices=[0, 0], end_indices=[rows, 32])
    second = fd.ops.slice(x, start_indices=[0, 32], end_indices=[rows, 128])
    fd.add_output(fd.ops.softmax(fd.ops.cat([second, first], dim=1), dim=1))";
    let schedule = "schedule lanes 8\nblock x0 by 7\ninner x4\nlane x4\nprefetch x0 by 1\npartition x4";
    let kernel = with_schedule(transposed, schedule).expect("it fits");
    let loops = kernel.split("exact {\n    ").skip(1);
    let fetches = loops.map(|body| body.matches("prefetch b0").count());
    assert_eq!(fetches.collect::<Vec<_>>(), [0, 0, 1, 1, 0, 0], "{kernel}");
}

/// From the sizes alone, or also from the chunks of blocks.
#[test]
fn equal_trip_counts_are_said_to_be_so() {
    let mut definition = define(SOFTMAX);
    let loops = |definition: &Definition| {
        let plan = cpu_plan(definition);
        let kernel = first_kernel(&plan);
        [" lanes {\n", " exact {\n"].map(|kind| kernel.matches(kind).count())
    };
    // One more is over the lanes themselves, which add a block of the sum to their totals.
    assert_eq!(loops(&definition), [3, 1]);
    let mut facts = Facts::clone(definition.fusion.facts());
    let columns = definition.graph.shape(definition.fusion.inputs()[0])[1].clone();
    facts.assume_multiple(&columns, 64);
    definition.fusion = definition.fusion.with_facts(facts);
    assert_eq!(loops(&definition), [0, 4]);
    let add = "
    x = fd.define_tensor(shape=[1024], contiguity=True)
    fd.add_output(fd.ops.add(x, 1.0))";
    for (chunk, kind) in [(16, "exact"), (20, "lanes")] {
        let kernel = with_schedule(add, &format!("schedule lanes 8\nblock x0 by {chunk}\ninner x0\nlane x0"))
            .expect("it fits");
        assert!(kernel.contains(&format!(" {kind} {{\n    v")), "{kernel}");
    }
}

/// Three rows and a remainder loop: each sum over rows is loaded and stored once in either.
#[test]
fn jammed_rows_share_what_is_summed_over_them() {
    let plan = cpu_plan(&define(INNER_OUTER));
    let chosen = only(&plan).schedule.to_string();
    assert!(chosen.contains("jam x0 by 8"), "{chosen}");
    let schedule = "schedule lanes 8\nblock x0 by 7\ninner x1\nlane x1\njam x0 by 3";
    let kernel = with_schedule(INNER_OUTER, schedule).expect("it fits");
    let rows = kernel.split("for x0").nth(1).expect("a loop over groups of rows");
    assert_eq!(rows.matches("store w").count(), 2, "{kernel}");
    assert_eq!(rows.matches("store b").count(), 3, "{kernel}");
}

/// Combining folds of a short row leaves the lanes little to do, which matters if there are many rows.
#[test]
fn many_short_rows_are_jammed() {
    for (rows, columns, together) in [(65536, 64, true), (64, 64, false), (4096, 4096, false)] {
        let body = SOFTMAX.replace("[-1, -1]", &format!("[{rows}, {columns}]"));
        let chosen = only(&cpu_plan(&define(&body))).schedule.to_string();
        assert_eq!(chosen.contains("jam x0 by 8"), together, "{rows} rows of {columns}: {chosen}");
    }
}

/// Hardware reads memory in runs that end at each page, if not earlier: sums of rows of pages walk several rows, sums of
/// short ones and sums over contiguous rows do not.
#[test]
fn sums_of_long_rows_walk_several_at_once() {
    let cases =
        [(4096, 4096, 1, true), (65536, 256, 1, false), (64, 4096, 1, false), (65536, 1024, 0, false)];
    for (rows, columns, folded, together) in cases {
        let body = format!(
            "
    x = fd.define_tensor(shape=[{rows}, {columns}], contiguity=True)
    fd.add_output(fd.ops.sum(x, dims=[{folded}]))"
        );
        let chosen = only(&cpu_plan(&define(&body))).schedule.to_string();
        assert_eq!(chosen.contains("jam x0 by 8"), together, "{rows} rows of {columns}: {chosen}");
    }
}

/// A register of each row at a time, in the narrowest dtype; half types fill one with all lanes.
#[test]
fn rows_that_are_only_summed_take_a_register_each() {
    for (dtype, lanes) in [("BFloat16", 32), ("Float", 16), ("Double", 8)] {
        let body = format!(
            "
    x = fd.define_tensor(shape=[4096, 4096], contiguity=True, dtype=DataType.{dtype})
    fd.add_output(fd.ops.sum(fd.ops.cast(x, dtype=DataType.Double), dims=[1]))"
        );
        let chosen = only(&cpu_plan(&define(&body))).schedule.to_string();
        assert!(chosen.contains("jam x0 by 8") && chosen.contains(&format!("lanes {lanes}\n")), "{chosen}");
    }
}

#[test]
fn complex_numbers_do_not_persist() {
    let body = "
        T0 = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        T1 = fd.ops.exp(T0)
        T2 = fd.ops.complex(T0, T1)
        fd.add_output(T2)";
    let definition = define(body);
    let [part, whole] = [0, 1].map(|place| definition.fusion.order()[place]);
    let persisting =
        |node| with_schedule(body, &format!("schedule lanes 4\ninner x0\nlane x0\npersist {node}"));
    persisting(part).expect("a part can persist");
    let error = persisting(whole).expect_err("kernels hold parts").to_string();
    assert!(error.contains("cannot persist from stage to stage: no stage"), "{error}");
}

/// Otherwise the loop would repeat work that does not depend on it: the same elements would be stored in each iteration.
#[test]
fn an_axis_that_another_loop_walks_has_no_loop_of_its_own() {
    let body = "
        T0 = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        T1 = fd.ops.sum(T0, dims=[0, 1])
        fd.add_output(T1)";
    with_schedule(body, "schedule lanes 8\nfuse x0 x1\nblock x1 by 64\ninner x1\nlane x1").expect("it fits");
    for extra in ["block x0 by 1\n", "row x0\n", "inner x0\n"] {
        let schedule = format!("schedule lanes 8\nfuse x0 x1\n{extra}inner x1\nlane x1");
        let error = with_schedule(body, &schedule).expect_err(&schedule).to_string();
        assert!(error.contains("axis x0 has no loop of its own"), "{schedule}\n{error}");
    }
    let error = with_schedule(body, "schedule lanes 8\nfuse x0 x1\nrow x1\nlane x0 outside").unwrap_err();
    assert!(error.to_string().contains("axis x0 has no loop of its own"), "{error}");
}

#[test]
fn a_text_that_is_no_schedule_names_the_line() {
    let error = parse("schedule lanes 8\n\n# rows\nrows x1").unwrap_err();
    assert!(error.to_string().starts_with("line 4: expected "), "{error}");
    assert!(error.to_string().ends_with(", found `rows x1`"), "{error}");
    assert!(parse("").is_err() && parse("lane x4294967295").is_err() && parse("block x0 by -1").is_err());
}

#[test]
fn widths_warps_and_private_values_are_checked() {
    let scan = "
        T0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
        T1 = fd.ops.cumsum(T0, dim=1)
        fd.add_output(T1)";
    let of_channels = "
        T0 = fd.define_tensor(shape=[-1, -1, -1], contiguity=True, dtype=DataType.Float)
        fd.add_output(fd.ops.sum(T0, dims=[0, 2]))";
    for (body, text, expected) in [
        (
            SOFTMAX,
            "schedule lanes 8\nrow x0\ninner x1\nwidth 4",
            "no axis is mapped to the lanes within the stages",
        ),
        (SOFTMAX, "schedule lanes 8\nrow x0\ninner x1\nlane x1\nwidth 3", "a power of two from 1 to 16"),
        (
            scan,
            "schedule lanes 8\ninner x1\nlane x0 outside\nwidth 2",
            "no axis is mapped to the lanes within the stages",
        ),
        (SOFTMAX, "schedule lanes 8 warps 16\nrow x0\ninner x1", "at most all 8, not 16"),
        (SOFTMAX, "schedule lanes 8\nrow x0\ninner x1\nprivate", "no axis is mapped to them"),
        (SOFTMAX, "schedule lanes 8\ninner x0\ninner x1\nlane x1\nprivate", "stages walk other axes, too"),
        (scan, "schedule lanes 8\nrow x1\ninner x0\nlane x0\nprivate", "axis x1 is scanned"),
        (scan, "schedule lanes 8\nrow x0\ninner x1\nlane x1\nprivate", "the segment scans"),
        (
            SOFTMAX,
            "schedule lanes 8\nrow x0\ninner x1\nlane x1\npartition x1\nprivate",
            "their axis is partitioned",
        ),
        (
            SOFTMAX,
            "schedule lanes 2048\nrow x0\ninner x1\nlane x1",
            "a power of two from 1 to 1024, not 2048",
        ),
        (
            SOFTMAX,
            "schedule lanes 96 warps 32\nrow x0\ninner x1\nlane x1\ncluster 3",
            "lanes must be a power of two",
        ),
        (
            SOFTMAX,
            "schedule lanes 512 warps 32\nrow x0\ninner x1\nlane x1\ncluster 16",
            "16 blocks cannot be a cluster: 2, 4 or 8 blocks are one",
        ),
        (
            SOFTMAX,
            "schedule lanes 64\nrow x0\ninner x1\nlane x1\ncluster 2",
            "each has whole warps of 32 lanes",
        ),
        (
            SOFTMAX,
            "schedule lanes 64\nrow x0\ninner x1\nlane x1\nprivate\nring 2",
            "a row cannot be loaded while lanes are at the one before: no rows are divided among blocks",
        ),
        (
            SOFTMAX,
            "schedule lanes 64\nblock x0 by 4\ninner x1\nlane x1\nring 2",
            "lanes have nothing for themselves",
        ),
        (
            SOFTMAX,
            "schedule lanes 64 warps 32\nrow x0\ninner x1\nlane x1\npersist n3\ncluster 2",
            "what persists or a fold keeps lies in scratch that lanes share",
        ),
        (
            of_channels,
            "schedule lanes 64 warps 32\nrow x0\nrow x1\ninner x2\nlane x2\ncluster 2",
            "a fold over an outer loop keeps its states in scratch that lanes share",
        ),
    ] {
        let schedule = parse(text).expect("a schedule");
        let options = PlanOptions { schedules: vec![(0.into(), schedule)], ..PlanOptions::default() };
        let error = try_plan(&define(body), &Target::cuda(), &options).expect_err(text).to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn segmentations_print_parse_and_are_obeyed() {
    let definition = define(SOFTMAX);
    let value = |name: &str| {
        let nodes = definition.fusion.order().iter().flat_map(|&node| definition.graph.results(node));
        nodes.into_iter().find(|&val| definition.name_of(val) == name)
    };
    let text = "segment seg0 -> T3\nsegment seg1 -> T5\n";
    let chosen = Segmentation::parse(text, &value).expect("a segmentation");
    assert_eq!(chosen.to_text(&|val| definition.name_of(val)), text);
    let options = PlanOptions { segmentation: Some(chosen), ..PlanOptions::default() };
    let plan = try_plan(&definition, &Target::cpu(512), &options).expect("it fits");
    verify_kernels(&plan);
    assert_eq!(plan.segments.len(), 2);
    let unknown = Segmentation::parse("segment a -> T9", &value).unwrap_err();
    assert_eq!(unknown.to_string(), "line 1: the definition has no value `T9`, or does not compute it");
    assert!(Segmentation::parse("T3, T5", &value).is_err());
    for (text, expected) in [
        ("segment a -> T3", "no segment makes the output"),
        ("segment a -> T5\nsegment b -> T3", "needs a value that a later segment makes"),
        ("segment a -> T5\nsegment b -> T5", "is made by two segments"),
    ] {
        let chosen = Segmentation::parse(text, &value).expect("it reads");
        let options = PlanOptions { segmentation: Some(chosen), ..PlanOptions::default() };
        let error = try_plan(&definition, &Target::cpu(512), &options).expect_err(text).to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

/// A block of a GPU has limited memory; one of a CPU takes what it needs.
#[test]
fn a_schedule_that_no_launch_could_have_is_rejected() {
    let definition = define(
        "
        T0 = fd.define_tensor(shape=[-1, 65536], contiguity=True, dtype=DataType.Float)
        T1 = fd.ops.exp(T0)
        fd.add_output(fd.ops.div(T1, fd.ops.sum(T1, dims=[1], keepdim=True)))",
    );
    let of_one = "schedule lanes 32\nblock x0 by 1\ninner x1\nlane x1\npersist n1";
    let of_two = "schedule lanes 32 warps 32\nblock x0 by 1\ninner x1\nlane x1\npersist n1\nprivate\nteams 2";
    for (text, bytes) in [(of_one, 262_144), (of_two, 524_288)] {
        let schedule = parse(text).expect("a schedule");
        let options = PlanOptions { schedules: vec![(0.into(), schedule)], ..PlanOptions::default() };
        let error = try_plan(&definition, &Target::cuda(), &options).unwrap_err();
        assert_eq!(error, PlanError::Scratch { segment: "seg0".to_owned(), bytes, most: 204_800 });
        try_plan(&definition, &Target::cpu(512), &options).expect("a CPU has it");
    }
}

/// GPUs before sm_90 have no clusters; on a CPU one is a block.
#[test]
fn a_cluster_that_no_gpu_has_is_rejected() {
    let schedule = "schedule lanes 64 warps 32\nblock x0 by 1\ninner x1\nlane x1\ncluster 2";
    let schedule = parse(schedule).expect("a schedule");
    let options = PlanOptions { schedules: vec![(0.into(), schedule)], ..PlanOptions::default() };
    let a100 = Target::gpu(GpuModel::named("a100").expect("it is in the table"));
    let error = try_plan(&define(SOFTMAX), &a100, &options).unwrap_err().to_string();
    assert!(error.ends_with("a cluster of the GPU has 1 blocks at most, not 2"), "{error}");
    for target in [Target::cuda(), Target::cpu(512)] {
        try_plan(&define(SOFTMAX), &target, &options).expect("it has it");
    }
}

#[test]
fn a_schedule_for_no_segment_is_rejected() {
    let schedule = parse("schedule lanes 8\nrow x0\ninner x1").expect("a schedule");
    let options = PlanOptions { schedules: vec![(7.into(), schedule)], ..PlanOptions::default() };
    let error = try_plan(&define(SOFTMAX), &Target::cpu(512), &options).unwrap_err();
    assert_eq!(error, PlanError::NoSegment { asked: 7.into(), there: 1 });
    assert_eq!(error.to_string(), "there is no segment 7; there are 1");
    let schedules = vec![(SegmentId::Name("rows".to_owned()), options.schedules[0].1.clone())];
    let options = PlanOptions { schedules, ..PlanOptions::default() };
    let error = try_plan(&define(SOFTMAX), &Target::cpu(512), &options).unwrap_err();
    assert_eq!(error.to_string(), "there is no segment rows; there are 1");
}

/// The passes remove the copy, so that `T3` and `T5` need the one `neg` that the last segment was to make.
#[test]
fn a_segmentation_that_fits_the_definition_is_obeyed_though_the_passes_unite_values() {
    let definition = define(
        "
        T0 = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        T1 = fd.ops.set(T0)
        T2 = fd.ops.neg(T1)
        T3 = fd.ops.abs(T2)
        T4 = fd.ops.neg(T0)
        T5 = fd.ops.exp(T4)
        fd.add_output(T3)
        fd.add_output(T1)
        fd.add_output(T5)",
    );
    let value = |name: &str| {
        let nodes = definition.fusion.order().iter().flat_map(|&node| definition.graph.results(node));
        nodes.into_iter().find(|&val| definition.name_of(val) == name)
    };
    let chosen = Segmentation::parse("segment a -> T1\nsegment b -> T3\nsegment c -> T4, T5", &value);
    let options = PlanOptions { segmentation: Some(chosen.expect("it reads")), ..PlanOptions::default() };
    let plan = try_plan(&definition, &Target::cpu(512), &options).expect("it fits");
    verify_kernels(&plan);
    assert_eq!(plan.segmentation.check(&plan.graph, &plan.fusion), Ok(()));
}

/// Rows that are short enough for two passes get them, whoever cut the segments.
#[test]
fn passes_for_short_rows_run_behind_a_segmentation() {
    let definition = define(
        "
        T0 = fd.define_tensor(shape=[4096, 128], contiguity=True, dtype=DataType.Float)
        T1, T2 = fd.ops.var_mean(T0, dims=[1], correction=0, keepdim=True)
        T3 = fd.ops.mul(fd.ops.sub(T0, T2), fd.ops.rsqrt(T1))
        fd.add_output(T3)
        fd.add_output(fd.ops.argmax(T0, dim=1))",
    );
    let texts = |plan: &Plan| -> Vec<String> {
        plan.lowered.iter().flat_map(|it| &it.kernels).map(|it| it.kernel.to_string()).collect()
    };
    let target = Target::cpu(512);
    let own = try_plan(&definition, &target, &PlanOptions::default()).expect("a plan");
    assert_eq!(own.segments.len(), 1);
    let outputs = definition.fusion.outputs().iter().map(|output| output.val).collect();
    let chosen = Segmentation::new(vec![outputs]);
    let options = PlanOptions { segmentation: Some(chosen), ..PlanOptions::default() };
    let same = try_plan(&definition, &target, &options).expect("it fits");
    assert_eq!(texts(&same), texts(&own));
    assert!(!texts(&own)[0].contains("welford"));
}

/// Another segment reads the product that this one is to make: no sum absorbs it.
#[test]
fn no_sum_takes_a_product_that_a_segmentation_makes() {
    let definition = define(
        "
        T0 = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.BFloat16)
        T1 = fd.ops.cast(T0, dtype=DataType.Float)
        T2 = fd.ops.mul(T1, 3.0)
        T3 = fd.ops.add(T2, T1)
        T4 = fd.ops.cast(T3, dtype=DataType.BFloat16)
        fd.add_output(T4)",
    );
    let named = |name: &str| {
        let nodes = definition.fusion.order().iter().flat_map(|&node| definition.graph.results(node));
        nodes.into_iter().find(|&val| definition.name_of(val) == name)
    };
    let chosen = Segmentation::parse("segment a -> T2\nsegment b -> T4", &named).expect("it reads");
    let product = named("T2").expect("a value");
    let options = PlanOptions { segmentation: Some(chosen), ..PlanOptions::default() };
    let plan = try_plan(&definition, &Target::cpu(512), &options).expect("it fits");
    let made = plan.kept(product).expect("the first segment makes it");
    assert!(plan.segments[1].view.inputs().contains(&made));
}

/// A check evaluates 1 + tanh as the logistic function, without cancellation, and so it is computed, though a segment makes
/// the tanh as well: from that the sum would have too few digits.
#[test]
fn a_logistic_function_stays_one_though_its_tanh_is_made() {
    let definition = define(
        "
        T0 = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.BFloat16)
        T1 = fd.ops.cast(T0, dtype=DataType.Float)
        T2 = fd.ops.tanh(T1)
        T3 = fd.ops.mul(T1, fd.ops.add(T2, 1.0))
        T4 = fd.ops.cast(T3, dtype=DataType.BFloat16)
        fd.add_output(T4)",
    );
    let named = |name: &str| {
        let nodes = definition.fusion.order().iter().flat_map(|&node| definition.graph.results(node));
        nodes.into_iter().find(|&val| definition.name_of(val) == name)
    };
    let chosen = Segmentation::parse("segment a -> T2\nsegment b -> T4", &named).expect("it reads");
    let options = PlanOptions { segmentation: Some(chosen), ..PlanOptions::default() };
    let plan = try_plan(&definition, &Target::cpu(512), &options).expect("it fits");
    let mut forms = plan.segments[1].view.order().iter().map(|&node| &plan.graph.node(node).op);
    assert!(forms.any(|op| *op == TensorOp::Map(ScalarOp::ReciprocalHalf)));
}

/// Otherwise the lanes would share the array of the sums along the inner axis.
#[test]
fn lanes_do_not_stand_around_a_fold_that_keeps_an_inner_axis() {
    let body = "
        T0 = fd.define_tensor(shape=[-1, -1, -1], contiguity=True, dtype=DataType.Float)
        T1 = fd.ops.sum(T0, dims=[2])
        fd.add_output(T1)";
    let error = with_schedule(body, "schedule lanes 8\ninner x1\ninner x2\nlane x0 outside").unwrap_err();
    assert!(error.to_string().contains("a fold keeps an axis that is walked within the stages"), "{error}");
    with_schedule(body, "schedule lanes 8\nrow x1\ninner x2\nlane x0 outside").expect("rows do not");
}
