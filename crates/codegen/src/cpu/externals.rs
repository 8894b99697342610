//! Functions that compiled kernels call: names in, addresses out.
//!
//! The elementary functions are those of the `libm` crate, so that results do not depend on the machine's C library.
//! Besides them stand what LLVM's code generator calls by itself: memory functions everywhere, rounding functions and
//! `fmodf` where the instruction set lacks them.

use std::ffi::{c_int, c_void};

use ir::ops::{IntType, integer_power};

/// One function: its name as an object file spells it, and its address.
type Entry = (&'static str, *const u8);

/// Functions of `libm` of one operand for C callers, each under its own name.
macro_rules! unary {
    ($float:ty: $($function:ident)+) => {
        [$({
            extern "C" fn $function(x: $float) -> $float {
                libm::$function(x)
            }
            (stringify!($function), $function as extern "C" fn($float) -> $float as *const u8)
        }),+]
    };
}

/// The same of two operands.
macro_rules! binary {
    ($float:ty: $($function:ident)+) => {
        [$({
            extern "C" fn $function(x: $float, y: $float) -> $float {
                libm::$function(x, y)
            }
            (stringify!($function), $function as extern "C" fn($float, $float) -> $float as *const u8)
        }),+]
    };
}

/// The address of a function that kernels may call; `None` for a name that is none of ours.
pub fn address(name: &str) -> Option<*const u8> {
    let tables: [&[Entry]; 6] = [
        &unary!(f32: acosf asinf atanf ceilf cosf erff erfcf expf exp2f expm1f floorf logf log1pf log2f rintf roundevenf
            sinf sqrtf tanhf truncf),
        &unary!(f64: acos asin atan ceil cos erf erfc exp exp2 expm1 floor log log1p log2 rint roundeven
            sin sqrt tanh trunc),
        &binary!(f32: atan2f fmodf powf),
        &binary!(f64: atan2 fmod pow),
        &integers(),
        &memory(),
    ];
    tables.into_iter().flatten().find(|(known, _)| *known == name).map(|&(_, address)| address)
}

/// Functions of integers, by their meaning in the op table.
fn integers() -> [Entry; 3] {
    extern "C" fn narrow(base: i32, exponent: i32) -> i32 {
        integer_power(base.into(), exponent.into(), IntType::I32) as i32
    }
    extern "C" fn wide(base: i64, exponent: i64) -> i64 {
        integer_power(base, exponent, IntType::I64)
    }
    extern "C" fn unsigned(base: i64, exponent: i64) -> i64 {
        integer_power(base, exponent, IntType::U64)
    }
    [
        ("integer_power_i32", narrow as *const u8),
        ("integer_power_i64", wide as *const u8),
        ("integer_power_u64", unsigned as *const u8),
    ]
}

/// What LLVM makes of long copies and fills.
fn memory() -> [Entry; 3] {
    let copy: unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> *mut c_void = libc::memcpy;
    let shift: unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> *mut c_void = libc::memmove;
    let fill: unsafe extern "C" fn(*mut c_void, c_int, usize) -> *mut c_void = libc::memset;
    [("memcpy", copy as *const u8), ("memmove", shift as *const u8), ("memset", fill as *const u8)]
}

#[cfg(test)]
mod tests {
    use ir::ops::{CpuSpelling, Prim};

    use super::*;

    #[test]
    fn what_the_rows_call_is_here() {
        for prim in Prim::ALL {
            let row = prim.row();
            for spelling in [row.cpu.float, row.cpu.int, row.cpu.unsigned].into_iter().flatten() {
                if let CpuSpelling::Call { narrow, wide } = spelling {
                    assert!(address(narrow).is_some() && address(wide).is_some(), "{}", prim.name());
                }
            }
        }
        assert_eq!(address("system"), None);
    }
}
