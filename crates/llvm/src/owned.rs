//! LLVM objects that dispose of themselves: context, module, target machine, memory buffer, message.
//!
//! Each borrows the [`Library`] whose functions made it. Nothing here decides what to compile.

use crate::error::Error;
use crate::library::{Library, Ref, TargetMachine};
use crate::target::TargetMachineSpec;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;
use std::sync::PoisonError;

/// LLVM's severity of an error (warnings are 1, remarks 2, notes 3).
const SEVERITY_ERROR: i32 = 0;
/// The effort of LLVM's code generator: kernels are as fast as with more.
const DEFAULT: i32 = 2;
/// LLVM's relocation model "position independent" and code model "small".
const PIC: i32 = 2;
const SMALL: i32 = 3;

/// A message that LLVM allocated, as a Rust string. Null gives the empty string.
pub(crate) fn take_message(library: &Library, message: *mut c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    // SAFETY: LLVM gave a NUL-terminated string that is ours to dispose of, and it is not used afterwards.
    unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().trim_end().to_owned();
        (library.functions.LLVMDisposeMessage)(message);
        text
    }
}

/// A memory buffer of LLVM.
pub(crate) struct Buffer<'l> {
    library: &'l Library,
    raw: Ref,
}

impl Buffer<'_> {
    /// What the buffer holds, for as long as it lives.
    pub fn bytes(&self) -> &[u8] {
        let functions = &self.library.functions;
        // SAFETY: start and size describe memory that lives as long as the buffer.
        unsafe {
            let (start, size) =
                ((functions.LLVMGetBufferStart)(self.raw), (functions.LLVMGetBufferSize)(self.raw));
            if size == 0 { &[] } else { std::slice::from_raw_parts(start, size) }
        }
    }
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        // SAFETY: the buffer is ours, and this is its last use.
        unsafe { (self.library.functions.LLVMDisposeMemoryBuffer)(self.raw) }
    }
}

/// A context of one compilation. It collects error diagnostics, because LLVM's default handler ends the process.
pub(crate) struct Context<'l> {
    library: &'l Library,
    raw: Ref,
    diagnostics: Box<Diagnostics<'l>>,
}

struct Diagnostics<'l> {
    library: &'l Library,
    errors: RefCell<Vec<String>>,
}

extern "C" fn collect_diagnostic(info: Ref, diagnostics: *mut c_void) {
    // SAFETY: LLVM hands back the pointer given to it in `Context::new`, which lives as long as the context.
    let diagnostics = unsafe { &*diagnostics.cast::<Diagnostics<'_>>() };
    let library = diagnostics.library;
    // SAFETY: `info` is a live diagnostic during this call.
    let (severity, text) = unsafe {
        let functions = &library.functions;
        ((functions.LLVMGetDiagInfoSeverity)(info), (functions.LLVMGetDiagInfoDescription)(info))
    };
    let text = take_message(library, text);
    if severity == SEVERITY_ERROR {
        diagnostics.errors.borrow_mut().push(text);
    }
}

impl<'l> Context<'l> {
    /// A context whose diagnostics are kept instead of printed.
    pub fn new(library: &'l Library) -> Context<'l> {
        let diagnostics = Box::new(Diagnostics { library, errors: RefCell::default() });
        let state = ptr::from_ref(&*diagnostics).cast_mut().cast();
        let functions = &library.functions;
        // SAFETY: the handler's state is boxed, so it stays in place, and outlives the LLVM context.
        let raw = unsafe {
            let raw = (functions.LLVMContextCreate)();
            (functions.LLVMContextSetDiagnosticHandler)(raw, collect_diagnostic, state);
            raw
        };
        Context { library, raw, diagnostics }
    }

    /// Fails with the error diagnostics given since the context was made, if any.
    pub fn check(&self) -> Result<(), Error> {
        let errors = self.diagnostics.errors.borrow();
        if errors.is_empty() { Ok(()) } else { Err(Error::Codegen { message: errors.join("\n") }) }
    }

    /// Parses a module. Fails with [`Error::Parse`].
    pub fn parse(&self, ir: &str) -> Result<Module<'_>, Error> {
        let functions = &self.library.functions;
        let (mut raw, mut message) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the text is copied (and NUL-terminated) by LLVM; parsing takes the copy in all cases.
        let failed = unsafe {
            let make = functions.LLVMCreateMemoryBufferWithMemoryRangeCopy;
            let text = make(ir.as_ptr().cast(), ir.len(), c"module".as_ptr());
            (functions.LLVMParseIRInContext)(self.raw, text, &mut raw, &mut message)
        };
        let message = take_message(self.library, message);
        if failed != 0 || raw.is_null() {
            return Err(Error::Parse { line: line_of(&message), message });
        }
        Ok(Module { library: self.library, raw, _context: self })
    }
}

/// The line in a message that begins `module:LINE:COLUMN:`.
fn line_of(message: &str) -> Option<u32> {
    message.split("module:").nth(1)?.split(':').next()?.parse().ok()
}

impl Drop for Context<'_> {
    fn drop(&mut self) {
        // SAFETY: modules borrow the context, so none is left.
        unsafe { (self.library.functions.LLVMContextDispose)(self.raw) }
    }
}

/// A module, alive no longer than its context.
pub(crate) struct Module<'c> {
    library: &'c Library,
    raw: Ref,
    _context: &'c Context<'c>,
}

