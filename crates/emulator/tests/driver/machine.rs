//! The library for one user at a time: calls that panic with its message when they fail.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use crate::KERNELS;
use crate::functions::{Address, Functions, Handle};

static FUNCTIONS: LazyLock<Functions> = LazyLock::new(Functions::find);
static IMAGE: LazyLock<Vec<u8>> = LazyLock::new(|| cubin(KERNELS));
static ONE_USER: Mutex<()> = Mutex::new(());

/// The default stream.
pub const LEGACY: Handle = ptr::null_mut();

/// The library with nothing set; no other test uses it meanwhile.
pub struct Machine {
    pub cu: &'static Functions,
    _alone: MutexGuard<'static, ()>,
}

/// The primary context of a device, current in this thread.
pub struct Context {
    pub cu: &'static Functions,
    pub context: Handle,
    ordinal: c_int,
}

/// Calls a function of the library, whatever it returns.
macro_rules! code {
    ($cu:expr, $name:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: pointers are of the types that the function takes, and outlive the call; wrong addresses are reported.
        unsafe { ($cu.$name)($($argument),*) }
    };
}

/// Calls a function of the library, which must succeed.
macro_rules! ok {
    ($cu:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        let code = $crate::machine::code!($cu, $name($($argument),*));
        assert_eq!(code, 0, "{}: {}", stringify!($name), $crate::machine::message());
    }};
}

pub(crate) use {code, ok};

/// The message of this thread's latest call that failed.
pub fn message() -> String {
    // SAFETY: the function returns a string that exists until the next call that fails.
    unsafe { CStr::from_ptr((FUNCTIONS.ferrofuse_stand_in_message)()) }.to_string_lossy().into_owned()
}

#[track_caller]
pub fn assert_says(code: c_int, expected: c_int, part: &str) {
    let text = message();
    assert_eq!(code, expected, "{text}");
    assert!(text.contains(part), "`{part}` is missing from: {text}");
}

impl Machine {
    pub fn new() -> Machine {
        let alone = ONE_USER.lock().unwrap_or_else(PoisonError::into_inner);
        let machine = Machine { cu: &FUNCTIONS, _alone: alone };
        machine.set("reset", 0);
        ok!(machine.cu, cuInit(0));
        // A failed test may have left contexts.
        for device in 0..2 {
            while code!(machine.cu, cuDevicePrimaryCtxRelease_v2(device)) == 0 {}
        }
        machine
    }

    pub fn set(&self, key: &str, value: u64) {
        let name = CString::new(key).expect("no zero");
        assert_eq!(code!(self.cu, ferrofuse_stand_in_set(name.as_ptr(), value)), 0, "{key} = {value}");
    }

    pub fn get(&self, key: &str) -> u64 {
        let name = CString::new(key).expect("no zero");
        code!(self.cu, ferrofuse_stand_in_get(name.as_ptr()))
    }

    pub fn context(&self, ordinal: c_int) -> Context {
        Context::new(ordinal)
    }
}

/// Machine code of a text, or the result and the log of NVRTC.
pub fn compile(source: &str, options: &[&str]) -> Result<Vec<u8>, (c_int, String)> {
    let cu = &*FUNCTIONS;
    let source = CString::new(source).expect("no zero");
    let options: Vec<CString> = options.iter().map(|&o| CString::new(o).expect("no zero")).collect();
    let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
    let mut program = ptr::null_mut();
    ok!(
        cu,
        nvrtcCreateProgram(&mut program, source.as_ptr(), c"test.cu".as_ptr(), 0, ptr::null(), ptr::null())
    );
    let code = code!(cu, nvrtcCompileProgram(program, pointers.len() as c_int, pointers.as_ptr()));
    let mut size = 0;
    let result = if code == 0 {
        ok!(cu, nvrtcGetCUBINSize(program, &mut size));
        let mut cubin = vec![0_u8; size];
        ok!(cu, nvrtcGetCUBIN(program, cubin.as_mut_ptr().cast()));
        Ok(cubin)
    } else {
        ok!(cu, nvrtcGetProgramLogSize(program, &mut size));
        let mut log = vec![0_u8; size];
        ok!(cu, nvrtcGetProgramLog(program, log.as_mut_ptr().cast()));
        Err((code, String::from_utf8_lossy(&log[..size - 1]).into_owned()))
    };
    ok!(cu, nvrtcDestroyProgram(&mut program));
    assert!(program.is_null());
    result
}

