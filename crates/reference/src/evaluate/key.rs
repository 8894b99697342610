//! Keys: integers in the order of the numbers that they represent, NaN above all, zeros of both signs equal.

/// The bits of doubles are ordered except for the sign; both zeros become the positive one.
#[inline(always)]
pub(super) fn key(x: f64) -> i64 {
    let bits = (x + 0.0).to_bits() as i64;
    let ordered = if bits < 0 { bits ^ i64::MAX } else { bits };
    if x.is_nan() { i64::MAX } else { ordered }
}

/// The double with a key.
#[inline(always)]
pub(super) fn number(key: i64) -> f64 {
    f64::from_bits((if key < 0 { key ^ i64::MAX } else { key }) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_in_the_order_of_their_numbers() {
        let ordered = [f64::NEG_INFINITY, -1.5, -5e-324, 0.0, 5e-324, 1.5, f64::INFINITY, f64::NAN];
        assert!(ordered.windows(2).all(|pair| key(pair[0]) < key(pair[1])));
        assert_eq!(key(-0.0), key(0.0));
        assert_eq!(key(-f64::NAN), key(f64::NAN));
        assert!(ordered[..7].iter().all(|&x| number(key(x)) == x));
    }
}
