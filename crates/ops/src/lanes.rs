//! Code compiled for the machine's vectors.
//!
//! The arithmetic is as written, in that order, for any vectors: products and sums are not contracted. So results have the
//! same bits on every machine.

pub use pulp::NullaryFnOnce;

/// Runs a body with the widest available vectors. Functions that it calls must be inlined to gain by it, so they must be
/// named inside: a captured function is a pointer. Numbers should be moved in: those behind a reference may alias what is
/// written. A body of more than a few lines is a type with `call` always inlined: the compiler may leave a closure outside,
/// where there are no wide vectors; [`vectorized`] makes one.
#[inline]
pub fn wide<F: NullaryFnOnce>(body: F) -> F::Output {
    pulp::Arch::new().dispatch(body)
}

/// A body over slices with names, types and values, which is always inlined where vectors are wide:
/// `vectorized!(out: &'a mut [f64] = out, x: &'a [f64] = x => (), { … })`.
#[macro_export]
macro_rules! vectorized {
    ($($name:ident: $type:ty = $value:expr),+ => $output:ty, $body:block) => {{
        struct Body<'a> {
            $($name: $type),+
        }
        impl $crate::lanes::NullaryFnOnce for Body<'_> {
            type Output = $output;

            #[inline(always)]
            fn call(self) -> $output {
                let Body { $($name),+ } = self;
                $body
            }
        }
        $crate::lanes::wide(Body { $($name: $value),+ })
    }};
}
