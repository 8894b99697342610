//! Counts of a kernel's machine code: takes nvdisasm's text and the remarks of ptxas.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

/// The machine code of one kernel in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The name of its `__global__` function.
    pub kernel: String,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes that ptxas keeps in local memory: its stack frame.
    pub local_bytes: u32,
    /// All instructions but padding.
    pub instructions: u32,
    /// Instructions in loops, and the bytes of global memory that they move.
    pub in_loops: InLoops,
    /// Instructions of the special function unit.
    pub special: u32,
    /// Calls in loops.
    pub calls_in_loops: u32,
    /// Barriers of a block.
    pub barriers: u32,
    /// Shuffles.
    pub shuffles: u32,
    /// The most bytes of global memory that a thread loads or copies before an instruction waits for some of them.
    pub in_flight_bytes: u32,
    /// The number of loads and stores by memory and bytes.
    pub accesses: BTreeMap<MemoryAccess, u32>,
}

/// Counts of instructions in loops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InLoops {
    pub instructions: u32,
    pub bytes: u32,
}

/// A kind of access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemoryAccess {
    /// `global` or `shared`, or `global to shared` for an asynchronous copy.
    pub memory: &'static str,
    /// Whether it stores.
    pub is_store: bool,
    /// Bytes of a thread.
    pub bytes: u32,
}

impl MemoryAccess {
    fn is_global(self) -> bool {
        self.memory.starts_with("global")
    }
}

impl Counts {
    /// The counts of every kernel in a disassembly.
    pub fn of(disassembly: &str, remarks: &str) -> Vec<Counts> {
        let mut kernels: Vec<Counts> = Vec::new();
        let mut bodies: Vec<Vec<&str>> = Vec::new();
        for line in disassembly.lines() {
            if let Some(name) = line.strip_prefix(".text.").and_then(|rest| rest.strip_suffix(':')) {
                kernels.push(Counts { kernel: name.to_owned(), ..Counts::default() });
                bodies.push(Vec::new());
            } else if let Some(body) = bodies.last_mut() {
                body.push(line);
            }
        }
        for (counts, body) in kernels.iter_mut().zip(&bodies) {
            counts.count(body);
            counts.note(remarks);
        }
        kernels.sort_by(|a, b| a.kernel.cmp(&b.kernel));
        kernels
    }

    fn count(&mut self, body: &[&str]) {
        let in_loops = in_loops(body);
        self.in_flight_bytes = in_flight(body);
        for (line, &in_loop) in body.iter().zip(&in_loops) {
            let Some((opcode, operands)) = instruction(line) else { continue };
            let mut words = opcode.split('.');
            let (class, words) = (words.next().unwrap_or_default(), words.collect::<Vec<_>>());
            if class == "NOP" {
                continue;
            }
            self.instructions += 1;
            self.in_loops.instructions += u32::from(in_loop);
            match class {
                "MUFU" => self.special += 1,
                // Some architectures leave loops by calling a label.
                "CALL" => self.calls_in_loops += u32::from(in_loop && operands.contains("`($")),
                "BAR" | "UCGABAR_WAIT" => self.barriers += 1,
                "SHFL" => self.shuffles += 1,
                "LDG" | "STG" | "LDS" | "STS" | "LDGSTS" => {
                    let memory = match class {
                        "LDGSTS" => "global to shared",
                        "LDG" | "STG" => "global",
                        _ => "shared",
                    };
                    let access =
                        MemoryAccess { memory, is_store: class.starts_with('S'), bytes: bytes(&words) };
                    *self.accesses.entry(access).or_default() += 1;
                    self.in_loops.bytes += if in_loop && access.is_global() { access.bytes } else { 0 };
                }
                _ => {}
            }
        }
    }

    /// Reads ptxas's remarks about the kernel: the lines after its name.
    fn note(&mut self, remarks: &str) {
        let function = format!("Function properties for {}", self.kernel);
        let number = |text: &str| text.trim().rsplit(' ').next().and_then(|word| word.parse::<u32>().ok());
        let mut is_own = false;
        for line in remarks.lines() {
            if line.contains("Compiling entry function") {
                is_own = line.contains(&format!("'{}'", self.kernel));
            } else if line.contains("Function properties") {
                is_own = line.ends_with(&function);
            }
            if !is_own {
                continue;
            }
            if let Some((bytes, _)) = line.split_once(" bytes stack frame") {
                self.local_bytes = number(bytes).unwrap_or_default();
            }
            if let Some((count, _)) = line.split_once(" registers") {
                self.registers = number(count).unwrap_or_default();
            }
        }
    }

