//! Layers of the emitter: a type that writes code owns the one below it and derefs to it, as rustc's `Builder` derefs to its
//! contexts. All are parts of one thing, so upper layers offer what the lower ones can do.

/// Makes a layer deref to the one below.
macro_rules! layer {
    ($Upper:ident, $below:ident: $Lower:ident) => {
        impl<'k> std::ops::Deref for $Upper<'k> {
            type Target = $Lower<'k>;

            fn deref(&self) -> &$Lower<'k> {
                &self.$below
            }
        }

        impl<'k> std::ops::DerefMut for $Upper<'k> {
            fn deref_mut(&mut self) -> &mut $Lower<'k> {
                &mut self.$below
            }
        }
    };
}

pub(super) use layer;
