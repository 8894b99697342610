//! A stand-in for NVRTC: functions with the names, types and numbers of `nvrtc.h`, which compile by the emulator. They are
//! called by who opens this crate's library as libnvrtc.

#![allow(non_snake_case)]

mod options;
mod program;
mod result;

use std::ffi::{CStr, c_char, c_int};
use std::slice;

use program::{NvrtcProgram, Programs};
use result::Code;

/// Runs a function on a program.
fn with(program: usize, body: impl FnOnce(&mut NvrtcProgram) -> Result<(), Code>) -> c_int {
    let Some(program) = Programs::get(program) else { return Code::INVALID_PROGRAM.0 };
    let mut program = program.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    body(&mut program).err().unwrap_or(Code::SUCCESS).0
}

/// A copy of a string of the caller's.
fn text(text: *const c_char) -> Option<String> {
    // SAFETY: whoever calls NVRTC passes null or a string that ends with a zero.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// Writes to a place of the caller's.
fn put<T>(place: *mut T, value: T) -> Result<(), Code> {
    if place.is_null() {
        return Err(Code::INVALID_INPUT);
    }
    // SAFETY: whoever calls NVRTC passes null or a place for the result.
    unsafe { place.write(value) };
    Ok(())
}

/// Writes bytes to a place of the caller's, which has room for as many as NVRTC has said.
fn put_bytes(place: *mut c_char, bytes: &[u8]) -> Result<(), Code> {
    if place.is_null() {
        return Err(Code::INVALID_INPUT);
    }
    // SAFETY: the caller has asked how many bytes there are.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), place.cast(), bytes.len()) };
    Ok(())
}

fn finish(result: Result<(), Code>) -> c_int {
    result.err().unwrap_or(Code::SUCCESS).0
}

#[unsafe(no_mangle)]
extern "C" fn nvrtcVersion(major: *mut c_int, minor: *mut c_int) -> c_int {
    finish(put(major, 12).and_then(|()| put(minor, 9)))
}

#[unsafe(no_mangle)]
extern "C" fn nvrtcGetErrorString(code: c_int) -> *const c_char {
    Code(code).name().as_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn nvrtcGetNumSupportedArchs(count: *mut c_int) -> c_int {
    finish(put(count, options::ARCHITECTURES.len() as c_int))
}

#[unsafe(no_mangle)]
extern "C" fn nvrtcGetSupportedArchs(architectures: *mut c_int) -> c_int {
    if architectures.is_null() {
        return Code::INVALID_INPUT.0;
    }
    let numbers = options::ARCHITECTURES;
    // SAFETY: the caller has a place for as many numbers as `nvrtcGetNumSupportedArchs` says.
    unsafe { architectures.copy_from_nonoverlapping(numbers.as_ptr(), numbers.len()) };
    Code::SUCCESS.0
}

#[unsafe(no_mangle)]
extern "C" fn nvrtcCreateProgram(
    program: *mut usize,
    source: *const c_char,
    name: *const c_char,
    headers: c_int,
    _header_texts: *const *const c_char,
    _header_names: *const *const c_char,
) -> c_int {
    let Some(source) = text(source).filter(|_| headers == 0) else { return Code::INVALID_INPUT.0 };
    let name = text(name).unwrap_or_else(|| "default_program".to_owned());
    finish(put(program, Programs::add(NvrtcProgram::new(source, name))))
}

#[unsafe(no_mangle)]
extern "C" fn nvrtcDestroyProgram(program: *mut usize) -> c_int {
    if program.is_null() {
        return Code::INVALID_PROGRAM.0;
    }
    // SAFETY: the caller passes the place of a program.
    let known = Programs::remove(unsafe { program.read() });
    if !known {
        return Code::INVALID_PROGRAM.0;
    }
    finish(put(program, 0))
}

#[unsafe(no_mangle)]
extern "C" fn nvrtcCompileProgram(program: usize, count: c_int, options: *const *const c_char) -> c_int {
    with(program, |program| {
        let count = usize::try_from(count).map_err(|_| Code::INVALID_INPUT)?;
        let options = match (options.is_null(), count) {
            (_, 0) => &[],
            (true, _) => return Err(Code::INVALID_INPUT),
            // SAFETY: the caller passes as many strings as it says.
            (false, _) => unsafe { slice::from_raw_parts(options, count) },
        };
        let options: Option<Vec<String>> = options.iter().map(|&option| text(option)).collect();
        program.compile(&options.ok_or(Code::INVALID_INPUT)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvrtcGetProgramLogSize(program: usize, size: *mut usize) -> c_int {
    with(program, |program| put(size, program.log().len()))
}

#[unsafe(no_mangle)]
extern "C" fn nvrtcGetProgramLog(program: usize, log: *mut c_char) -> c_int {
    with(program, |program| put_bytes(log, &program.log()))
}

#[unsafe(no_mangle)]
extern "C" fn nvrtcGetCUBINSize(program: usize, size: *mut usize) -> c_int {
    with(program, |program| put(size, program.image()?.len()))
}

#[unsafe(no_mangle)]
extern "C" fn nvrtcGetCUBIN(program: usize, cubin: *mut c_char) -> c_int {
    with(program, |program| put_bytes(cubin, program.image()?))
}

/// The stand-in has one form of code: what it gives as PTX is the machine code.
#[unsafe(no_mangle)]
extern "C" fn nvrtcGetPTXSize(program: usize, size: *mut usize) -> c_int {
    nvrtcGetCUBINSize(program, size)
}

#[unsafe(no_mangle)]
extern "C" fn nvrtcGetPTX(program: usize, ptx: *mut c_char) -> c_int {
    nvrtcGetCUBIN(program, ptx)
}
