//! The library search, the targets and the errors of a compilation. Running code is tested with the loader.

use super::*;
use std::path::{Path, PathBuf};

const AXPY: &str = "
define void @axpy(ptr %x, ptr %y, float %a) {
  %vx = load <16 x float>, ptr %x, align 4
  %vy = load <16 x float>, ptr %y, align 4
  %one = insertelement <16 x float> poison, float %a, i64 0
  %va = shufflevector <16 x float> %one, <16 x float> poison, <16 x i32> zeroinitializer
  %p = fmul contract <16 x float> %va, %vx
  %s = fadd contract <16 x float> %p, %vy
  store <16 x float> %s, ptr %y, align 4
  ret void
}";

fn llvm() -> Llvm {
    Llvm::open(&LlvmOptions::default()).expect("the tests need libLLVM: make setup")
}

fn text(llvm: &Llvm, ir: &str, target: CpuTarget, output: Output) -> Result<String, Error> {
    let compiled = llvm.compile(ir, &llvm.spec(target), output)?;
    Ok(String::from_utf8(compiled.bytes).expect("text output is UTF-8"))
}

fn open_at(path: &Path) -> Error {
    Llvm::open(&LlvmOptions { path: Some(path.into()) }).expect_err("no usable libLLVM there")
}

#[test]
fn a_missing_library_names_the_package() {
    let error = open_at(Path::new("/nonexistent/libLLVM.so"));
    assert!(matches!(&error, Error::NotFound { tried, .. } if tried == &["/nonexistent/libLLVM.so"]));
    assert!(error.to_string().contains("apt-get install libllvm19"), "{error}");
    let by_name = open_at(Path::new("libLLVM-of-nobody.so"));
    assert!(matches!(by_name, Error::NotFound { .. }), "{by_name}");
}

#[test]
fn other_libraries_and_other_files_are_rejected() {
    let error = open_at(Path::new("libm.so.6"));
    assert_eq!(error, Error::NotLlvm { path: PathBuf::from("libm.so.6") });
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("libLLVM.so");
    std::fs::write(&path, b"not a library").expect("writable");
    assert!(matches!(open_at(&path), Error::Unloadable { .. }));
}

/// A shared library whose only function is LLVM's version query.
fn fake_llvm(folder: &Path, major: u32) -> PathBuf {
    let (source, library) =
        (folder.join(format!("fake{major}.c")), folder.join(format!("libfake{major}.so")));
    let code = format!(
        "void LLVMGetVersion(unsigned *a, unsigned *b, unsigned *c) {{ *a = {major}; *b = *c = 1; }}"
    );
    std::fs::write(&source, code).expect("writable");
    let mut compiler = std::process::Command::new("cc");
    let status = compiler.args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status();
    assert!(status.expect("cc, which Rust links with, is there").success());
    library
}

#[test]
fn old_and_incomplete_libraries_are_rejected_with_the_reason() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let old = fake_llvm(folder.path(), 14);
    let error = open_at(&old);
    assert_eq!(error, Error::TooOld { path: old, version: (14, 1, 1) });
    let text = error.to_string();
    assert!(text.contains("is LLVM 14.1.1; version 19 or newer") && text.contains("libllvm19"), "{text}");
    let incomplete = fake_llvm(folder.path(), 19);
    let symbol = "LLVMContextCreate".to_owned();
    assert_eq!(open_at(&incomplete), Error::MissingSymbol { path: incomplete, symbol });
}

#[test]
fn the_default_library_is_opened_once_and_is_new_enough() {
    let (first, second) = (llvm(), llvm());
    assert!(first.version().0 >= 19);
    assert_eq!(first.path(), second.path());
    assert!(!first.spec(CpuTarget::Host).cpu().is_empty());
    let again = Llvm::open(&LlvmOptions { path: Some(first.path().into()) }).expect("opens by path too");
    assert_eq!(again.version(), first.version());
}

#[test]
fn assembly_uses_the_vectors_of_the_target() {
    let llvm = llvm();
    let assembly = |target| text(&llvm, AXPY, target, Output::Assembly).expect("compiles");
    assert!(assembly(CpuTarget::Avx512).contains("zmm"));
    let avx2 = assembly(CpuTarget::Avx2);
    assert!(avx2.contains("ymm") && avx2.contains("vfmadd") && !avx2.contains("zmm"), "{avx2}");
    let baseline = assembly(CpuTarget::X86_64);
    assert!(baseline.contains("mulps") && !baseline.contains("ymm"), "{baseline}");
    assert!(assembly(CpuTarget::Aarch64).contains("fmla"));
}

