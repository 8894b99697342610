//! The float formats of one byte, and how the bits of a small float stand beside those of an f32.
//!
//! Takes bit patterns and f32, gives the other, rounding to nearest even. What torch's casts do is the reference: e4m3 has
//! no infinity, and what is too large for it becomes NaN; e5m2 overflows to infinity; e8m0 holds powers of two alone,
//! without sign or zero. Every NaN becomes the one that constants have, whatever its sign. Knows no arrays and no code.

/// A format with a sign, an exponent and a significand like IEEE's, by its difference to f32.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SmallFloat {
    /// Bits of the format, the sign counted.
    pub bits: u32,
    /// Bits of an f32's significand that it lacks.
    pub dropped: u32,
    /// The f32's exponent bias less its own.
    pub rebias: u32,
    /// The first magnitude that is no number.
    pub special: u32,
    /// The magnitude that what is too large becomes.
    pub overflow: u32,
    /// The pattern of the one NaN.
    pub nan: u32,
}

impl SmallFloat {
    /// IEEE half precision.
    pub const F16: SmallFloat =
        SmallFloat { bits: 16, dropped: 13, rebias: 112, special: 0x7c00, overflow: 0x7c00, nan: 0x7e00 };
    /// Four bits of exponent, three of significand; the one magnitude that is no number is NaN.
    pub const E4M3: SmallFloat =
        SmallFloat { bits: 8, dropped: 20, rebias: 120, special: 0x7f, overflow: 0x7f, nan: 0x7f };
    /// Five bits of exponent, two of significand: the upper byte of an f16.
    pub const E5M2: SmallFloat =
        SmallFloat { bits: 8, dropped: 21, rebias: 112, special: 0x7c, overflow: 0x7c, nan: 0x7f };

    /// All bits but the sign.
    #[inline(always)]
    pub const fn magnitude(&self) -> u32 {
        (1 << (self.bits - 1)) - 1
    }

    /// The bits of the f32 below which numbers are subnormal here.
    #[inline(always)]
    pub const fn min_normal(&self) -> u32 {
        (self.rebias + 1) << 23
    }

    /// The bits of the largest f32 that becomes a number or an infinity; above are what becomes NaN.
    #[inline(always)]
    pub const fn last_number(&self) -> u32 {
        match self.overflow == self.nan {
            // Halfway to what would be the next number, which rounds to the even one below.
            true => (self.rebias << 23) + ((self.special - 1) << self.dropped) + (1 << (self.dropped - 1)),
            false => 0x7f80_0000,
        }
    }

    /// The number whose sum with a subnormal has the subnormal's last bit as its own last bit.
    #[inline(always)]
    pub const fn aligner(&self) -> f32 {
        f32::from_bits((self.rebias + 1 + self.dropped) << 23)
    }

    /// The power of two by which exponent and significand, moved to their places in an f32, are too small.
    #[inline(always)]
    pub const fn scale(&self) -> f32 {
        f32::from_bits((127 + self.rebias) << 23)
    }

    /// The number of a pattern, exactly. Multiplying by a power of two makes subnormals normal. Nothing branches here and in
    /// [`SmallFloat::narrow`], so that vectors do both.
    #[inline(always)]
    pub fn widen(&self, pattern: u32) -> f32 {
        let magnitude = pattern & self.magnitude();
        let moved = f32::from_bits(magnitude << self.dropped);
        let special = f32::from_bits(moved.to_bits() | f32::INFINITY.to_bits());
        let wide = if magnitude >= self.special { special } else { moved * self.scale() };
        if pattern > self.magnitude() { -wide } else { wide }
    }

    /// The pattern of the nearest number, ties to even.
    #[inline(always)]
    pub fn narrow(&self, x: f32) -> u32 {
        let magnitude = x.abs().to_bits();
        let small = (x.abs() + self.aligner()).to_bits().wrapping_sub(self.aligner().to_bits());
        let normal = round_off(magnitude.wrapping_sub(self.rebias << 23), self.dropped).min(self.overflow);
        let rounded = if magnitude < self.min_normal() { small } else { normal };
        let sign = u32::from(x.is_sign_negative()) << (self.bits - 1);
        if magnitude > self.last_number() { self.nan } else { sign | rounded }
    }
}

/// Drops bits, rounding to nearest even: adding just under half a unit and the last bit that stays carries where it must.
#[inline(always)]
fn round_off(bits: u32, dropped: u32) -> u32 {
    bits.wrapping_add(((1 << (dropped - 1)) - 1) + (bits >> dropped & 1)) >> dropped
}

/// The number of an e8m0 pattern: 2 to the pattern less 127, NaN for 255.
#[inline(always)]
pub fn widen_e8m0(pattern: u8) -> f32 {
    // 2^-127 is subnormal in an f32.
    let bits = if pattern == 0 { 0x0040_0000 } else { u32::from(pattern) << 23 };
    f32::from_bits(if pattern == 0xff { f32::NAN.to_bits() } else { bits })
}

