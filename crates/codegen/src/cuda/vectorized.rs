//! Loops in which a lane takes several neighbours at a time: what lies next to each other is loaded and stored as one
//! vector, all loads before the first use.
//!
//! ```text
//! for (long long first = 8 * threadIdx.x; first < i1; first += 2048) {
//!   const auto v0 = load<8>(n0 + x0 * i1 + first);
//!   vec<bf16, 8> y0;
//!   for (int j = 0; j < 8; j++) y0.at[j] = …  v0.at[j] …
//!   store(n1 + x0 * i1 + first, y0);
//! }
//! ```
//!
//! Where a lane takes few such vectors, whatever the sizes, the loads of all of them stand before the rest. Without facts
//! that say that neighbours are whole vectors, each element is loaded by itself.

use index::{Expr, Facts};
use ir::kernel::{Assumption, Kernel, Loop, Place, Scratch, Stmt, VECTOR_BYTES, Value, is_contiguous};
use ops::DType;

use super::EmitError;
use super::body::Writer;
use super::dtype::in_memory;
use super::names::words;
use super::prelude::Snippet;
use super::registers::trip_count;
use super::spelling::bare;

/// The most vectors of each operand that a lane loads before it uses the first.
const MOST_IN_FLIGHT: i64 = 8;

/// Bytes that a lane loads before it uses the first of them, at most: they stay in registers.
const MOST_BYTES: i64 = 256;

/// What moves as vectors in a loop: places in its body.
#[derive(Default)]
struct VectorAccesses {
    loads: Vec<usize>,
    stores: Vec<usize>,
}

/// How strips that may lie beyond a loop's range are kept from it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Guard {
    /// A condition for each.
    ByStrip,
    /// All are within it.
    None,
}

