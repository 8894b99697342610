//! Casts between all pairs of dtypes, at special values, at every half-precision value and at the midpoints between them.

use llvm::CpuTarget;
use ops::{DType, Scalar};
use reference::interpret::DenseMemory;

use crate::harness::{check, compile, kernel, memory, run, runnable, special_values};

fn cast(from: DType, to: DType, lanes: u32) -> kernel::Kernel {
    kernel(&format!(
        "kernel convert(n) lanes {lanes} {{
           symbols n, block, x
           blocks block in 0 .. 1
           read b0: {from} in
           write b1: {to} out
           for x in 0 .. n lanes {{
             v0: {from} = load b0[x]
             v1: {to} = cast v0
             store b1[x] = v1
           }}
         }}"
    ))
}

fn check_values(from: DType, to: DType, lanes: u32, target: CpuTarget, values: &[Scalar]) {
    let buffers = [memory(from, values), DenseMemory::zeros(to, values.len())];
    let kernel = cast(from, to, lanes);
    check(&kernel, &compile(&kernel, target), &[values.len() as i64], &buffers, 0.0);
}

#[test]
fn every_pair_of_dtypes() {
    for target in runnable() {
        for from in DType::REAL {
            for to in DType::REAL.into_iter().filter(|&to| to != from) {
                check_values(from, to, 16, target, &special_values(from));
                if target == CpuTarget::Host {
                    check_values(from, to, 1, target, &special_values(from));
                }
            }
        }
    }
}

/// Every half-precision value, the midpoints between them, and the neighbours of these.
fn around_half_values(half: DType, wide: DType) -> Vec<Scalar> {
    let mut values = Vec::new();
    for bits in 0..=0xffff_u64 {
        let (low, high) =
            (Scalar::from_bits(half, bits).as_f64(), Scalar::from_bits(half, bits + 1).as_f64());
        let middle = (low + high) / 2.0;
        let candidates = match wide {
            DType::F64 => [low, middle, middle.next_up(), middle.next_down()],
            _ => {
                let middle = middle as f32;
                [low, middle.into(), middle.next_up().into(), middle.next_down().into()]
            }
        };
        values.extend(candidates.map(|x| Scalar::from_f64(wide, x)));
    }
    values
}

#[test]
fn half_types_round_to_nearest_even_once() {
    for target in runnable() {
        for half in [DType::F16, DType::BF16] {
            for wide in [DType::F32, DType::F64] {
                // With 64 lanes a machine rounds in pieces if they exceed a vector.
                for lanes in [16, 64] {
                    check_values(wide, half, lanes, target, &around_half_values(half, wide));
                }
            }
        }
    }
}

/// Whole vectors and the remainder store the NaN of constants, whatever the sign and payload of the source.
#[test]
fn every_nan_becomes_one_wherever_it_lies() {
    const COUNT: usize = 72;
    let kernel = cast(DType::F32, DType::BF16, 32);
    for bits in [0xffc0_0000, 0x7fc1_2345, 0xff80_0001] {
        let nans = memory(DType::F32, &[Scalar::from_bits(DType::F32, bits); COUNT]);
        for target in runnable() {
            let mut buffers = [nans.clone(), DenseMemory::zeros(DType::BF16, COUNT)];
            run(&kernel, &compile(&kernel, target), &[COUNT as i64], &mut buffers);
            let stored = (0..COUNT).map(|index| buffers[1].read(index).bits());
            assert_eq!(stored.collect::<Vec<_>>(), [0x7fc0; COUNT], "{target:?} {bits:x}");
        }
    }
}

#[test]
fn every_half_widens_exactly() {
    for target in runnable() {
        for half in [DType::F16, DType::BF16] {
            let values: Vec<Scalar> = (0..=0xffff).map(|bits| Scalar::from_bits(half, bits)).collect();
            check_values(half, DType::F32, 16, target, &values);
        }
    }
}
