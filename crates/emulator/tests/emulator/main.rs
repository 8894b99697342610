//! The CUDA emulator on kernels written by hand: right in every order, and each misuse is reported.

mod errors;
mod kernels;
mod shared_memory;
mod threads;

use ferrofuse_emulator::{
    Arg, Emulator, EmulatorOptions, Error, Function, GuardedBuffer, Launch, Order, Stats,
};

fn compile(source: &str, kernel: &str) -> Function {
    compile_with(source, kernel, false).unwrap_or_else(|error| panic!("{error}"))
}

fn compile_with(source: &str, kernel: &str, sanitize: bool) -> Result<Function, Error> {
    let options = EmulatorOptions { sanitize, ..EmulatorOptions::default() };
    Emulator::new(options)?.compile(source, kernel)?.function(kernel)
}

/// One block of `threads` threads along x.
fn one_block(threads: u32) -> Launch {
    Launch { grid: [1, 1, 1], block: [threads, 1, 1], dynamic_shared_bytes: 0, order: Order::Forward }
}

fn run(module: &Function, launch: &Launch, args: &[Arg]) -> Result<Stats, Error> {
    // SAFETY: every pointer of this file comes from a guarded buffer that the test holds until it has read it.
    unsafe { module.launch(launch, args) }
}

fn text_of(result: Result<Stats, Error>) -> String {
    match result {
        Ok(stats) => panic!("the launch should have failed, but: {stats:?}"),
        Err(error) => error.to_string(),
    }
}

#[track_caller]
fn assert_says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing from: {text}");
    }
}

fn buffer_f32(values: &[f32]) -> GuardedBuffer {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    GuardedBuffer::new(&bytes).expect("memory for a test buffer")
}

fn buffer_u16(values: &[u16]) -> GuardedBuffer {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    GuardedBuffer::new(&bytes).expect("memory for a test buffer")
}

fn read_f32(buffer: &GuardedBuffer) -> Vec<f32> {
    buffer.bytes().as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()
}

fn read_i32(buffer: &GuardedBuffer) -> Vec<i32> {
    buffer.bytes().as_chunks::<4>().0.iter().map(|&bytes| i32::from_le_bytes(bytes)).collect()
}

fn read_u16(buffer: &GuardedBuffer) -> Vec<u16> {
    buffer.bytes().as_chunks::<2>().0.iter().map(|&bytes| u16::from_le_bytes(bytes)).collect()
}
