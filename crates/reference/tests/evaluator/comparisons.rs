//! A comparison is divided into pieces, and finds the same whatever runs them in whatever order.

use std::sync::atomic::{AtomicUsize, Ordering};

use ferrofuse_reference::evaluate::{Bound, Comparison, ParallelFor, Serial, compare};
use ir::array::Complex;

use super::*;

/// Elements of a piece of work.
const GRAIN: usize = 64 * 512;
const COUNT: usize = 5 * GRAIN + 77;

/// Runs the last piece first, and counts the pieces.
#[derive(Debug, Default)]
struct Backward(AtomicUsize);

impl ParallelFor for Backward {
    fn run(&self, pieces: usize, body: &(dyn Fn(usize) + Sync)) {
        self.0.fetch_add(pieces, Ordering::Relaxed);
        (0..pieces).rev().for_each(body);
    }
}

/// The result, which must be the same for all.
fn found(expected: Array, actual: &Array) -> Comparison {
    let (expected, backward) = (Evaluated { value: expected, bound: None }, Backward::default());
    let compared =
        |workers: &dyn ParallelFor| compare(&expected, &actual.view(), workers).expect("one dtype and sizes");
    let alone = compared(&Serial);
    assert_eq!(compared(&backward), alone);
    let parts = if actual.dtype().is_complex() { 2 } else { 1 };
    assert_eq!(backward.0.into_inner(), (parts * COUNT).div_ceil(GRAIN));
    for threads in [1, 2, 3, 8] {
        assert_eq!(compared(&Threads(threads)), alone, "{threads} threads");
    }
    alone
}

#[test]
fn the_first_of_equal_ratios_is_found_by_any_threads() {
    let zeros = || array(&[COUNT], &vec![0_i64; COUNT]);
    let mut actual = zeros();
    assert!(found(zeros(), &actual).matches());
    let places = [GRAIN - 1, GRAIN, 2 * GRAIN + 3, COUNT - 1];
    for place in places {
        actual.as_mut_slice::<i64>()[place] = 1;
    }
    let comparison = found(zeros(), &actual);
    assert_eq!((comparison.at, comparison.mismatches), (vec![places[0]], places.len()));
    assert_eq!(comparison.worst_ratio, f64::INFINITY);
}

#[test]
fn the_largest_ratio_is_found_in_any_piece() {
    for place in [0, GRAIN, 3 * GRAIN - 1, COUNT - 1] {
        let mut actual = array(&[COUNT], &vec![1.0_f32; COUNT]);
        actual.as_mut_slice::<f32>()[COUNT / 2] += 2.0 * f32::EPSILON;
        actual.as_mut_slice::<f32>()[place] += 5.0 * f32::EPSILON;
        let comparison = found(array(&[COUNT], &vec![1.0_f32; COUNT]), &actual);
        assert_eq!((comparison.worst_ratio, comparison.mismatches), (5.0, 2));
        assert_eq!((comparison.at, comparison.got), (vec![place], Some(actual.view().scalar(place))));
    }
}

#[test]
fn of_equal_parts_the_first_element_is_found() {
    let ones = || vec![Complex { re: 1.0_f32, im: 1.0 }; COUNT];
    let mut actual = ones();
    actual[4 * GRAIN].re += 4.0 * f32::EPSILON;
    actual[GRAIN].im += 4.0 * f32::EPSILON;
    let comparison = found(array(&[COUNT], &ones()), &array(&[COUNT], &actual));
    assert_eq!((comparison.worst_ratio, comparison.mismatches), (4.0, 2));
    assert_eq!(comparison.at, [GRAIN]);
}

#[test]
fn a_bound_that_is_no_distance_lets_nothing_pass() {
    let compared = |bound: f32, actual: f32| {
        let bound = Bound::new(array(&[3], &[f32::INFINITY, bound, 0.0])).expect("bounds of f32");
        let expected = Evaluated { value: array(&[3], &[f32::NAN, 1.0, 2.0]), bound: Some(bound) };
        let comparison = compare(&expected, &array(&[3], &[7.0, actual, 2.0]).view(), &Serial);
        comparison.expect("one dtype and sizes")
    };
    for wrong in [f32::NAN, -1.0] {
        let comparison = compared(wrong, 5.0);
        assert!(!comparison.matches(), "a bound of {wrong}");
        assert_eq!((comparison.at, comparison.mismatches), (vec![1], 1));
        assert!(compared(wrong, 1.0).matches());
    }
    assert!(compared(4.0, 5.0).matches());
}