    /// An upper bound on instructions for each of the `bytes` that a thread moves: of the loops, if these move any, as if
    /// each ran equally often; else of all.
    pub fn instructions_per_byte(&self, bytes: f64) -> f64 {
        match self.in_loops {
            InLoops { bytes: 0, .. } => f64::from(self.instructions) / bytes.max(1.0),
            InLoops { instructions, bytes } => f64::from(instructions) / f64::from(bytes),
        }
    }

    /// The fraction of the bytes moved by loads and stores of global memory that are moved 16 at a time, from 0 to 1.
    pub fn share_of_vectors(&self) -> f64 {
        let global = self.accesses.iter().filter(|(access, _)| access.is_global());
        let (mut whole, mut all) = (0, 0);
        for (access, &count) in global {
            let bytes = access.bytes * count;
            all += bytes;
            whole += if access.bytes == 16 { bytes } else { 0 };
        }
        if all == 0 { 1.0 } else { f64::from(whole) / f64::from(all) }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { kernel, registers, local_bytes, instructions, in_flight_bytes, .. } = self;
        writeln!(
            f,
            "{kernel}: {registers} registers, {local_bytes} bytes of local memory, {instructions} instructions"
        )?;
        for (access, count) in &self.accesses {
            let verb = match access.memory {
                "global to shared" => "copies",
                _ if access.is_store => "stores",
                _ => "loads",
            };
            writeln!(f, "  {count} {verb} of {} bytes, {}", access.bytes, access.memory)?;
        }
        writeln!(f, "  {in_flight_bytes} bytes in flight")?;
        let Counts { barriers, shuffles, calls_in_loops, .. } = self;
        writeln!(f, "  {barriers} barriers, {shuffles} shuffles, {calls_in_loops} calls in loops")
    }
}

/// The opcode of a line, and its operands.
fn instruction(line: &str) -> Option<(&str, &str)> {
    let text = line.trim_start().strip_prefix("/*")?;
    let (_, text) = text.split_once("*/")?;
    let text = text.trim_start();
    let text = if text.starts_with('@') { text.split_once(' ')?.1.trim_start() } else { text };
    let (opcode, operands) = text.split_once(' ').unwrap_or((text, ""));
    let opcode = opcode.trim_end_matches(';');
    (!opcode.is_empty()).then_some((opcode, operands))
}

/// The bytes of an access, from the modifiers of its opcode.
fn bytes(modifiers: &[&str]) -> u32 {
    let of = |modifier: &&str| match *modifier {
        "U8" | "S8" => Some(1),
        "U16" | "S16" => Some(2),
        "64" => Some(8),
        "128" => Some(16),
        _ => None,
    };
    modifiers.iter().find_map(of).unwrap_or(4)
}

/// The most bytes of global memory that are loaded before an instruction uses a register of one of the loads. It then waits
/// for all earlier loads. Copies to shared memory are in flight until an instruction waits for their group.
fn in_flight(body: &[&str]) -> u32 {
    let (mut pending, mut most): (Vec<(u32, u32)>, u32) = (Vec::new(), 0);
    let mut copies = Copies::default();
    for (opcode, operands) in body.iter().filter_map(|line| instruction(line)) {
        let class = opcode.split('.').next().unwrap_or_default();
        let modifiers: Vec<&str> = opcode.split('.').skip(1).collect();
        let named = operands.split(|letter: char| !letter.is_ascii_alphanumeric());
        let mut registers = named.filter_map(|word| word.strip_prefix('R')?.parse::<u32>().ok());
        let made = if class == "LDG" { registers.next() } else { None };
        let waits = |register: u32| {
            pending.iter().position(|&(first, bytes)| (first..first + bytes.div_ceil(4)).contains(&register))
        };
        if let Some(last) = registers.filter_map(waits).max() {
            pending.drain(..=last);
        }
        if let Some(first) = made {
            pending.push((first, bytes(&modifiers)));
        }
        copies.note(class, operands, bytes(&modifiers));
        most = most.max(pending.iter().map(|(_, bytes)| bytes).sum::<u32>() + copies.bytes());
    }
    most
}

/// The asynchronous copies in flight.
#[derive(Default)]
struct Copies {
    /// Bytes of each group, oldest first.
    groups: Vec<u32>,
    /// Bytes of copies that are not yet in a group.
    open: u32,
}

