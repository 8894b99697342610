//! Whole kernels, from text: pointwise, row folds, column sums with and without scratch, Welford, guarded loads.

use emulator::Order;
use ops::DType::{BF16, Bool, F16, F32, I32, I64};
use reference::interpret::DenseMemory;

use crate::{Compiled, compile, difference, kernel, random, values};

#[test]
fn silu_mul_in_bf16() {
    for lanes in [32, 128] {
        let compiled = Compiled::new(kernel(include_str!("programs/silu_mul.kernel"), lanes));
        for count in [0, 1, 17, 1023, 2050] {
            let buffers = [values(BF16, count, 1), values(BF16, count, 2), DenseMemory::zeros(BF16, count)];
            compiled.check(&[count as i64], &buffers, 1.0);
        }
    }
}

#[test]
fn softmax_of_rows() {
    for lanes in [1, 4, 32, 256] {
        let compiled = Compiled::new(kernel(include_str!("programs/softmax.kernel"), lanes));
        for (rows, columns) in [(2, 1), (1, 17), (3, 300), (2, 0), (0, 5)] {
            let buffers = [values(F32, rows * columns, 3), DenseMemory::zeros(F32, rows * columns)];
            compiled.check(&[rows as i64, columns as i64], &buffers, 4.0);
        }
    }
}

/// If the number of rows is no multiple of the teams, some teams have none.
#[test]
fn short_rows_side_by_side() {
    for (text, outputs) in
        [(include_str!("programs/softmax.kernel"), 1), (include_str!("programs/welford.kernel"), 2)]
    {
        for lanes in ["1 teams 8", "2 teams 64", "8 teams 4", "16 teams 32", "32 teams 8"] {
            let text = text.replace("lanes 128 {", &format!("lanes {lanes} {{"));
            let compiled = Compiled::new(kernel(&text, 128));
            for (rows, columns) in [(1, 5), (13, 17), (64, 40), (0, 5)] {
                let mut buffers = vec![values(F32, rows * columns, 3)];
                let of_row = if outputs == 1 { columns } else { 1 };
                buffers.extend((0..outputs).map(|_| DenseMemory::zeros(F32, rows * of_row)));
                compiled.check(&[rows as i64, columns as i64], &buffers, 4.0);
            }
        }
    }
}

/// Symmetric and ordered states, with few warps and with more warps than a warp has lanes.
#[test]
fn rows_over_clusters() {
    for (text, outputs) in
        [(include_str!("programs/softmax.kernel"), 1), (include_str!("programs/welford.kernel"), 2)]
    {
        for lanes in ["64 warps 32 cluster 2", "512 warps 32 cluster 8", "2048 warps 32 cluster 4"] {
            let text = text.replace("lanes 128 {", &format!("lanes {lanes} {{"));
            let compiled = Compiled::new(kernel(&text, 128));
            for (rows, columns) in [(1, 5), (3, 3001), (0, 5)] {
                let mut buffers = vec![values(F32, rows * columns, 3)];
                let of_row = if outputs == 1 { columns } else { 1 };
                buffers.extend((0..outputs).map(|_| DenseMemory::zeros(F32, rows * of_row)));
                compiled.check(&[rows as i64, columns as i64], &buffers, 4.0);
            }
        }
    }
}

#[test]
fn column_sums_in_two_launches() {
    for lanes in [32, 256] {
        let partial = Compiled::new(kernel(include_str!("programs/column_sum_partial.kernel"), lanes));
        let combine = Compiled::new(kernel(include_str!("programs/column_sum_combine.kernel"), lanes));
        for (rows, columns) in [(1usize, 1usize), (40, 300), (17, 33)] {
            let chunks = rows.div_ceil(16);
            let buffers = [values(BF16, rows * columns, 4), DenseMemory::zeros(F32, chunks * columns)];
            partial.check(&[rows as i64, columns as i64], &buffers, 0.0);
            let [_, partials] =
                partial.interpreted(&[rows as i64, columns as i64], &buffers).try_into().expect("two");
            combine.check(
                &[chunks as i64, columns as i64],
                &[partials, DenseMemory::zeros(F32, columns)],
                0.0,
            );
        }
    }
}

#[test]
fn mean_and_variance_of_rows() {
    for lanes in [32, 256] {
        let compiled = Compiled::new(kernel(include_str!("programs/welford.kernel"), lanes));
        for (rows, columns) in [(3, 1), (2, 100), (3, 777), (1, 0)] {
            let outputs = [DenseMemory::zeros(F32, rows), DenseMemory::zeros(F32, rows)];
            let [mean, variance] = outputs;
            let buffers = [values(F32, rows * columns, 5), mean, variance];
            compiled.check(&[rows as i64, columns as i64], &buffers, 0.0);
        }
    }
}

