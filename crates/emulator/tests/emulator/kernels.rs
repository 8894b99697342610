//! Kernels as a compiler writes them, in every order of threads, and the arithmetic that they rely on.

use ferrofuse_emulator::{Arg, Function, Launch, Order};
use half::{bf16, f16};

use crate::{buffer_f32, buffer_u16, compile, one_block, read_f32, read_u16, run};

const SILU_MUL: &str = include_str!("kernels/silu_mul.cu");
const SOFTMAX: &str = include_str!("kernels/softmax.cu");
const COLUMN_SUM: &str = include_str!("kernels/column_sum.cu");

/// Values in -4..4 that look random and are the same in every run.
fn values(count: usize) -> Vec<f32> {
    let scatter = |i: usize| (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    (0..count).map(|i| scatter(i) as f32 / (1 << 21) as f32 - 4.0).collect()
}

#[test]
fn pointwise_is_right_in_every_order() {
    let module = compile(SILU_MUL, "silu_mul");
    for count in [1, 3, 1023, 4096] {
        let x: Vec<bf16> = values(count).into_iter().map(bf16::from_f32).collect();
        let y: Vec<bf16> = values(2 * count)[count..].iter().map(|&value| bf16::from_f32(value)).collect();
        let bits = |values: &[bf16]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        let (mut x_in, mut y_in) = (buffer_u16(&bits(&x)), buffer_u16(&bits(&y)));
        for order in Order::ALL {
            let mut out = buffer_u16(&vec![0xdead; count]);
            let launch = Launch { grid: [3, 1, 1], order, ..one_block(128) };
            let args = [&mut x_in, &mut y_in, &mut out].map(|buffer| Arg::Pointer(buffer.as_mut_ptr()));
            let args = [args[0], args[1], args[2], Arg::I64(count as i64)];
            run(&module, &launch, &args).unwrap_or_else(|error| panic!("{order:?}: {error}"));
            for (i, bits) in read_u16(&out).into_iter().enumerate() {
                let wide = x[i].to_f64();
                let silu = bf16::from_f64(wide / (1.0 + (-wide).exp())).to_f64();
                let (got, want) = (bf16::from_bits(bits).to_f64(), silu * y[i].to_f64());
                // Two roundings to bf16, the first perhaps to the other neighbour.
                assert!((got - want).abs() <= want.abs() / 64.0, "{order:?}, element {i}: {got}, not {want}");
            }
        }
    }
}

/// Softmax of 5 rows of `columns`, on 2 blocks of 128 threads.
fn softmax(module: &Function, columns: usize, order: Order) -> Vec<f32> {
    let rows = 5;
    let mut x = buffer_f32(&values(rows * columns));
    let mut out = buffer_f32(&vec![-1.0; rows * columns]);
    let launch = Launch { grid: [2, 1, 1], dynamic_shared_bytes: 4 * columns, order, ..one_block(128) };
    let args = [
        Arg::Pointer(x.as_mut_ptr()),
        Arg::Pointer(out.as_mut_ptr()),
        Arg::I32(rows as i32),
        Arg::I32(columns as i32),
    ];
    let stats = run(module, &launch, &args).unwrap_or_else(|error| panic!("{order:?}: {error}"));
    assert_eq!(stats.static_shared_bytes, 128);
    read_f32(&out)
}

fn softmax_by_definition(columns: usize) -> Vec<f64> {
    let x = values(5 * columns);
    let row = |row: &[f32]| {
        let weights: Vec<f64> = row.iter().map(|&value| f64::from(value).exp()).collect();
        let total: f64 = weights.iter().sum();
        weights.into_iter().map(move |weight| weight / total).collect::<Vec<_>>()
    };
    x.chunks(columns).flat_map(row).collect()
}

fn close(got: &[f32], want: &[f64]) -> bool {
    got.len() == want.len()
        && got.iter().zip(want).all(|(&got, want)| (f64::from(got) - want).abs() <= 1e-5 * want)
}

#[test]
fn row_fold_is_right_in_every_order() {
    let module = compile(SOFTMAX, "softmax");
    for columns in [1, 17, 1023] {
        let want = softmax_by_definition(columns);
        for order in Order::ALL {
            assert!(close(&softmax(&module, columns, order), &want), "{columns} columns, {order:?}");
        }
    }
}

#[test]
fn a_removed_barrier_shows_in_some_order() {
    let barrier = "  __syncthreads();";
    for kept in ["// before", "// after"] {
        let removed: String = SOFTMAX
            .lines()
            .filter(|line| !line.starts_with(barrier) || line.contains(kept))
            .map(|l| format!("{l}\n"))
            .collect();
        assert_ne!(removed.lines().count(), SOFTMAX.lines().count());
        let module = compile(&removed, "softmax");
        let results: Vec<Vec<u32>> = Order::ALL
            .iter()
            .map(|&order| softmax(&module, 1023, order).into_iter().map(f32::to_bits).collect())
            .collect();
        assert!(results.iter().any(|result| *result != results[0]), "only {kept} kept: all orders agree");
    }
}

#[test]
fn copies_land_at_once_or_when_they_are_awaited() {
    let source = |wait: &str| {
        format!(
            "extern \"C\" __global__ void copy(const float* x, float* y) {{\n  __shared__ float own[64];\n  \
             cuemu::fetch(own + threadIdx.x, x + threadIdx.x, 4);\n  cuemu::await_fetches({wait});\n  \
             y[threadIdx.x] = own[threadIdx.x];\n  cuemu::await_fetches(0);\n}}\n"
        )
    };
    let copied = |wait: &str, order: Order| {
        let module = compile(&source(wait), "copy");
        let (mut x, mut y) = (buffer_f32(&values(64)), buffer_f32(&[0.0; 64]));
        let args = [&mut x, &mut y].map(|buffer| Arg::Pointer(buffer.as_mut_ptr()));
        run(&module, &Launch { order, ..one_block(64) }, &args)
            .unwrap_or_else(|error| panic!("{order:?}: {error}"));
        read_f32(&y) == values(64)
    };
    assert!(Order::ALL.iter().all(|&order| copied("0", order)));
    assert_eq!([Order::Forward, Order::Reverse].map(|order| copied("1", order)), [true, false]);
    let module = compile(&source("1").replace("  cuemu::await_fetches(0);\n", ""), "copy");
    let (mut x, mut y) = (buffer_f32(&values(64)), buffer_f32(&[0.0; 64]));
    let args = [&mut x, &mut y].map(|buffer| Arg::Pointer(buffer.as_mut_ptr()));
    let ended = run(&module, &Launch { order: Order::Reverse, ..one_block(64) }, &args);
    assert!(ended.unwrap_err().to_string().contains("ends before what it copies has landed"));
}

#[test]
fn column_sum_is_right_in_every_order() {
    let module = compile(COLUMN_SUM, "column_sum");
    let (rows, columns, chunk) = (77, 45, 20);
    let x = values(rows * columns);
    let mut x_in = buffer_f32(&x);
    for order in Order::ALL {
        let mut out = buffer_f32(&vec![0.0; columns]);
        let launch = Launch { grid: [2, 4, 1], block: [32, 8, 1], dynamic_shared_bytes: 0, order };
        let mut args = vec![Arg::Pointer(x_in.as_mut_ptr()), Arg::Pointer(out.as_mut_ptr())];
        args.extend([rows, columns, chunk].map(|size| Arg::I32(size as i32)));
        run(&module, &launch, &args).unwrap_or_else(|error| panic!("{order:?}: {error}"));
        for (column, got) in read_f32(&out).into_iter().enumerate() {
            let want: f64 = (0..rows).map(|row| f64::from(x[row * columns + column])).sum();
            assert!((f64::from(got) - want).abs() < 1e-4, "{order:?}, column {column}: {got}, not {want}");
        }
    }
}

#[test]
fn half_types_convert_as_in_rust() {
    let source = "extern \"C\" __global__ void convert(const float* x, unsigned short* out, float* back, int n) {
        for (int i = threadIdx.x; i < n; i += blockDim.x) {
          out[2 * i] = cuemu::float_to_half(x[i]);
          out[2 * i + 1] = cuemu::float_to_bfloat16(x[i]);
        }
        for (int i = threadIdx.x; i < 65536; i += blockDim.x) back[i] = cuemu::half_to_float((unsigned short)i); }";
    let module = compile(source, "convert");
    // Every half value, and around each the neighbours and midpoints where rounding changes.
    let around = |bits: u16| {
        let (value, next) = (f16::from_bits(bits).to_f32(), f16::from_bits(bits.wrapping_add(1)).to_f32());
        let middle = (value + next) / 2.0;
        [value, middle, middle.next_up(), middle.next_down(), f32::from_bits(u32::from(bits) << 16 | 0x8000)]
    };
    let x: Vec<f32> = (0..=u16::MAX).flat_map(around).filter(|value| !value.is_nan()).collect();
    let (mut x_in, mut out) = (buffer_f32(&x), buffer_u16(&vec![0; 2 * x.len()]));
    let mut back = buffer_f32(&vec![0.0; 65536]);
    let pointers = [&mut x_in, &mut out, &mut back].map(|buffer| Arg::Pointer(buffer.as_mut_ptr()));
    let args = [pointers[0], pointers[1], pointers[2], Arg::I32(x.len() as i32)];
    run(&module, &one_block(64), &args).expect("a launch");
    for (value, bits) in x.iter().zip(read_u16(&out).as_chunks::<2>().0) {
        assert_eq!(bits[0], f16::from_f32(*value).to_bits(), "f16 of {value:e}");
        assert_eq!(bits[1], bf16::from_f32(*value).to_bits(), "bf16 of {value:e}");
    }
    for (bits, value) in (0..=u16::MAX).zip(read_f32(&back)) {
        let want = f16::from_bits(bits).to_f32();
        assert!(
            value == want && value.is_sign_negative() == want.is_sign_negative()
                || value.is_nan() && want.is_nan()
        );
    }
}

#[test]
fn threads_may_launch_at_once() {
    let module = compile(SOFTMAX, "softmax");
    let want = softmax_by_definition(100);
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let (module, want) = (&module, &want);
            scope.spawn(move || assert!(close(&softmax(module, 100, Order::Random(seed)), want)));
        }
    });
}
