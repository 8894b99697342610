//! Code compiled for the vectors that the machine has.
//!
//! The arithmetic is that of the text, in its order, whatever the vectors: products and sums are not contracted. So results
//! have the same bits on every machine.

pub use pulp::NullaryFnOnce;

/// Does something with the widest vectors that there are. What is called from inside must be inlined to gain by it, so it
/// must be named inside: a function that the body brings along is a pointer to it. Numbers are to be moved in: behind a
/// reference they may change with what is written. A body of more than a few lines is a type with `call` always inlined:
/// the compiler may leave a closure outside, where there are no wide vectors; [`vectorized`] makes one.
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
