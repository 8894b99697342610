//! Code from LLVM is loaded and called: relocations of each kind, rejections, damage, and no growth.

use super::*;
use crate::{CpuTarget, Llvm, LlvmOptions, Output};

fn object(ir: &str) -> Vec<u8> {
    let llvm = Llvm::open(&LlvmOptions::default()).expect("the tests need libLLVM: make setup");
    llvm.compile(ir, &llvm.spec(CpuTarget::Host), Output::Object).expect("compiles").bytes
}

fn nothing(_: &str) -> Option<*const u8> {
    None
}

fn load(ir: &str) -> Code {
    Code::load(&object(ir), &nothing).expect("loads")
}

/// The function `name` of `code`, as a function pointer of type `F`.
fn function<F: Copy>(code: &Code, name: &str) -> F {
    let address = code.symbol(name).expect("defined");
    assert_eq!(size_of::<F>(), size_of_val(&address));
    // SAFETY: the tests ask for the type that the IR defines the function with.
    unsafe { std::mem::transmute_copy(&address) }
}

const AXPY: &str = "
define void @axpy(ptr %x, ptr %y, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
  %px = getelementptr float, ptr %x, i64 %i
  %py = getelementptr float, ptr %y, i64 %i
  %vx = load <4 x float>, ptr %px, align 4
  %vy = load <4 x float>, ptr %py, align 4
  %p = fmul <4 x float> %vx, <float 2.0, float 3.0, float 4.0, float 5.0>
  %s = fadd <4 x float> %p, %vy
  store <4 x float> %s, ptr %py, align 4
  %next = add i64 %i, 4
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}";

#[test]
fn a_vector_loop_with_a_constant_pool_runs() {
    let code = load(AXPY);
    let axpy: extern "C" fn(*const f32, *mut f32, i64) = function(&code, "axpy");
    let x: Vec<f32> = (0..32).map(|i| i as f32).collect();
    let mut y = vec![1.0f32; 32];
    axpy(x.as_ptr(), y.as_mut_ptr(), 32);
    let expected: Vec<f32> = (0..32).map(|i| i as f32 * (2 + i % 4) as f32 + 1.0).collect();
    assert_eq!(y, expected);
    assert_eq!(code.symbol("nothing"), None);
    assert!(code.bytes() < 4096);
}

extern "C" fn triple(x: f64) -> f64 {
    3.0 * x
}

/// Calls an external twice (one stub), takes its address (a slot), and calls a local function.
const CALLS: &str = "
declare double @triple(double)
define internal double @local(double %x) noinline {
  %y = fadd double %x, 0.25
  ret double %y
}
define double @calls(double %x) {
  %a = call double @triple(double %x)
  %b = call double @triple(double %a)
  %c = call double @local(double %b)
  ret double %c
}
define ptr @address() { ret ptr @triple }";

#[test]
fn calls_reach_external_and_local_functions() {
    let resolve = |name: &str| (name == "triple").then_some(triple as *const u8);
    let code = Code::load(&object(CALLS), &resolve).expect("loads");
    let calls: extern "C" fn(f64) -> f64 = function(&code, "calls");
    assert_eq!(calls(0.5), 4.75);
    let address: extern "C" fn() -> *const u8 = function(&code, "address");
    assert_eq!(address(), triple as *const u8);
}

#[test]
fn an_external_symbol_nobody_knows_is_named() {
    let error = Code::load(&object(CALLS), &nothing).expect_err("triple is not known");
    assert_eq!(error, ObjectError::Unresolved("triple".into()));
}

#[test]
fn tables_of_addresses_are_relocated() {
    // A read-only table of functions: absolute 64-bit relocations in .data.rel.ro.
    let code = load(
        "define i32 @one() { ret i32 1 }\ndefine i32 @two() { ret i32 2 }
@table = internal constant [2 x ptr] [ptr @one, ptr @two]
define i32 @pick(i64 %i) {
  %slot = getelementptr [2 x ptr], ptr @table, i64 0, i64 %i
  %f = load ptr, ptr %slot
  %r = call i32 %f()
  ret i32 %r
}",
    );
    let pick: extern "C" fn(i64) -> i32 = function(&code, "pick");
    assert_eq!((pick(0), pick(1)), (1, 2));
}

#[test]
fn writable_and_thread_local_data_is_rejected() {
    for kind in ["", "thread_local"] {
        let ir = format!("@g = {kind} global i32 7\ndefine ptr @f() {{ ret ptr @g }}");
        assert!(matches!(Code::load(&object(&ir), &nothing), Err(ObjectError::Writable(_))), "{kind}");
    }
}

#[test]
fn code_of_another_machine_is_rejected() {
    let llvm = Llvm::open(&LlvmOptions::default()).expect("the tests need libLLVM: make setup");
    let arm = llvm.compile("define void @f() { ret void }", &llvm.spec(CpuTarget::Aarch64), Output::Object);
    let error = Code::load(&arm.expect("compiles").bytes, &nothing).expect_err("not our machine");
    assert_eq!(error, ObjectError::Machine);
}

#[test]
fn damaged_objects_are_errors_or_load_but_never_crash_the_loader() {
    let intact = object(CALLS);
    let resolve = |_: &str| Some(triple as *const u8);
    for len in 0..intact.len() {
        assert!(Code::load(&intact[..len], &resolve).is_err(), "{len} of {} bytes", intact.len());
    }
    let mut damaged = intact.clone();
    for position in 0..intact.len() {
        for flip in [0x01, 0x80, 0xff] {
            damaged[position] ^= flip;
            // Whether it loads depends on what was hit; that it returns is the point.
            let _ = Code::load(&damaged, &resolve);
            damaged[position] = intact[position];
        }
    }
    assert!(Code::load(&damaged, &resolve).is_ok());
}

fn mappings() -> usize {
    std::fs::read_to_string("/proc/self/maps").expect("Linux").lines().count()
}

#[test]
fn a_thousand_loads_and_drops_leave_no_mapping() {
    let bytes = object(AXPY);
    let kept: Vec<Code> = (0..3).map(|_| Code::load(&bytes, &nothing).expect("loads")).collect();
    let before = mappings();
    for _ in 0..1000 {
        drop(Code::load(&bytes, &nothing).expect("loads"));
    }
    // Other tests run beside this one and may map a few.
    assert!(mappings() < before + 100, "{} mappings, {before} before", mappings());
    assert!(kept.iter().all(|code| code.symbol("axpy").is_some()));
}
