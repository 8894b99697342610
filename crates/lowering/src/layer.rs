//! Layers of lowering: a type that emits code owns the one below it and derefs to it, as rustc's `Builder` derefs to its
//! contexts. All are parts of one thing, so upper layers offer what the lower ones can do.

/// Makes a layer deref to the one below, and to the loops in which all of them emit code.
macro_rules! layer {
    ($Upper:ident, $below:ident: $Lower:ident) => {
        impl $Upper<'_> {
            /// The finished kernel.
            pub fn finish(self) -> $crate::Lowered {
                self.$below.finish()
            }
        }

        impl<'a> std::ops::Deref for $Upper<'a> {
            type Target = $Lower<'a>;

            fn deref(&self) -> &$Lower<'a> {
                &self.$below
            }
        }

        impl<'a> std::ops::DerefMut for $Upper<'a> {
            fn deref_mut(&mut self) -> &mut $Lower<'a> {
                &mut self.$below
            }
        }

        impl<'a> AsMut<$crate::loops::LoopEmitter<'a>> for $Upper<'a> {
            fn as_mut(&mut self) -> &mut $crate::loops::LoopEmitter<'a> {
                self.$below.as_mut()
            }
        }
    };
}

pub(crate) use layer;