impl Copies {
    /// Notes the effect of an instruction: it copies `bytes` bytes, commits a group, or waits for all groups except a number
    /// of the last.
    fn note(&mut self, class: &str, operands: &str, bytes: u32) {
        match class {
            "LDGSTS" => self.open += bytes,
            "LDGDEPBAR" => self.groups.push(std::mem::take(&mut self.open)),
            "DEPBAR" => {
                let count = operands.rsplit("0x").next().map(|text| text.trim_end_matches([' ', ';']));
                let left = count.and_then(|text| usize::from_str_radix(text, 16).ok()).unwrap_or(0);
                self.groups.drain(..self.groups.len().saturating_sub(left));
            }
            _ => {}
        }
    }

    fn bytes(&self) -> u32 {
        self.groups.iter().sum::<u32>() + self.open
    }
}

/// For each line whether it is between a label and a jump back to it.
fn in_loops(body: &[&str]) -> Vec<bool> {
    let label = |line: &str| line.strip_suffix(':').filter(|name| name.starts_with(".L_")).map(str::to_owned);
    let labels: HashMap<String, usize> =
        body.iter().enumerate().filter_map(|(place, line)| Some((label(line.trim())?, place))).collect();
    let mut inside = vec![false; body.len()];
    for (place, line) in body.iter().enumerate() {
        let Some((opcode, operands)) = instruction(line) else { continue };
        let to = operands.split_once("`(").and_then(|(_, rest)| rest.split_once(')')).map(|(name, _)| name);
        let Some(&begin) = to.filter(|_| opcode.starts_with("BRA")).and_then(|name| labels.get(name)) else {
            continue;
        };
        // The jump after the last instruction is to itself.
        if begin + 1 < place {
            inside[begin..=place].fill(true);
        }
    }
    inside
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
.text.k:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
.L_x_0:
        /*0010*/              @!P0 LDG.E.128.CONSTANT R4, desc[UR4][R2.64] ;
        /*0020*/                   CALL.REL.NOINC `($division) ;
        /*0028*/               @P0 CALL.REL.NOINC `(.L_x_1) ;
        /*0030*/               @P0 BRA `(.L_x_0) ;
        /*0040*/                   STG.E.U16 desc[UR4][R2.64], R4 ;
.L_x_1:
        /*0050*/                   BRA `(.L_x_1);
        /*0060*/                   NOP;
";

    const REMARKS: &str = "\
ptxas info    : Compiling entry function 'k' for 'sm_90'
ptxas info    : Function properties for k
ptxas         .     8 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 48 registers, used 0 barriers, 8 bytes cumulative stack size
";

    #[test]
    fn a_disassembly_is_counted() {
        let counts = &Counts::of(TEXT, REMARKS)[0];
        let expected = "\
k: 48 registers, 8 bytes of local memory, 7 instructions
  1 loads of 16 bytes, global
  1 stores of 2 bytes, global
  16 bytes in flight
  0 barriers, 0 shuffles, 1 calls in loops
";
        assert_eq!(counts.to_string(), expected);
        assert!((counts.share_of_vectors() - 16.0 / 18.0).abs() < 1e-9);
        assert!((counts.instructions_per_byte(100.0) - 4.0 / 16.0).abs() < 1e-9);
    }

    #[test]
    fn copies_are_in_flight_until_their_group_is_awaited() {
        let lines = [
            "/*0*/ LDGSTS.E.BYPASS.128 [R7], desc[UR4][R2.64] ;",
            "/*0*/ LDGDEPBAR ;",
            "/*0*/ LDGSTS.E.BYPASS.128 [R9], desc[UR4][R2.64] ;",
            "/*0*/ LDGDEPBAR ;",
            "/*0*/ DEPBAR.LE SB0, 0x1 ;",
            "/*0*/ LDGSTS.E.64 [R9], desc[UR4][R2.64] ;",
            "/*0*/ DEPBAR.LE SB0, 0x0 ;",
            "/*0*/ LDG.E.64 R4, desc[UR4][R2.64] ;",
        ];
        assert_eq!(in_flight(&lines), 32);
        assert_eq!(in_flight(&lines[4..]), 16);
    }

    #[test]
    fn loads_are_in_flight_until_one_of_their_registers_is_named() {
        let load = |register: u32| format!("/*0*/ LDG.E.64 R{register}, desc[UR4][R2.64] ;");
        let lines = [
            load(4),
            load(6),
            "/*0*/ FADD R9, R5, R8 ;".to_owned(), // waits for the first load
            load(10),
            load(12),
            "/*0*/ STG.E.64 desc[UR4][R2.64], R12 ;".to_owned(),
            load(14),
        ];
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        assert_eq!(in_flight(&lines[..3]), 16);
        assert_eq!(in_flight(&lines), 24);
        assert_eq!(in_flight(&lines[5..]), 8);
    }
}
