//! Functions that compiled kernels call: names in, addresses out.
//!
//! The elementary functions are those of the `libm` crate, so that results do not depend on the machine's C library. There
//! are also those that LLVM's code generator calls by itself: memory functions everywhere, rounding functions and `fmodf` if
//! the instruction set lacks them.

use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::sync::LazyLock;

use ops::{IntType, greatest_common_divisor, integer_power};

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

/// All functions that kernels may call, by name: the addresses as numbers.
static ADDRESSES: LazyLock<HashMap<&str, usize>> = LazyLock::new(|| {
    let tables: [&[Entry]; 6] = [
        &unary!(f32: ceilf cosf floorf rintf roundevenf sinf sqrtf tanf truncf),
        &unary!(f64: ceil cos floor rint roundeven sin sqrt tan trunc),
        &binary!(f32: fmodf),
        &binary!(f64: fmod),
        &integers(),
        &memory(),
    ];
    tables.into_iter().flatten().map(|&(name, address)| (name, address.expose_provenance())).collect()
});

/// The address of a function that kernels may call; `None` for an unknown name.
pub fn address(name: &str) -> Option<*const u8> {
    ADDRESSES.get(name).map(|&address| std::ptr::with_exposed_provenance(address))
}

/// Functions of two integers, by their meaning in the op table; those of u64 by its bits.
fn integers() -> [Entry; 6] {
    macro_rules! by_type {
        ($function:path: $narrow:ident $wide:ident $unsigned:ident) => {{
            extern "C" fn $narrow(a: i32, b: i32) -> i32 {
                $function(a.into(), b.into(), IntType::I32) as i32
            }
            extern "C" fn $wide(a: i64, b: i64) -> i64 {
                $function(a, b, IntType::I64)
            }
            extern "C" fn $unsigned(a: i64, b: i64) -> i64 {
                $function(a, b, IntType::U64)
            }
            [
                (stringify!($narrow), $narrow as *const u8),
                (stringify!($wide), $wide as *const u8),
                (stringify!($unsigned), $unsigned as *const u8),
            ]
        }};
    }
    let [a, b, c] = by_type!(integer_power: integer_power_i32 integer_power_i64 integer_power_u64);
    let [d, e, f] = by_type!(greatest_common_divisor: gcd_i32 gcd_i64 gcd_u64);
    [a, b, c, d, e, f]
}

/// The functions that LLVM calls for long copies and fills.
fn memory() -> [Entry; 3] {
    let copy: unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> *mut c_void = libc::memcpy;
    let shift: unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> *mut c_void = libc::memmove;
    let fill: unsafe extern "C" fn(*mut c_void, c_int, usize) -> *mut c_void = libc::memset;
    [("memcpy", copy as *const u8), ("memmove", shift as *const u8), ("memset", fill as *const u8)]
}
