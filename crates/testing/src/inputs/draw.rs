//! Elements drawn from a distribution by a counter-based generator: element `i` of input `k` depends only on the seed, `k`
//! and `i`, so any number of threads draws the same.

use std::f64::consts::{FRAC_1_SQRT_2, TAU};
use std::thread;

use frontend::text::Distribution;
use ir::array::{Array, ArrayError, Complex, Element, with_element};
use ops::{DType, Scalar};

/// The minimum number of elements of a thread; starting a thread is not worth fewer.
const GRAIN: usize = 1 << 16;

/// A stream of random 64-bit numbers by index: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), whose state after `i` steps is
/// a multiple of `i`.
#[derive(Clone, Copy)]
struct Stream(u64);

impl Stream {
    /// The stream of one input.
    fn new(seed: u64, input: usize) -> Stream {
        Stream(Stream(seed).at(0).wrapping_add(Stream(input as u64).at(1)))
    }

    fn at(self, place: u64) -> u64 {
        let mut z = self.0.wrapping_add(place.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in `0..1`, by the upper 53 bits.
    fn uniform(self, place: u64) -> f64 {
        (self.at(place) >> 11) as f64 * 2_f64.powi(-53)
    }

    /// Normal, mean 0 and deviation 1: two neighbours share radius and angle of the method of Box and Muller (1958).
    fn normal(self, place: u64) -> f64 {
        let bits = self.at(place / 2);
        let open = ((bits >> 32) as f64 + 0.5) * 2_f64.powi(-32);
        let radius = libm::sqrt(-2.0 * libm::log(open));
        let angle = TAU * (bits as u32 as f64) * 2_f64.powi(-32);
        radius * if place.is_multiple_of(2) { libm::cos(angle) } else { libm::sin(angle) }
    }

    /// A whole number below `span`, by the upper half of a product (Lemire, 2019, without his last correction: the bias is
    /// below `span` over 2^64).
    fn below(self, place: u64, span: u64) -> u64 {
        ((u128::from(self.at(place)) * u128::from(span)) >> 64) as u64
    }
}

/// A dense array of drawn elements. Numbers are rounded to the dtype as a cast rounds them.
///
/// # Errors
/// When there is no memory for it.
pub fn draw(
    dtype: DType,
    elements: usize,
    distribution: Distribution,
    (seed, input): (u64, usize),
) -> Result<Array, ArrayError> {
    if let Distribution::Constant(value) = distribution {
        return Array::full(Scalar::from_f64(dtype, value), &[elements]);
    }
    let mut array = Array::zeros(dtype, &[elements])?;
    let stream = Stream::new(seed, input);
    match dtype {
        DType::C64 => fill_complex::<f32>(&mut array, distribution, stream),
        DType::C128 => fill_complex::<f64>(&mut array, distribution, stream),
        _ => with_element!(dtype, T => fill::<T>(&mut array, distribution, stream)),
    }
    Ok(array)
}

/// Both parts drawn; they share the deviation of normal numbers as in torch; ranges are real.
fn fill_complex<T: Element>(array: &mut Array, distribution: Distribution, stream: Stream)
where
    Complex<T>: Element,
{
    let part = |i: u64| match distribution {
        Distribution::Normal => FRAC_1_SQRT_2 * stream.normal(i),
        Distribution::Uniform(low, high) => low + (high - low) * stream.uniform(i),
        Distribution::Integers(low, high) => {
            low.wrapping_add(stream.below(i, high.wrapping_sub(low) as u64) as i64) as f64
        }
        Distribution::Range(start, step) if i.is_multiple_of(2) => start + step * (i / 2) as f64,
        Distribution::Constant(value) if i.is_multiple_of(2) => value,
        Distribution::Range(..) | Distribution::Constant(_) => 0.0,
    };
    let number = |i| Complex { re: T::from_real(part(2 * i)), im: T::from_real(part(2 * i + 1)) };
    in_parallel(array.as_mut_slice::<Complex<T>>(), number);
}

fn fill<T: Element>(array: &mut Array, distribution: Distribution, stream: Stream) {
    let out = array.as_mut_slice::<T>();
    match distribution {
        Distribution::Normal => in_parallel(out, |i| T::from_real(stream.normal(i))),
        Distribution::Uniform(low, high) => {
            in_parallel(out, |i| T::from_real(low + (high - low) * stream.uniform(i)));
        }
        Distribution::Integers(low, high) => {
            let span = high.wrapping_sub(low) as u64;
            in_parallel(out, |i| T::from_int(low.wrapping_add(stream.below(i, span) as i64)));
        }
        Distribution::Range(start, step) => in_parallel(out, |i| T::from_real(start + step * i as f64)),
        Distribution::Constant(value) => in_parallel(out, |_| T::from_real(value)),
    }
}

/// Sets every element to its value; each thread has a separate range.
fn in_parallel<T: Send>(out: &mut [T], value: impl Fn(u64) -> T + Sync) {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let stretch = out.len().div_ceil(threads).max(GRAIN);
    let set = |first: usize, part: &mut [T]| {
        part.iter_mut().zip(first as u64..).for_each(|(slot, place)| *slot = value(place));
    };
    thread::scope(|scope| {
        let mut parts = out.chunks_mut(stretch).enumerate();
        let own = parts.next();
        for (number, part) in parts {
            let set = &set;
            scope.spawn(move || set(number * stretch, part));
        }
        own.into_iter().for_each(|(_, part)| set(0, part));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(distribution: Distribution, elements: usize) -> Vec<f64> {
        draw(DType::F64, elements, distribution, (7, 0)).unwrap().as_slice::<f64>().to_vec()
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    #[test]
    fn moments_are_those_of_the_distribution() {
        let normal = drawn(Distribution::Normal, 200_000);
        let squares: Vec<f64> = normal.iter().map(|x| x * x).collect();
        assert!(mean(&normal).abs() < 0.01 && (mean(&squares) - 1.0).abs() < 0.02);
        let neighbours: Vec<f64> = normal.windows(2).map(|pair| pair[0] * pair[1]).collect();
        assert!(mean(&neighbours).abs() < 0.01);
        let uniform = drawn(Distribution::Uniform(-1.0, 3.0), 100_000);
        assert!((mean(&uniform) - 1.0).abs() < 0.02 && uniform.iter().all(|x| (-1.0..3.0).contains(x)));
        let whole = drawn(Distribution::Integers(-2, 5), 10_000);
        assert!(
            (-2..5).all(|n| whole.contains(&f64::from(n))) && whole.iter().all(|x| (-2.0..5.0).contains(x))
        );
        assert_eq!(drawn(Distribution::Range(1.0, 0.5), 3), [1.0, 1.5, 2.0]);
        assert_eq!(drawn(Distribution::Constant(4.0), 2), [4.0, 4.0]);
    }

    #[test]
    fn an_element_depends_on_seed_input_and_place_alone() {
        let draw = |elements, key| {
            draw(DType::I64, elements, Distribution::Integers(0, i64::MAX), key)
                .unwrap()
                .as_slice::<i64>()
                .to_vec()
        };
        let (long, short) = (draw(3 * GRAIN + 5, (1, 0)), draw(100, (1, 0)));
        assert_eq!(long[..100], short);
        assert_ne!(short, draw(100, (2, 0)));
        assert_ne!(short, draw(100, (1, 1)));
        assert_ne!(draw(100, (1, 0)), draw(100, (0, 1)));
    }

    #[test]
    fn every_dtype_can_be_drawn() {
        for dtype in DType::ALL {
            let array = draw(dtype, 1000, Distribution::Integers(0, 2), (0, 0)).unwrap();
            // e8m0 stores another power of two for zero.
            let ones = array.scalars().iter().filter(|scalar| scalar.as_f64() == 1.0).count();
            assert!((400..600).contains(&ones), "{dtype}: {ones}");
        }
    }
}
