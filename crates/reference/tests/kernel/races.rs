//! Errors that the interpreter finds at run time: races, uninitialised memory, indices out of bounds, endless loops.

use ferrofuse_reference::interpret::{DenseMemory, Fault, LaneOrder, Options, interpret};
use ops::DType;

use super::kernel;

/// Runs a body of 4 lanes and 2 blocks on a read and a write buffer of 16 elements each, in many orders; all must have the
/// same outcome.
fn outcome(body: &str) -> Result<(), Fault> {
    let text = format!(
        "kernel k() lanes 4 {{\nsymbols block, x0, x1, x2\nblocks block in 0 .. 2\nread b0: f32 T0\nwrite b1: f32 T1\n\
         scratch w0: f32[8]\nprivate w1: f32[16]\n{body}\n}}\n"
    );
    let kernel = kernel(&text);
    let mut outcomes = Vec::new();
    for seed in 0..4 {
        for lanes in [LaneOrder::Forward, LaneOrder::Reverse, LaneOrder::Random(seed)] {
            let mut buffers = [DenseMemory::zeros(DType::F32, 16), DenseMemory::zeros(DType::F32, 16)];
            let options = Options { seed, lanes, step_limit: 10_000, contracts: false };
            outcomes.push(interpret(&kernel, &[], &mut buffers, &options));
        }
    }
    let first = outcomes[0].is_ok();
    assert!(outcomes.iter().all(|outcome| outcome.is_ok() == first), "{outcomes:?}");
    outcomes.swap_remove(0)
}

const EXCHANGE: [&str; 2] = [
    "v0: f32 = const 1.0\nfor x0 in 0 .. 8 lanes {\nstore w0[x0] = v0\n}\n",
    "for x0 in 0 .. 8 lanes {\nv1: f32 = load w0[-x0 + 7]\nstore b1[8*block + x0] = v1\n}\n",
];

#[test]
fn a_missing_barrier_is_a_race_in_every_order() {
    let [before, after] = EXCHANGE;
    assert_eq!(outcome(&format!("{before}barrier\n{after}")), Ok(()));
    let fault = outcome(&format!("{before}{after}")).unwrap_err();
    assert!(matches!(fault, Fault::Race { .. }), "{fault}");
    assert!(fault.to_string().contains("v1: f32 = load w0[-x0 + 7]"), "{fault}");
}

#[test]
fn a_store_after_loads_of_other_lanes_needs_a_barrier_too() {
    let [before, after] = EXCHANGE;
    let overwrite = "for x1 in 0 .. 8 lanes {\nstore w0[x1] = v0\n}\n";
    assert_eq!(outcome(&format!("{before}barrier\n{after}barrier\n{overwrite}")), Ok(()));
    assert!(matches!(outcome(&format!("{before}barrier\n{after}{overwrite}")), Err(Fault::Race { .. })));
}

#[test]
fn a_transpose_is_ordered_by_barriers() {
    let [before, after] = EXCHANGE;
    let transpose = |columns| {
        format!(
            "for x1 in 0 .. 2 transpose {{\nfor x0 in 0 .. {columns} lanes {{\nv2: f32 = load b0[4*x1 + x0]\n\
             store w0[2*x0 + x1] = v2\n}}\n}}\n"
        )
    };
    let copy = transpose(4);
    assert_eq!(outcome(&format!("{before}barrier\n{copy}barrier\n{after}")), Ok(()));
    for unordered in [format!("{copy}barrier\n"), format!("barrier\n{copy}")] {
        let fault = outcome(&format!("{before}{unordered}{after}"));
        assert!(matches!(fault, Err(Fault::Race { .. })), "{fault:?}");
    }
    let beyond = outcome(&format!("{before}barrier\n{}barrier\n{after}", transpose(5)));
    assert!(matches!(beyond, Err(Fault::OutOfBounds { .. })), "{beyond:?}");
}

#[test]
fn a_lane_may_read_back_what_it_stored() {
    let same_lane = "for x0 in 0 .. 8 lanes {\nv1: f32 = load w0[x0]\nstore b1[8*block + x0] = v1\n}\n";
    assert_eq!(outcome(&format!("{}{same_lane}", EXCHANGE[0])), Ok(()));
}

#[test]
fn uniform_code_stores_by_one_lane_and_loads_by_all() {
    let store = "v0: f32 = const 1.0\nstore w0[0] = v0\n";
    let load = "v1: f32 = load w0[0]\n";
    let load_by_lanes = "for x0 in 0 .. 4 lanes {\nv1: f32 = load w0[0]\n}\n";
    assert!(matches!(outcome(&format!("{store}{load}")), Err(Fault::Race { .. })));
    assert!(matches!(outcome(&format!("{store}{load_by_lanes}")), Err(Fault::Race { .. })));
    assert!(matches!(
        outcome(&format!("{store}barrier\n{load}{store_again}", store_again = "store w0[0] = v0")),
        Err(Fault::Race { .. })
    ));
    assert_eq!(outcome(&format!("{store}store w0[0] = v0\nbarrier\n{load}")), Ok(()));
    assert_eq!(outcome(&format!("{store}barrier\n{load_by_lanes}")), Ok(()));
}

#[test]
fn lanes_that_store_one_element_race() {
    let body = "v0: f32 = const 1.0\nfor x0 in 0 .. 4 lanes {\nstore w0[0] = v0\n}";
    assert!(matches!(outcome(body), Err(Fault::Race { .. })));
    let to_buffer = "v0: f32 = const 1.0\nfor x0 in 0 .. 4 lanes {\nstore b1[block] = v0\n}";
    assert!(matches!(outcome(to_buffer), Err(Fault::Race { .. })));
}