impl Writer<'_> {
    /// A loop whose lanes take several neighbours at a time.
    pub(super) fn vectorized(&mut self, for_loop: &Loop) -> Result<(), EmitError> {
        let count = for_loop.end.clone() - for_loop.begin.clone();
        if !self.facts.prove_divides(&Expr::constant(for_loop.width.into()), &count) {
            return self.one_by_one(for_loop);
        }
        let accesses = self.accesses(for_loop);
        if !accesses.loads.is_empty() || !accesses.stores.is_empty() {
            self.prelude.add(Snippet::Vec);
        }
        let trips = trip_count(for_loop, self.kernel.lanes, &self.facts);
        let keeps = self.keeps_in_registers(for_loop);
        let bytes = |trips: i64| trips * self.bytes_loaded(for_loop, &accesses);
        match trips {
            Some(trips) if keeps => self.all_in_flight(for_loop, &accesses, trips),
            Some(trips) if (2..=MOST_IN_FLIGHT).contains(&trips) && bytes(trips) <= MOST_BYTES => {
                self.all_in_flight(for_loop, &accesses, trips)
            }
            _ => self.vector_by_vector(for_loop, &accesses),
        }
    }

    /// Whether a loop accesses an array that lies in registers.
    fn keeps_in_registers(&self, for_loop: &Loop) -> bool {
        for_loop.body.iter().any(|statement| self.in_registers(statement).is_some())
    }

    /// The array in registers that a statement accesses.
    fn in_registers(&self, statement: &Stmt) -> Option<Scratch> {
        match statement {
            Stmt::Load { place: Place::Scratch(array), .. }
            | Stmt::Store { place: Place::Scratch(array), .. } => {
                Some(*array).filter(|&array| self.registers[array].is_some())
            }
            _ => None,
        }
    }

    /// Neighbours of which nothing is known.
    fn one_by_one(&mut self, for_loop: &Loop) -> Result<(), EmitError> {
        self.in_flight.note(self.kernel, &for_loop.body);
        let (first, end) = (self.first(for_loop)?, self.index(&for_loop.end)?);
        let Loop { width, .. } = *for_loop;
        let strip = i64::from(width) * i64::from(self.kernel.lanes);
        self.line(&format!("for (long long first = {first}; first < {end}; first += {strip})"));
        let var = self.names.symbol(for_loop.var).to_owned();
        let condition = format!("{var} < first + {width} && {var} < {end}");
        self.line(&format!("  for (long long {var} = first; {condition}; {var}++) {{"));
        self.enclosed(for_loop, &mut |writer| writer.body(&for_loop.body))?;
        self.line("}");
        Ok(())
    }

    /// One vector of each operand, then the next.
    fn vector_by_vector(&mut self, for_loop: &Loop, accesses: &VectorAccesses) -> Result<(), EmitError> {
        self.in_flight.note_vectors(self.kernel, for_loop, &accesses.loads, 1);
        let (first, end) = (self.first(for_loop)?, self.index(&for_loop.end)?);
        let strip = i64::from(for_loop.width) * i64::from(self.kernel.lanes);
        self.line(&format!("for (long long first = {first}; first < {end}; first += {strip}) {{"));
        self.enclosed(for_loop, &mut |writer| {
            for &place in &accesses.loads {
                let (value, address) = writer.loaded(for_loop, place)?;
                writer.line(&format!("const auto {value} = load<{}>({address});", for_loop.width));
            }
            writer.elements(for_loop, accesses, "")
        })?;
        self.line("}");
        Ok(())
    }

    /// All vectors of all operands, of so many strips, then what is done with them.
    fn all_in_flight(
        &mut self,
        for_loop: &Loop,
        accesses: &VectorAccesses,
        trips: i64,
    ) -> Result<(), EmitError> {
        self.in_flight.note_vectors(self.kernel, for_loop, &accesses.loads, trips);
        let (begin, end) = (self.first(for_loop)?, self.index(&for_loop.end)?);
        let width = for_loop.width;
        let name = if trips == 1 { "first" } else { "mine" };
        self.line("{");
        self.depth += 1;
        self.line(&format!("const long long {name} = {begin}, end = {end};"));
        for &place in &accesses.loads {
            let value = loaded_value(for_loop, place);
            let dtype = in_memory(self.kernel.values[value]);
            self.line(&format!("vec<{dtype}, {width}> {value}[{trips}];"));
        }
        self.loads_of_strips(for_loop, accesses, trips)?;
        let of_strip = if trips == 1 { "[0]" } else { "[k]" };
        self.each_strip(for_loop, trips, Guard::ByStrip, &mut |writer| {
            writer.elements(for_loop, accesses, of_strip)
        })?;
        self.depth -= 1;
        self.line("}");
        Ok(())
    }

    /// The loads of all strips. Without a branch between them where the last strip is in the loop's range: ptxas may move a load
    /// that has a branch of its own behind the use of another.
    fn loads_of_strips(
        &mut self,
        for_loop: &Loop,
        accesses: &VectorAccesses,
        trips: i64,
    ) -> Result<(), EmitError> {
        if accesses.loads.is_empty() {
            return Ok(());
        }
        let width = for_loop.width;
        let number = if trips == 1 { "0" } else { "k" };
        let loads = &mut |writer: &mut Self| {
            for &place in &accesses.loads {
                let (value, address) = writer.loaded(for_loop, place)?;
                writer.line(&format!("{value}[{number}] = load<{width}>({address});"));
            }
            Ok(())
        };
        if trips == 1 {
            return self.each_strip(for_loop, trips, Guard::ByStrip, loads);
        }
        let last = i64::from(width) * i64::from(self.kernel.lanes) * (trips - 1);
        self.line(&format!("if (mine + {last} < end) {{"));
        self.depth += 1;
        self.each_strip(for_loop, trips, Guard::None, loads)?;
        self.depth -= 1;
        self.line("} else {");
        self.depth += 1;
        self.each_strip(for_loop, trips, Guard::ByStrip, loads)?;
        self.depth -= 1;
        self.line("}");
        Ok(())
    }

    /// What `write` writes for each of so many strips, where it is within the loop's range.
    fn each_strip(
        &mut self,
        for_loop: &Loop,
        trips: i64,
        guard: Guard,
        write: &mut dyn FnMut(&mut Self) -> Result<(), EmitError>,
    ) -> Result<(), EmitError> {
        let strip = i64::from(for_loop.width) * i64::from(self.kernel.lanes);
        if trips > 1 {
            self.line("#pragma unroll");
            self.line(&format!("for (int k = 0; k < {trips}; k++) {{"));
            self.depth += 1;
            self.line(&format!("const long long first = mine + {strip} * k;"));
        }
        if guard == Guard::ByStrip {
            self.line("if (first < end) {");
        }
        self.depth -= usize::from(guard == Guard::None);
        self.enclosed(for_loop, write)?;
        self.depth += usize::from(guard == Guard::None);
        if guard == Guard::ByStrip {
            self.line("}");
        }
        if trips > 1 {
            self.depth -= 1;
            self.line("}");
        }
        Ok(())
    }

    /// The loop over a vector's elements, and its stores.
    fn elements(
        &mut self,
        for_loop: &Loop,
        accesses: &VectorAccesses,
        of_strip: &str,
    ) -> Result<(), EmitError> {
        let width = for_loop.width;
        for (number, &place) in accesses.stores.iter().enumerate() {
            let Stmt::Store { value, .. } = &for_loop.body[place] else { continue };
            let dtype = in_memory(self.kernel.values[*value]);
            self.line(&format!("vec<{dtype}, {width}> y{number};"));
        }
        self.line("#pragma unroll");
        self.line(&format!("for (int j = 0; j < {width}; j++) {{"));
        self.depth += 1;
        let begin = self.lines.len();
        for (place, statement) in for_loop.body.iter().enumerate() {
            let store = accesses.stores.iter().position(|&store| store == place);
            match (statement, self.in_registers(statement)) {
                (Stmt::Load { value, .. }, Some(array)) => {
                    self.stands_for(*value, format!("{array}{of_strip}.at[j]"));
                }
                (Stmt::Store { value, .. }, Some(array)) => {
                    let text = self.operand(*value).code;
                    self.line(&format!("{array}{of_strip}.at[j] = {};", bare(&text)));
                }
                (Stmt::Load { value, .. }, None) if accesses.loads.contains(&place) => {
                    self.stands_for(*value, format!("{value}{of_strip}.at[j]"));
                }
                (Stmt::Store { value, .. }, None) if store.is_some() => {
                    let text = self.operand(*value).code;
                    self.line(&format!("y{}.at[j] = {};", store.unwrap_or_default(), bare(&text)));
                }
                _ => self.statement(statement)?,
            }
        }
        let var = self.names.symbol(for_loop.var).to_owned();
        if words(&self.lines[begin..]).any(|word| word == var) {
            let line = format!("{}const long long {var} = first + j;\n", "  ".repeat(self.depth));
            self.lines.insert_str(begin, &line);
        }
        self.depth -= 1;
        self.line("}");
        for (number, &place) in accesses.stores.iter().enumerate() {
            let Stmt::Store { place, index, value, .. } = &for_loop.body[place] else { continue };
            let address = self.address(*place, index, for_loop)?;
            let dtype = in_memory(self.kernel.values[*value]);
            self.line(&match place {
                Place::Buffer(_) => format!("store({address}, y{number});"),
                Place::Scratch(_) => format!("*(vec<{dtype}, {width}>*)({address}) = y{number};"),
            });
        }
        Ok(())
    }

    /// Writes an element of a vector wherever a value is used.
    fn stands_for(&mut self, value: Value, element: String) {
        let is_bool = self.kernel.values[value] == DType::Bool;
        self.literals[value] = Some(if is_bool { format!("({element} != 0)") } else { element });
    }

    /// A value that is loaded as a vector, and the address of its first element.
    fn loaded(&mut self, for_loop: &Loop, place: usize) -> Result<(Value, String), EmitError> {
        let value = loaded_value(for_loop, place);
        let Stmt::Load { place, index, .. } = &for_loop.body[place] else { unreachable!("it is a load") };
        Ok((value, self.address(*place, index, for_loop)?))
    }

    /// The address of the first of some neighbours.
    fn address(&mut self, place: Place, index: &Expr, for_loop: &Loop) -> Result<String, EmitError> {
        let rest = index.clone() - Expr::sym(for_loop.var);
        let rest = if rest.is_zero() { String::new() } else { format!(" + {}", self.index(&rest)?) };
        Ok(format!("{}{rest} + first", self.place_name(place)))
    }

    /// Where a lane's first neighbours begin.
    fn first(&mut self, for_loop: &Loop) -> Result<String, EmitError> {
        let begin = self.index(&for_loop.begin)?;
        let begin = if for_loop.begin.is_zero() { String::new() } else { format!("{begin} + ") };
        Ok(format!("{begin}{} * threadIdx.x", for_loop.width))
    }

    fn bytes_loaded(&self, for_loop: &Loop, accesses: &VectorAccesses) -> i64 {
        let size = |&place: &usize| self.kernel.values[loaded_value(for_loop, place)].size() as i64;
        accesses.loads.iter().map(|place| size(place) * i64::from(for_loop.width)).sum()
    }

    /// The accesses of a loop that move whole vectors: those without a guard whose neighbours lie at aligned places, and which
    /// no other access of the loop could see before or after the others.
    fn accesses(&self, for_loop: &Loop) -> VectorAccesses {
        let bound: Vec<_> = for_loop
            .body
            .iter()
            .filter_map(|statement| match statement {
                Stmt::Bind { symbol, .. } => Some(*symbol),
                _ => None,
            })
            .collect();
        let mut accesses = VectorAccesses::default();
        for (number, statement) in for_loop.body.iter().enumerate() {
            let (place, index, list) = match statement {
                _ if self.in_registers(statement).is_some() => continue,
                Stmt::Load { place, index, guard: None, .. } => (*place, index, &mut accesses.loads),
                Stmt::Store { place, index, guard: None, .. } => (*place, index, &mut accesses.stores),
                _ => continue,
            };
            let is_outside = bound.iter().all(|&symbol| !index.mentions(symbol));
            let is_alone = matches!(place, Place::Buffer(_)) || count_accesses(&for_loop.body, place) == 1;
            if is_outside && is_alone && self.is_aligned(for_loop, place, index) {
                list.push(number);
            }
        }
        accesses
    }

    /// Whether the neighbours of an access lie next to each other, from an address on that allows a vector.
    fn is_aligned(&self, for_loop: &Loop, place: Place, index: &Expr) -> bool {
        let (size, align) = match place {
            Place::Buffer(buffer) => {
                let decl = &self.kernel.buffers[buffer];
                (decl.dtype.size() as u32, decl.align)
            }
            Place::Scratch(scratch) => {
                let at = |(array, offset): &(Scratch, Expr)| {
                    *array == scratch
                        && self.facts.prove_divides(&Expr::constant(VECTOR_BYTES.into()), offset)
                };
                let whole = self.shared.offsets.iter().any(at);
                let size = self.kernel.scratch[scratch].dtype.size() as u32;
                (size, if whole { VECTOR_BYTES } else { size })
            }
        };
        let bytes = (size * for_loop.width).min(VECTOR_BYTES);
        let elements = Expr::constant(i64::from(bytes / size));
        let first = index.substitute(&|symbol| (symbol == for_loop.var).then(|| for_loop.begin.clone()));
        align >= bytes && is_contiguous(index, for_loop.var) && self.facts.prove_divides(&elements, &first)
    }
}

/// What a launch is known to be like from the assumptions of its kernel.
pub(super) fn assumed(kernel: &Kernel) -> Facts {
    let mut facts = Facts::new();
    facts.assume_range(kernel.block, 0, None);
    for &assumption in &kernel.assumptions {
        match assumption {
            Assumption::Multiple { symbol, of } => facts.assume_multiple(&Expr::sym(symbol), of),
            Assumption::AtMost { symbol, most } => facts.assume_range(symbol, 0, most),
        }
    }
    facts
}

fn loaded_value(for_loop: &Loop, place: usize) -> Value {
    let Stmt::Load { value, .. } = &for_loop.body[place] else { unreachable!("it is a load") };
    *value
}

/// How many statements access a place, those of loops within included.
fn count_accesses(body: &[Stmt], wanted: Place) -> usize {
    let of = |statement: &Stmt| match statement {
        Stmt::Load { place, .. } | Stmt::Store { place, .. } => usize::from(*place == wanted),
        Stmt::For(inner) => count_accesses(&inner.body, wanted),
        _ => 0,
    };
    body.iter().map(of).sum()
}