/// The e8m0 pattern of the power of two nearest to the magnitude, halfway the greater one; infinities are NaN.
///
/// As in torch zero is 2^-127, and what lies between that and 2^-126 becomes 2^-126.
#[inline(always)]
pub fn narrow_e8m0(x: f32) -> u8 {
    let bits = x.to_bits();
    let (exponent, significand) = ((bits >> 23) as u8, bits & 0x007f_ffff);
    let half = 0x0040_0000 + u32::from(exponent == 0);
    if exponent == 0xff { 0xff } else { exponent.wrapping_add(u8::from(significand >= half)) }
}

/// The double as a float, rounded to odd: rounding that to a small format is one correct rounding of the double
/// (Boldo and Melquiond 2008), where rounding to nearest twice may err.
#[inline(always)]
pub fn to_odd(x: f64) -> f32 {
    let near = x as f32;
    let away = u32::from(f64::from(near).abs() > x.abs());
    let odd = near.to_bits().wrapping_sub(away) | 1;
    let is_near = (f64::from(near) == x) | x.is_nan();
    f32::from_bits(if is_near { near.to_bits() } else { odd })
}

/// An element of one byte with its conversions.
macro_rules! byte_float {
    ($(#[$doc:meta])* $name:ident, $widen:expr, $narrow:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        #[repr(transparent)]
        pub struct $name(pub u8);

        impl $name {
            /// The number, exactly.
            #[inline(always)]
            pub fn to_f32(self) -> f32 {
                let widen: fn(u8) -> f32 = $widen;
                widen(self.0)
            }

            /// The nearest number, ties to even.
            #[inline(always)]
            pub fn from_f32(x: f32) -> Self {
                let narrow: fn(f32) -> u8 = $narrow;
                Self(narrow(x))
            }
        }
    };
}

byte_float! {
    /// A number of [`DType::F8E4M3`], by its bits.
    E4m3, |bits| SmallFloat::E4M3.widen(bits.into()), |x| SmallFloat::E4M3.narrow(x) as u8
}
byte_float! {
    /// A number of [`DType::F8E5M2`], by its bits.
    E5m2, |bits| SmallFloat::E5M2.widen(bits.into()), |x| SmallFloat::E5M2.narrow(x) as u8
}
byte_float! {
    /// A number of [`DType::F8E8M0`], by its bits.
    E8m0, widen_e8m0, narrow_e8m0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_comes_back() {
        for bits in 0..=u8::MAX {
            let (a, b, c) = (E4m3(bits), E5m2(bits), E8m0(bits));
            assert!(E4m3::from_f32(a.to_f32()) == a || a.to_f32().is_nan());
            assert!(E5m2::from_f32(b.to_f32()) == b || b.to_f32().is_nan());
            assert_eq!(E8m0::from_f32(c.to_f32()), c);
            let upper = half::f16::from_bits(u16::from(bits) << 8).to_f32();
            assert!(b.to_f32().to_bits() == upper.to_bits() || upper.is_nan() && b.to_f32().is_nan());
        }
        for bits in 0..=u16::MAX {
            let (ours, theirs) = (SmallFloat::F16.widen(bits.into()), half::f16::from_bits(bits).to_f32());
            assert!(ours.to_bits() == theirs.to_bits() || theirs.is_nan());
        }
    }

    #[test]
    fn midpoints_go_to_even_and_their_neighbours_do_not() {
        for format in [SmallFloat::E4M3, SmallFloat::E5M2, SmallFloat::F16] {
            for low in 0..format.special - 1 {
                let middle = (format.widen(low) + format.widen(low + 1)) / 2.0;
                assert_eq!(format.narrow(middle), low + low % 2);
                assert_eq!(format.narrow(middle.next_up()), low + 1);
                assert_eq!(format.narrow(middle.next_down()), low);
            }
        }
    }

    #[test]
    fn numbers_that_torch_documents() {
        assert_eq!(E4m3(0x7e).to_f32(), 448.0);
        assert_eq!(E4m3(0x01).to_f32(), 2.0_f32.powi(-9));
        assert_eq!(E4m3::from_f32(464.0).to_f32(), 448.0);
        assert!(E4m3::from_f32(465.0).to_f32().is_nan() && E4m3::from_f32(f32::NEG_INFINITY).0 == 0x7f);
        assert_eq!(E5m2(0x7b).to_f32(), 57344.0);
        assert_eq!(E5m2::from_f32(-61440.0).to_f32(), f32::NEG_INFINITY);
        assert_eq!(E5m2::from_f32(61439.0).to_f32(), 57344.0);
        assert_eq!(E5m2::from_f32(f32::NAN).0, 0x7f);
        assert_eq!(E8m0::from_f32(3.0).to_f32(), 4.0);
        assert_eq!(E8m0::from_f32(-2.9).to_f32(), 2.0);
        assert_eq!(E8m0::from_f32(0.0).to_f32(), 2.0_f32.powi(-127));
        assert_eq!(E8m0::from_f32(f32::MAX).0, 0xff);
    }
}