#[test]
fn every_target_gives_an_object_and_the_spec_survives_as_attributes() {
    let llvm = llvm();
    for target in CpuTarget::ALL {
        let spec = llvm.spec(target);
        let attributed = AXPY.replace(") {", &format!(") {} {{", spec.function_attributes()));
        let object = llvm.compile(&attributed, &spec, Output::Object).expect("compiles");
        assert_eq!(&object.bytes[..4], b"\x7fELF", "{target}");
        assert_eq!(target.name().parse(), Ok(target));
    }
}

#[test]
fn passes_clean_the_printed_ir() {
    let ir = "define i32 @f(i32 %x) {\n %a = add i32 %x, 1\n %b = add i32 %x, 1\n %c = sub i32 %a, %b\n ret i32 %c\n}";
    let printed = text(&llvm(), ir, CpuTarget::X86_64, Output::Ir).expect("compiles");
    assert!(printed.contains("ret i32 0") && !printed.contains("sub"), "{printed}");
}

#[test]
fn text_that_is_not_ir_is_a_parse_error_with_its_line() {
    let llvm = llvm();
    let error = text(&llvm, "define void @f() {\n  %x = ad i32 1, 2\n}", CpuTarget::Host, Output::Object);
    let Err(Error::Parse { message, line }) = error else { panic!("{error:?}") };
    assert_eq!(line, Some(2));
    assert!(message.contains("expected instruction opcode") && message.contains("%x = ad"), "{message}");
    for garbage in ["%", "BC\u{c0}de", "define", "\u{1f980}"] {
        assert!(matches!(text(&llvm, garbage, CpuTarget::Host, Output::Ir), Err(Error::Parse { .. })));
    }
}

#[test]
fn a_module_that_breaks_the_rules_is_a_verify_error() {
    // %x does not dominate its use.
    let ir = "define i32 @f(i1 %c) {\nentry:\n br i1 %c, label %a, label %b\na:\n %x = add i32 1, 2\n br label %b\nb:\n ret i32 %x\n}";
    let error = text(&llvm(), ir, CpuTarget::Host, Output::Object);
    assert!(matches!(&error, Err(Error::Verify { message }) if message.contains("dominate")), "{error:?}");
}

#[test]
fn bad_inline_assembly_is_an_error_and_not_the_end_of_the_process() {
    let ir = "define void @f() {\n call void asm sideeffect \"bogus %nothing\", \"\"()\n ret void\n}";
    let error = text(&llvm(), ir, CpuTarget::X86_64, Output::Object);
    assert!(matches!(error, Err(Error::Codegen { .. })), "{error:?}");
}

#[test]
fn unknown_targets_are_named_together_with_the_known_ones() {
    let error = "pentium".parse::<CpuTarget>().expect_err("unknown");
    assert_eq!(
        error.to_string(),
        "unknown CPU target `pentium`; known are host, x86-64, avx2, avx512, aarch64"
    );
}

#[test]
fn a_target_the_library_lacks_is_an_error() {
    let llvm = llvm();
    let spec = TargetMachineSpec::for_test("pdp11-unknown-linux-gnu");
    assert!(matches!(llvm.compile(AXPY, &spec, Output::Object), Err(Error::Target { .. })));
    let nul = TargetMachineSpec::for_test("x86_64\0");
    assert!(matches!(llvm.compile(AXPY, &nul, Output::Object), Err(Error::Target { .. })));
}

#[test]
fn eight_threads_compile_to_the_same_bytes() {
    let llvm = llvm();
    let compile = || llvm.compile(AXPY, &llvm.spec(CpuTarget::Avx2), Output::Object).expect("compiles").bytes;
    let expected = compile();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| (0..5).map(|_| compile()).collect())).collect();
        for thread in threads {
            let objects: Vec<Vec<u8>> = thread.join().expect("no panic");
            assert!(objects.iter().all(|object| object == &expected));
        }
    });
}

#[test]
fn compilations_one_after_the_other_share_a_target_machine() {
    // A library of its own, so that other tests take none of its machines.
    let llvm = Llvm::open(&LlvmOptions { path: Some(llvm().path().into()) }).expect("opens by path too");
    let compile = |target| llvm.compile(AXPY, &llvm.spec(target), Output::Object).expect("compiles").bytes;
    let first = compile(CpuTarget::Avx2);
    let waiting = || llvm.library().expect("is open").machines.lock().expect("no panic").len();
    assert_eq!(waiting(), 1);
    assert_eq!(compile(CpuTarget::Avx2), first);
    assert_eq!(waiting(), 1);
    let other = compile(CpuTarget::X86_64);
    assert_eq!(waiting(), 2);
    assert_eq!((compile(CpuTarget::Avx2), compile(CpuTarget::X86_64)), (first, other));
}