#[test]
fn blocks_that_store_one_element_race() {
    let fault = outcome("v0: f32 = const 1.0\nstore b1[3] = v0").unwrap_err();
    let Fault::Race { at, other, index: 3, .. } = fault else { panic!("{fault}") };
    assert_ne!(at.block, other.block);
}

#[test]
fn an_output_element_is_stored_once() {
    let fault = outcome("v0: f32 = const 1.0\nstore b1[block] = v0\nstore b1[block] = v0").unwrap_err();
    assert!(matches!(fault, Fault::StoredTwice { .. }), "{fault}");
}

#[test]
fn scratch_is_uninitialised_at_the_start_of_each_block() {
    let fault = outcome("v0: f32 = load w0[5]").unwrap_err();
    assert!(matches!(fault, Fault::Uninitialised { index: 5, .. }), "{fault}");
}

#[test]
fn an_element_in_flight_is_not_accessed() {
    let fetch = "for x0 in 0 .. 8 lanes {\nfetch w1[x0] = b0[x0]\n}\n";
    let load = "for x1 in 0 .. 8 lanes {\nv0: f32 = load w1[x1]\n}\n";
    assert_eq!(outcome(&format!("{fetch}await 0\n{load}")), Ok(()));
    for early in [format!("{fetch}{load}await 0"), format!("{fetch}await 1\n{load}await 0")] {
        let fault = outcome(&early).unwrap_err();
        assert!(matches!(fault, Fault::InFlight { .. }), "{fault}");
    }
    let again = fetch.replace("x0", "x1");
    assert!(matches!(outcome(&format!("{fetch}{again}await 0")), Err(Fault::InFlight { .. })));
    let ring =
        format!("{fetch}await 1\nfor x2 in 0 .. 8 lanes {{\nfetch w1[x2 + 8] = b0[x2]\n}}\nawait 1\n{load}");
    assert_eq!(outcome(&format!("{ring}await 0")), Ok(()));
    let fault = outcome(&ring).unwrap_err();
    assert!(fault.to_string().contains("ends with w1[8] in flight"), "{fault}");
}

#[test]
fn indices_stay_in_bounds() {
    for index in ["16", "-1", "9223372036854775807"] {
        let fault = outcome(&format!("v0: f32 = load b0[{index}]")).unwrap_err();
        assert!(matches!(fault, Fault::OutOfBounds { len: 16, .. }), "{fault}");
        assert!(fault.to_string().contains(&format!("b0[{index}] of 16 elements")), "{fault}");
    }
    assert!(matches!(
        outcome("v0: f32 = const 1.0\nstore w0[8] = v0"),
        Err(Fault::OutOfBounds { len: 8, .. })
    ));
    assert!(matches!(outcome("v0: i64 = index (1 // block)"), Err(Fault::Index { .. })));
    assert!(matches!(
        outcome("v0: i64 = index 9223372036854775807*block + ((block + 1) // 2)"),
        Err(Fault::Index { .. })
    ));
}

#[test]
fn a_false_guard_touches_nothing() {
    let body = "v0: bool = const false\nv1: f32 = load b0[99] if v0\nstore b1[99] = v1 if v0\nv2: f32 = load w0[0] if v0";
    assert_eq!(outcome(body), Ok(()));
}

#[test]
fn endless_loops_end() {
    let endless = "for x0 in 0 .. 9223372036854775807 {\n}";
    assert_eq!(outcome(endless), Err(Fault::StepLimit { limit: 10_000 }));
    assert!(outcome("for x0 in 9223372036854775800 .. 9223372036854775807 lanes {\n}").is_ok());
}

#[test]
fn trip_counts_that_are_said_to_be_equal_must_be() {
    let fill = |end: i64| {
        outcome(&format!("v0: f32 = const 1.0\nfor x0 in 0 .. {end} exact {{\nstore w0[x0] = v0\n}}\n"))
    };
    for end in [-3, 0, 4, 8] {
        assert_eq!(fill(end), Ok(()), "{end}");
    }
    let fault = fill(6).unwrap_err();
    assert!(matches!(fault, Fault::Uneven { begin: 0, end: 6, lanes: 4, .. }), "{fault}");
    assert!(fault.to_string().contains("for x0 in 0 .. 6 exact"), "{fault}");
}

#[test]
fn calls_that_do_not_fit_the_kernel_are_rejected() {
    let kernel = kernel(
        "kernel k(i0) lanes 1 {\nsymbols i0, block\nblocks block in 0 .. i0\nread b0: f32 T0\nscratch w0: f32[i0]\n}",
    );
    let call = |args: &[i64], buffers: &mut [DenseMemory]| {
        interpret(&kernel, args, buffers, &Options { step_limit: 1000, ..Options::default() })
    };
    let f32s = || DenseMemory::zeros(DType::F32, 1);
    assert_eq!(call(&[], &mut [f32s()]), Err(Fault::Arguments { expected: 1, given: 0 }));
    assert_eq!(call(&[1], &mut []), Err(Fault::Buffers { expected: 1, given: 0 }));
    let wrong = call(&[1], &mut [DenseMemory::zeros(DType::F64, 1)]);
    assert!(matches!(wrong, Err(Fault::BufferDType { expected: DType::F32, given: DType::F64, .. })));
    assert_eq!(call(&[-5], &mut [f32s()]), Ok(()));
    assert!(matches!(call(&[i64::MAX], &mut [f32s()]), Err(Fault::ScratchLength { .. })));
    let unlimited = Options { step_limit: u64::MAX, ..Options::default() };
    let huge = interpret(&kernel, &[1 << 40], &mut [f32s()], &unlimited);
    assert!(matches!(huge, Err(Fault::ScratchLength { len: 0x100_0000_0000, .. })));
    assert_eq!(call(&[10], &mut [f32s()]), Ok(()));
}
