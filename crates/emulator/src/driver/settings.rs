//! What a test sets: the machine's properties and the faults to inject.

use super::clock;
use crate::launch::Order;

/// GiB.
const GIB: u64 = 1 << 30;

/// The settings, all of them numbers.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How many devices there are, at most 8.
    pub devices: u64,
    /// Bytes of memory of each.
    pub memory: u64,
    /// As `cuDriverGetVersion` gives it: 12090 for 12.9.
    pub driver_version: u64,
    /// In which order the threads of a block run: 0 forward, 1 reverse, from 2 on random with this seed.
    pub order: u64,
    /// The launch after this many is rejected, for want of resources.
    pub fail_launch_after: Option<u64>,
    /// The launch after this many faults when it runs.
    pub fault_launch_after: Option<u64>,
    /// The allocation after this many finds no memory.
    pub fail_alloc_after: Option<u64>,
    /// Bits of the devices that are lost.
    pub lost: u64,
    /// Whether work of two streams that nothing orders may not use the same memory, if one of them writes.
    pub races: u64,
    /// Whether NVRTC compiles with the sanitizer, which reports what C++ leaves undefined.
    pub sanitize: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            devices: 2,
            memory: 8 * GIB,
            driver_version: 12090,
            order: 0,
            fail_launch_after: None,
            fault_launch_after: None,
            fail_alloc_after: None,
            lost: 0,
            races: 0,
            sanitize: 0,
        }
    }
}

impl Settings {
    /// Sets a setting. `false` if the name or the value is unknown.
    pub fn set(&mut self, key: &str, value: u64) -> bool {
        match key {
            "devices" if value <= 8 => self.devices = value,
            "memory" => self.memory = value,
            "driver_version" => self.driver_version = value,
            "order" => self.order = value,
            "fail_launch_after" => self.fail_launch_after = Some(value),
            "fault_launch_after" => self.fault_launch_after = Some(value),
            "fail_alloc_after" => self.fail_alloc_after = Some(value),
            "lose_device" if value < 8 => self.lost |= 1 << value,
            "races" => self.races = value,
            "sanitize" => self.sanitize = value,
            "clock" => clock::run(value != 0),
            "reset" => {
                *self = Settings::default();
                clock::run(false);
            }
            _ => return false,
        }
        true
    }

    /// The order of threads.
    pub fn thread_order(&self) -> Order {
        match self.order {
            0 => Order::Forward,
            1 => Order::Reverse,
            seed => Order::Random(seed),
        }
    }
}

/// Counts down the successes left; `true` once, when none is left.
pub fn strikes(after: &mut Option<u64>) -> bool {
    match after {
        Some(0) => {
            *after = None;
            true
        }
        Some(left) => {
            *left -= 1;
            false
        }
        None => false,
    }
}