impl Module<'_> {
    /// Takes the triple and data layout of the machine, whatever the text said.
    pub fn set_target(&self, machine: &Machine<'_>) {
        let functions = &self.library.functions;
        // SAFETY: module, machine and triple are alive; the layout is copied into the module, then freed.
        unsafe {
            let layout = (functions.LLVMCreateTargetDataLayout)(machine.raw());
            (functions.LLVMSetModuleDataLayout)(self.raw, layout);
            (functions.LLVMDisposeTargetData)(layout);
            (functions.LLVMSetTarget)(self.raw, machine.held().triple.as_ptr());
        }
    }

    /// Checks the rules of LLVM IR. Fails with [`Error::Verify`].
    pub fn verify(&self) -> Result<(), Error> {
        const RETURN_STATUS: i32 = 2;
        let mut message = ptr::null_mut();
        // SAFETY: the module is alive, and the message pointer is to a live local.
        let broken =
            unsafe { (self.library.functions.LLVMVerifyModule)(self.raw, RETURN_STATUS, &mut message) };
        let message = take_message(self.library, message);
        if broken != 0 { Err(Error::Verify { message }) } else { Ok(()) }
    }

    /// Runs a pipeline in LLVM's pass syntax. Fails with [`Error::Passes`].
    pub fn run_passes(&self, machine: &Machine<'_>, pipeline: &CStr) -> Result<(), Error> {
        let functions = &self.library.functions;
        // SAFETY: all handles are alive; a non-null error is ours, and reading its message consumes it.
        unsafe {
            let options = (functions.LLVMCreatePassBuilderOptions)();
            let error = (functions.LLVMRunPasses)(self.raw, pipeline.as_ptr(), machine.raw(), options);
            (functions.LLVMDisposePassBuilderOptions)(options);
            if error.is_null() {
                return Ok(());
            }
            let text = (functions.LLVMGetErrorMessage)(error);
            let message = CStr::from_ptr(text).to_string_lossy().into_owned();
            (functions.LLVMDisposeErrorMessage)(text);
            Err(Error::Passes { message })
        }
    }

    /// The module as IR text.
    pub fn print(&self) -> String {
        // SAFETY: the module is alive, and the text is ours.
        let text = unsafe { (self.library.functions.LLVMPrintModuleToString)(self.raw) };
        take_message(self.library, text) + "\n"
    }

    /// Machine code of the module, which is consumed: assembly text or an object file.
    pub fn emit<'m>(self, machine: &Machine<'m>, file_type: i32) -> Result<Buffer<'m>, Error> {
        let (mut raw, mut message) = (ptr::null_mut(), ptr::null_mut());
        let emit = self.library.functions.LLVMTargetMachineEmitToMemoryBuffer;
        // SAFETY: machine and module are alive, and the two out-pointers are to live locals.
        let failed = unsafe { emit(machine.raw(), self.raw, file_type, &mut message, &mut raw) };
        let message = take_message(self.library, message);
        if failed != 0 || raw.is_null() {
            return Err(Error::Codegen { message });
        }
        Ok(Buffer { library: machine.library, raw })
    }
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        // SAFETY: the module is ours, and this is its last use.
        unsafe { (self.library.functions.LLVMDisposeModule)(self.raw) }
    }
}

/// A target machine for one compilation: LLVM's are not for two threads at once. It is returned to the library afterwards,
/// since making one takes as long as a small kernel's passes.
pub(crate) struct Machine<'l> {
    library: &'l Library,
    /// Present until it is returned.
    machine: Option<TargetMachine>,
}

impl<'l> Machine<'l> {
    /// An idle one, or a new one. Fails with [`Error::Target`] if this libLLVM lacks the target.
    pub fn new(library: &'l Library, spec: &TargetMachineSpec) -> Result<Machine<'l>, Error> {
        let waiting = {
            let mut waiting = library.machines.lock().unwrap_or_else(PoisonError::into_inner);
            let place = waiting.iter().position(|machine| machine.spec == *spec);
            place.map(|place| waiting.swap_remove(place))
        };
        let machine = waiting.map_or_else(|| TargetMachine::new(library, spec), Ok)?;
        Ok(Machine { library, machine: Some(machine) })
    }

    fn held(&self) -> &TargetMachine {
        self.machine.as_ref().expect("it goes back when this is dropped")
    }

    fn raw(&self) -> Ref {
        self.held().raw
    }
}

impl TargetMachine {
    /// Fails with [`Error::Target`] where this libLLVM lacks the target.
    fn new(library: &Library, spec: &TargetMachineSpec) -> Result<TargetMachine, Error> {
        let functions = &library.functions;
        let reject = |message: String| Error::Target { triple: spec.triple().to_owned(), message };
        let text = |text: &str| CString::new(text).map_err(|error| reject(error.to_string()));
        let (triple, cpu, features) = (text(spec.triple())?, text(spec.cpu())?, text(spec.features())?);
        let (mut target, mut message) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the triple is a C string, and the two out-pointers are to live locals.
        let failed =
            unsafe { (functions.LLVMGetTargetFromTriple)(triple.as_ptr(), &mut target, &mut message) };
        let message = take_message(library, message);
        if failed != 0 {
            return Err(reject(message));
        }
        let make = functions.LLVMCreateTargetMachine;
        // SAFETY: the target was found above, and the strings are C strings that LLVM copies.
        let raw =
            unsafe { make(target, triple.as_ptr(), cpu.as_ptr(), features.as_ptr(), DEFAULT, PIC, SMALL) };
        if raw.is_null() {
            Err(reject("no target machine".into()))
        } else {
            Ok(TargetMachine { spec: spec.clone(), triple, raw })
        }
    }
}

impl Drop for Machine<'_> {
    fn drop(&mut self) {
        let mut waiting = self.library.machines.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.extend(self.machine.take());
    }
}
