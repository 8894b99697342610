//! Modules of compiled kernels, their functions, and attributes of functions.

use std::ffi::{c_int, c_void};

use super::attributes::{CAPABILITY, MOST_THREADS, SHARED_OPT_IN, SHARED_PER_BLOCK};
use super::ffi::{Handle, Out, Text};
use super::result::{DriverResult, Status};
use super::state::{Driver, call};
use crate::image;
use crate::{Function, Module};

/// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`.
const MOST_DYNAMIC_SHARED: c_int = 8;
/// `CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT`.
const CARVEOUT: c_int = 9;
/// The register count reported, as the emulator cannot count registers.
pub const NOMINAL_REGISTERS: u32 = 32;

/// A module in a context.
#[derive(Debug)]
pub struct LoadedModule {
    pub context: Handle,
    module: Module,
}

/// A function of a module.
#[derive(Debug)]
pub struct LoadedFunction {
    pub context: Handle,
    module: Handle,
    pub function: Function,
    /// Bytes of dynamic shared memory that a launch may ask for.
    pub most_dynamic_shared: usize,
    carveout: c_int,
}

impl LoadedFunction {
    /// Bytes of the `__shared__` variables.
    pub fn static_shared(&self) -> usize {
        self.function.static_shared_bytes() as usize
    }

    fn attribute(&self, number: c_int) -> Option<c_int> {
        Some(match number {
            0 => MOST_THREADS as c_int,
            1 => self.static_shared() as c_int,
            // Constant memory, local memory, cache mode: none.
            2 | 3 | 7 => 0,
            4 => NOMINAL_REGISTERS as c_int,
            5 | 6 => CAPABILITY.0 * 10 + CAPABILITY.1,
            MOST_DYNAMIC_SHARED => self.most_dynamic_shared as c_int,
            CARVEOUT => self.carveout,
            10..=15 => 0,
            _ => return None,
        })
    }

    fn set(&mut self, number: c_int, value: c_int) -> bool {
        match number {
            MOST_DYNAMIC_SHARED => match usize::try_from(value) {
                Ok(bytes) if bytes + self.static_shared() <= SHARED_OPT_IN => {
                    self.most_dynamic_shared = bytes
                }
                _ => return false,
            },
            CARVEOUT if (-1..=100).contains(&value) => self.carveout = value,
            _ => return false,
        }
        true
    }
}

/// Loads an image that this thread's context can run.
fn load(driver: &mut Driver, image: *const c_void) -> DriverResult<Handle> {
    let context = driver.current()?;
    let invalid = |text: String| Status::ERROR_INVALID_IMAGE.because(text);
    // SAFETY: the caller passes null or an image, which says how long it is.
    let image = unsafe { image::read(image.cast()) }.map_err(|text| invalid(text.to_owned()))?;
    if !matches!(&*image.architecture, "sm_90" | "sm_90a") {
        let text = format!("the image is for {}, the device is an sm_90", image.architecture);
        return Err(Status::ERROR_NO_BINARY_FOR_GPU.because(text));
    }
    let module = Module::load(image.library).map_err(|error| invalid(error.to_string()))?;
    Ok(driver.modules.insert(LoadedModule { context, module }))
}

fn find_function(driver: &mut Driver, module: Handle, name: &str) -> DriverResult<Handle> {
    let LoadedModule { context, module: loaded } = driver.modules.get(module)?;
    let function = loaded.function(name);
    let function = function.map_err(|error| Status::ERROR_NOT_FOUND.because(error.to_string()))?;
    if !function.takes_known_kinds() {
        let text = format!(
            "kernel `{name}` has a parameter that is no pointer, integer, float or structure of words"
        );
        return Err(Status::ERROR_NOT_SUPPORTED.because(text));
    }
    let most_dynamic_shared = SHARED_PER_BLOCK.saturating_sub(function.static_shared_bytes() as usize);
    let context = *context;
    Ok(driver.functions.insert(LoadedFunction {
        context,
        module,
        function,
        most_dynamic_shared,
        carveout: -1,
    }))
}

/// The handle given earlier for a function.
fn known_function(driver: &Driver, module: Handle, name: &str) -> Option<Handle> {
    let known = |function: &LoadedFunction| function.module == module && function.function.name() == name;
    driver.functions.iter().find(|(_, function)| known(function)).map(|(handle, _)| handle)
}

#[unsafe(no_mangle)]
extern "C" fn cuModuleLoadData(module: Out<Handle>, image: *const c_void) -> c_int {
    call(|driver| module.set_made(|| load(driver, image)))
}

#[unsafe(no_mangle)]
extern "C" fn cuModuleUnload(module: Handle) -> c_int {
    call(|driver| {
        driver.modules.remove(module)?;
        // Launches that have not run hold what they need.
        driver.functions.retain(|function| function.module != module);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuModuleGetFunction(function: Out<Handle>, module: Handle, name: Text) -> c_int {
    call(|driver| {
        driver.current()?;
        let name = name.read()?;
        let known = known_function(driver, module, &name);
        function.set(known.map_or_else(|| find_function(driver, module, &name), Ok)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuFuncGetAttribute(value: Out<c_int>, attribute: c_int, function: Handle) -> c_int {
    call(|driver| {
        let found = driver.functions.get(function)?.attribute(attribute);
        let unknown =
            || Status::ERROR_INVALID_VALUE.because(format!("a function has no attribute {attribute}"));
        value.set(found.ok_or_else(unknown)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuFuncSetAttribute(function: Handle, attribute: c_int, value: c_int) -> c_int {
    call(|driver| {
        if driver.functions.get_mut(function)?.set(attribute, value) {
            return Ok(());
        }
        let text = format!("attribute {attribute} of a function cannot be {value}");
        Err(Status::ERROR_INVALID_VALUE.because(text))
    })
}
