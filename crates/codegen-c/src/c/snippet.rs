//! The types and functions that a kernel's text calls and C lacks, by their purpose. Each dialect has their texts.

use ops::DType;

/// Makes [`Snippet`] and the list of all.
macro_rules! snippets {
    ($($(#[$doc:meta])* $variant:ident,)+) => {
        /// A type or function of the prelude, in the order of printing.
        #[allow(missing_docs)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Snippet {
            $($(#[$doc])* $variant,)+
        }

        impl Snippet {
            /// All of them.
            pub const ALL: &'static [Snippet] = &[$(Snippet::$variant,)+];
        }
    };
}

snippets! {
    /// The type of the bits of a bf16; the name is that of the dtype, here and below.
    Bf16,
    /// Of an f16.
    F16,
    /// Of an f8e4m3.
    F8E4M3,
    /// Of an f8e5m2.
    F8E5M2,
    /// Of an f8e8m0.
    F8E8M0,
    /// The type of vectors.
    Vec,
    /// Has a variable in whole words.
    Hold,
    /// Begins to copy neighbours to scratch.
    Fetch,
    /// Waits for such copies.
    AwaitFetches,
    /// From a storage type to f32, here and below.
    Bf16ToF32,
    /// From f32 to a storage type, here and below: to nearest, ties to even.
    F32ToBf16,
    F16ToF32,
    F32ToF16,
    F8E4M3ToF32,
    F32ToF8E4M3,
    F8E5M2ToF32,
    F32ToF8E5M2,
    F8E8M0ToF32,
    F32ToF8E8M0,
    /// To odd where inexact, so that the result rounds to a storage type as the double does.
    F64ToF32Odd,
    /// Truncated and saturated, NaN to 0, here and below.
    F32ToI32,
    F32ToI64,
    F32ToU64,
    F64ToI32,
    F64ToI64,
    F64ToU64,
    /// What blocks of a cluster do together.
    Cluster,
    /// Reads the state of another lane of the warp.
    Partner,
    /// Combines the states of all lanes, of any type.
    OverBlock,
    /// The same over the lanes of a cluster.
    OverCluster,
    /// The quotient of two indices, rounded down.
    FloorDiv,
    /// The remainder of that.
    FloorMod,
    /// The quotient and remainder if the first index is from 0 to 2^32 - 1.
    SmallFloorDiv,
    SmallFloorMod,
}

/// A snippet in a dialect.
#[derive(Debug)]
pub struct Helper {
    /// The word that a kernel's text uses.
    pub name: &'static str,
    /// What must stand before it.
    pub needs: &'static [Snippet],
    /// The definition; empty for what the dialect has.
    pub text: &'static str,
}

impl Snippet {
    /// The name of a storage type.
    pub fn type_of(dtype: DType) -> Option<Snippet> {
        match dtype {
            DType::BF16 => Some(Snippet::Bf16),
            DType::F16 => Some(Snippet::F16),
            DType::F8E4M3 => Some(Snippet::F8E4M3),
            DType::F8E5M2 => Some(Snippet::F8E5M2),
            DType::F8E8M0 => Some(Snippet::F8E8M0),
            _ => None,
        }
    }

    /// The function from a storage type to f32.
    pub fn widening(from: DType) -> Snippet {
        match from {
            DType::F8E8M0 => Snippet::F8E8M0ToF32,
            DType::F8E4M3 => Snippet::F8E4M3ToF32,
            DType::F8E5M2 => Snippet::F8E5M2ToF32,
            DType::F16 => Snippet::F16ToF32,
            _ => Snippet::Bf16ToF32,
        }
    }

    /// The function from f32 to a storage type.
    pub fn narrowing(to: DType) -> Snippet {
        match to {
            DType::F8E8M0 => Snippet::F32ToF8E8M0,
            DType::F8E4M3 => Snippet::F32ToF8E4M3,
            DType::F8E5M2 => Snippet::F32ToF8E5M2,
            DType::F16 => Snippet::F32ToF16,
            _ => Snippet::F32ToBf16,
        }
    }

    /// The function from a float to an integer; `None` for other pairs.
    pub fn truncating(from: DType, to: DType) -> Option<Snippet> {
        match (from, to) {
            (DType::F32, DType::I32) => Some(Snippet::F32ToI32),
            (DType::F32, DType::I64) => Some(Snippet::F32ToI64),
            (DType::F32, DType::U64) => Some(Snippet::F32ToU64),
            (DType::F64, DType::I32) => Some(Snippet::F64ToI32),
            (DType::F64, DType::I64) => Some(Snippet::F64ToI64),
            (DType::F64, DType::U64) => Some(Snippet::F64ToU64),
            _ => None,
        }
    }
}
