//! Functions in blocks: vectorized for ordinary operands, one by one for all others.
//!
//! A function comes in two forms: one without branches, always inlined, which vectorizes and gives NaN if its operands are
//! not ordinary, and the exact one. If both give a number, it has the same bits.

/// Of each pair of numbers of two slices into a third one: `ordinary!(f, g; x, y => out)` for the form without branches and
/// the exact one. The former is a named function, always inlined, as [`crate::lanes::wide`] requires.
macro_rules! ordinary {
    ($ordinary:expr, $exact:expr; $x:expr, $y:expr => $out:expr) => {{
        let (xs, ys, results): (&[f64], &[f64], &mut [f64]) = ($x, $y, $out);
        let all = $crate::vectorized!(
            xs: &'a [f64] = xs, ys: &'a [f64] = ys, results: &'a mut [f64] = results => bool, {
                let one: fn(f64, f64) -> f64 = $ordinary;
                let mut all = true;
                for (result, (&x, &y)) in results.iter_mut().zip(xs.iter().zip(ys)) {
                    let value = one(x, y);
                    *result = value;
                    all &= !value.is_nan();
                }
                all
            }
        );
        if !all {
            let exact: fn(f64, f64) -> f64 = $exact;
            let places = results.iter_mut().zip(xs.iter().zip(ys));
            places.filter(|(result, _)| result.is_nan()).for_each(|(result, (&x, &y))| *result = exact(x, y));
        }
    }};
}
pub(crate) use ordinary;

#[cfg(test)]
pub(crate) mod tests {
    /// Numbers without pattern (Weyl's sequence), of all sizes and about 1.
    pub(crate) fn drawn(count: u64) -> Vec<f64> {
        let next = |k: u64| k.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17).wrapping_mul(k | 1);
        let near = |k: u64| (next(k) >> 11) as f64 / (1_u64 << 50) as f64 - 4.0;
        (1..=count)
            .map(|k| match k % 4 {
                0 => f64::from_bits(next(k)),
                1 => near(k).exp(),
                2 => near(k),
                _ => (near(k) * 20.0).trunc() / 2.0,
            })
            .collect()
    }

    /// Whether two numbers have the same bits, or are both NaN.
    pub(crate) fn is_same(a: f64, b: f64) -> bool {
        a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
    }
}
