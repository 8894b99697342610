//! Programs: a text, then its machine code and what the compiler said.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::options::architecture;
use super::result::Code;
use crate::{Emulator, EmulatorOptions, Error, driver, image};

/// A program.
#[derive(Debug)]
pub struct NvrtcProgram {
    source: String,
    /// The name of its file.
    name: String,
    log: String,
    image: Option<Vec<u8>>,
}

/// All programs. Each has a lock of its own, so that several compile at a time.
#[derive(Debug, Default)]
pub struct Programs {
    created: usize,
    alive: BTreeMap<usize, Arc<Mutex<NvrtcProgram>>>,
}

static PROGRAMS: Mutex<Programs> = Mutex::new(Programs { created: 0, alive: BTreeMap::new() });

impl Programs {
    fn all() -> MutexGuard<'static, Programs> {
        PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A handle for a new program: no address, and never given again.
    pub fn add(program: NvrtcProgram) -> usize {
        let mut programs = Programs::all();
        programs.created += 1;
        let handle = 1 << 56 | 10 << 48 | programs.created << 4;
        programs.alive.insert(handle, Arc::new(Mutex::new(program)));
        handle
    }

    /// The program of a handle.
    pub fn get(program: usize) -> Option<Arc<Mutex<NvrtcProgram>>> {
        Programs::all().alive.get(&program).cloned()
    }

    /// Takes a program away; whether there was one.
    pub fn remove(program: usize) -> bool {
        Programs::all().alive.remove(&program).is_some()
    }
}

impl NvrtcProgram {
    /// A program that is not compiled.
    pub fn new(source: String, name: String) -> NvrtcProgram {
        NvrtcProgram { source, name, log: String::new(), image: None }
    }

    /// Compiles the text.
    pub fn compile(&mut self, options: &[String]) -> Result<(), Code> {
        self.image = None;
        self.log.clear();
        let architecture = architecture(options).map_err(|text| {
            self.log = text;
            Code::INVALID_OPTION
        })?;
        let emulator_options =
            EmulatorOptions { sanitize: driver::sanitizes(), ..EmulatorOptions::default() };
        let name = self.name.strip_suffix(".cu").unwrap_or(&self.name);
        let library = Emulator::new(emulator_options).and_then(|emulator| emulator.build(&self.source, name));
        match library {
            Ok(library) => self.image = Some(image::write(&architecture, &library)),
            Err(error) => {
                let code = match error {
                    Error::Compile { .. } => Code::COMPILATION,
                    _ => Code::INTERNAL_ERROR,
                };
                self.log = error.to_string();
                return Err(code);
            }
        }
        Ok(())
    }

    /// What the compiler said, with the zero that ends it.
    pub fn log(&self) -> Vec<u8> {
        let mut log: Vec<u8> = self.log.bytes().filter(|&byte| byte != 0).collect();
        log.push(0);
        log
    }

    /// The machine code.
    pub fn image(&self) -> Result<&[u8], Code> {
        self.image.as_deref().ok_or(Code::INVALID_PROGRAM)
    }
}