pub fn cubin(source: &str) -> Vec<u8> {
    compile(source, &["--gpu-architecture=sm_90", "--std=c++17", "--fmad=false"])
        .unwrap_or_else(|(code, log)| panic!("{code}: {log}"))
}

/// An argument of a launch.
pub enum Value {
    Pointer(Address),
    Number(i64),
}

impl Context {
    pub fn new(ordinal: c_int) -> Context {
        let cu = &*FUNCTIONS;
        let mut context = ptr::null_mut();
        ok!(cu, cuDevicePrimaryCtxRetain(&mut context, ordinal));
        ok!(cu, cuCtxPushCurrent_v2(context));
        Context { cu, context, ordinal }
    }

    pub fn stream(&self, flags: c_uint) -> Handle {
        let mut stream = ptr::null_mut();
        ok!(self.cu, cuStreamCreate(&mut stream, flags));
        stream
    }

    pub fn event(&self) -> Handle {
        let mut event = ptr::null_mut();
        ok!(self.cu, cuEventCreate(&mut event, 0));
        event
    }

    pub fn module(&self, source: &str) -> Handle {
        let image = if source == KERNELS { IMAGE.clone() } else { cubin(source) };
        let mut module = ptr::null_mut();
        ok!(self.cu, cuModuleLoadData(&mut module, image.as_ptr().cast()));
        module
    }

    pub fn function(&self, module: Handle, name: &CStr) -> Handle {
        let mut function = ptr::null_mut();
        ok!(self.cu, cuModuleGetFunction(&mut function, module, name.as_ptr()));
        function
    }

    pub fn allocate(&self, bytes: usize) -> Address {
        let mut address = 0;
        ok!(self.cu, cuMemAlloc_v2(&mut address, bytes));
        address
    }

    pub fn allocate_on(&self, bytes: usize, stream: Handle) -> Address {
        let mut address = 0;
        ok!(self.cu, cuMemAllocAsync(&mut address, bytes, stream));
        address
    }

    /// Memory with these numbers.
    pub fn upload(&self, numbers: &[i32]) -> Address {
        let address = self.allocate(size_of_val(numbers));
        ok!(self.cu, cuMemcpyHtoD_v2(address, numbers.as_ptr().cast(), size_of_val(numbers)));
        address
    }

    pub fn read(&self, address: Address, count: usize) -> Vec<i32> {
        let mut numbers = vec![0_i32; count];
        ok!(self.cu, cuMemcpyDtoH_v2(numbers.as_mut_ptr().cast(), address, 4 * count));
        numbers
    }

    /// Launches `blocks` blocks of 32 threads.
    pub fn launch(&self, function: Handle, blocks: u32, stream: Handle, values: &[Value]) -> c_int {
        let mut words: Vec<u64> = values
            .iter()
            .map(|value| match value {
                Value::Pointer(address) => *address,
                Value::Number(number) => *number as u64,
            })
            .collect();
        let mut places: Vec<*mut c_void> = words.iter_mut().map(|word| (word as *mut u64).cast()).collect();
        let (places, none) = (places.as_mut_ptr(), ptr::null_mut());
        code!(self.cu, cuLaunchKernel(function, blocks, 1, 1, 32, 1, 1, 0, stream, places, none))
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let mut popped = ptr::null_mut();
        ok!(self.cu, cuCtxPopCurrent_v2(&mut popped));
        assert_eq!(popped, self.context);
        ok!(self.cu, cuDevicePrimaryCtxRelease_v2(self.ordinal));
    }
}