#[test]
fn padding_reads_nothing_where_its_guard_is_false() {
    for lanes in [128, 256] {
        let compiled = Compiled::new(kernel(include_str!("programs/pad.kernel"), lanes));
        for (inner, before, after) in [(1, 0, 0), (300, 3, 5), (10, 40, 1), (0, 2, 3)] {
            let outer = inner + before + after;
            let buffers =
                [values(F16, inner, 6), DenseMemory::zeros(F16, outer), DenseMemory::zeros(Bool, outer)];
            compiled.check(&[inner as i64, before as i64, after as i64], &buffers, 0.0);
        }
    }
}

#[test]
fn blocks_are_divided_by_any_size() {
    let compiled = Compiled::new(kernel(include_str!("programs/divided_block.kernel"), 32));
    assert!(compiled.cuda.source.contains("small_floor_div(block, i0)"), "{}", compiled.cuda.source);
    for divisor in [1, 3, 39, 40, -1, -7, -40, 1 << 40, i64::MAX, i64::MIN] {
        compiled.check(&[divisor], &[DenseMemory::zeros(I64, 40), DenseMemory::zeros(I64, 40)], 0.0);
    }
}

fn reversible(rows: usize, columns: usize) -> [DenseMemory; 4] {
    let bytes = (0..(rows * columns) as u64).flat_map(|i| (random(i) >> (i % 64)).to_le_bytes()).collect();
    [
        DenseMemory::from_bytes(I64, bytes).expect("whole elements"),
        DenseMemory::zeros(I64, rows * columns),
        DenseMemory::zeros(I32, 2 * rows),
        DenseMemory::zeros(Bool, rows),
    ]
}

#[test]
fn scratch_of_several_dtypes_is_aligned_and_ordered_by_barriers() {
    for lanes in [32, 128] {
        let compiled = Compiled::new(kernel(include_str!("programs/reverse.kernel"), lanes));
        for (rows, columns) in [(1, 1), (2, 31), (3, 300), (2, 0)] {
            compiled.check(&[rows as i64, columns as i64], &reversible(rows, columns), 0.0);
        }
    }
}

#[test]
fn rows_standardized_by_two_sums() {
    for lanes in [128, 1024] {
        let compiled = Compiled::new(kernel(include_str!("programs/standardize.kernel"), lanes));
        for (rows, columns) in [(2, 1), (3, 300)] {
            let buffers = [values(F32, rows * columns, 7), DenseMemory::zeros(F32, rows * columns)];
            compiled.check(&[rows as i64, columns as i64], &buffers, 0.0);
        }
    }
}

/// Asserts that the text without the barrier at this byte fails in some order, which shows that the checks above find it.
#[track_caller]
fn barrier_is_missed(whole: &Compiled, at: usize, buffers: &[DenseMemory]) {
    let mut cuda = whole.cuda.clone();
    cuda.source.replace_range(at..at + BARRIER.len(), "");
    let broken = Compiled { kernel: whole.kernel.clone(), function: compile(&cuda), cuda };
    let expected = whole.interpreted(&[2, 300], buffers);
    let wrong = |order: Order| match broken.emulated(&[2, 300], buffers, order) {
        Ok(found) => difference(&expected, &found, 0.0).is_some(),
        Err(_) => true,
    };
    assert!(Order::ALL.into_iter().any(wrong), "not missed:\n{}", broken.cuda.source);
}

const BARRIER: &str = "__syncthreads();";

#[test]
fn a_barrier_taken_from_a_reduction_is_missed() {
    let whole = Compiled::new(kernel(include_str!("programs/standardize.kernel"), 128));
    let barriers: Vec<usize> = whole.cuda.source.match_indices(BARRIER).map(|(at, _)| at).collect();
    assert_eq!(barriers.len(), 2, "{}", whole.cuda.source);
    for at in barriers {
        barrier_is_missed(&whole, at, &[values(F32, 600, 7), DenseMemory::zeros(F32, 600)]);
    }
}

#[test]
fn a_barrier_taken_from_between_scratch_accesses_is_missed() {
    let whole = Compiled::new(kernel(include_str!("programs/reverse.kernel"), 128));
    let at = whole.cuda.source.rfind(BARRIER).expect("a barrier");
    barrier_is_missed(&whole, at, &reversible(2, 300));
}
