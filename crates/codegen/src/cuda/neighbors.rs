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

use index::{Atom, Expr, Facts};
use ir::kernel::{Kernel, Loop, Place, Scratch, Stmt, VECTOR_BYTES, Value, is_contiguous};
use ops::DType;

use super::body::Writer;
use super::dtype::in_memory;
use super::names::words;
use super::prelude::Snippet;
use super::spelling::bare;
use super::{EmitError, shared};

/// The most vectors of each operand that a lane loads before it uses the first.
const MOST_IN_FLIGHT: i64 = 8;

/// Bytes that a lane loads before it uses the first of them, at most: they stay in registers.
const MOST_BYTES: i64 = 256;

/// What moves as vectors in a loop: places in its body.
#[derive(Default)]
struct Vectors {
    loads: Vec<usize>,
    stores: Vec<usize>,
}

impl Writer<'_> {
    /// A loop whose lanes take several neighbours at a time.
    pub(super) fn neighbors(&mut self, for_loop: &Loop) -> Result<(), EmitError> {
        let count = for_loop.end.clone() - for_loop.begin.clone();
        if !self.facts.prove_divides(&Expr::constant(for_loop.width.into()), &count) {
            return self.one_by_one(for_loop);
        }
        let vectors = self.vectors(for_loop);
        if !vectors.loads.is_empty() || !vectors.stores.is_empty() {
            self.prelude.add(Snippet::Vec);
        }
        let strip = i64::from(for_loop.width) * i64::from(self.kernel.lanes);
        let most = self.most_of(for_loop);
        let trips = most.map(|most| most.div_euclid(strip) + i64::from(most.rem_euclid(strip) > 0));
        let bytes = |trips: i64| trips * self.bytes_loaded(for_loop, &vectors);
        match trips {
            Some(trips) if (2..=MOST_IN_FLIGHT).contains(&trips) && bytes(trips) <= MOST_BYTES => {
                self.all_in_flight(for_loop, &vectors, trips)
            }
            _ => self.vector_by_vector(for_loop, &vectors),
        }
    }

    /// Neighbours of which nothing is known.
    fn one_by_one(&mut self, for_loop: &Loop) -> Result<(), EmitError> {
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
    fn vector_by_vector(&mut self, for_loop: &Loop, vectors: &Vectors) -> Result<(), EmitError> {
        let (first, end) = (self.first(for_loop)?, self.index(&for_loop.end)?);
        let strip = i64::from(for_loop.width) * i64::from(self.kernel.lanes);
        self.line(&format!("for (long long first = {first}; first < {end}; first += {strip}) {{"));
        self.enclosed(for_loop, &mut |writer| {
            for &place in &vectors.loads {
                let (value, address) = writer.loaded(for_loop, place)?;
                writer.line(&format!("const auto {value} = load<{}>({address});", for_loop.width));
            }
            writer.elements(for_loop, vectors, "")
        })?;
        self.line("}");
        Ok(())
    }

    /// All vectors of all operands, of so many strips, then what is done with them.
    fn all_in_flight(&mut self, for_loop: &Loop, vectors: &Vectors, trips: i64) -> Result<(), EmitError> {
        let (from, end) = (self.first(for_loop)?, self.index(&for_loop.end)?);
        let width = for_loop.width;
        let strip = i64::from(width) * i64::from(self.kernel.lanes);
        self.line("{");
        self.depth += 1;
        self.line(&format!("const long long mine = {from}, end = {end};"));
        for &place in &vectors.loads {
            let value = loaded_value(for_loop, place);
            let dtype = in_memory(self.kernel.values[value]);
            self.line(&format!("vec<{dtype}, {width}> {value}[{trips}];"));
        }
        let first = format!("const long long first = mine + {strip} * k;");
        let head = format!("for (int k = 0; k < {trips}; k++) {{");
        if !vectors.loads.is_empty() {
            self.line("#pragma unroll");
            self.line(&head);
            self.depth += 1;
            self.line(&first);
            self.line("if (first < end) {");
            self.depth += 1;
            for &place in &vectors.loads {
                let (value, address) = self.loaded(for_loop, place)?;
                self.line(&format!("{value}[k] = load<{width}>({address});"));
            }
            self.depth -= 1;
            self.line("}");
            self.depth -= 1;
            self.line("}");
        }
        self.line("#pragma unroll");
        self.line(&head);
        self.depth += 1;
        self.line(&first);
        self.line("if (first < end) {");
        self.enclosed(for_loop, &mut |writer| writer.elements(for_loop, vectors, "[k]"))?;
        self.line("}");
        self.depth -= 1;
        self.line("}");
        self.depth -= 1;
        self.line("}");
        Ok(())
    }

    /// The loop over a vector's elements, and its stores.
    fn elements(&mut self, for_loop: &Loop, vectors: &Vectors, of_strip: &str) -> Result<(), EmitError> {
        let width = for_loop.width;
        for (number, &place) in vectors.stores.iter().enumerate() {
            let Stmt::Store { value, .. } = &for_loop.body[place] else { continue };
            let dtype = in_memory(self.kernel.values[*value]);
            self.line(&format!("vec<{dtype}, {width}> y{number};"));
        }
        self.line("#pragma unroll");
        self.line(&format!("for (int j = 0; j < {width}; j++) {{"));
        self.depth += 1;
        let begin = self.lines.len();
        for (place, statement) in for_loop.body.iter().enumerate() {
            let store = vectors.stores.iter().position(|&store| store == place);
            match statement {
                Stmt::Load { value, .. } if vectors.loads.contains(&place) => {
                    let element = format!("{value}{of_strip}.at[j]");
                    let is_bool = self.kernel.values[*value] == DType::Bool;
                    self.literals[*value] = Some(if is_bool { format!("({element} != 0)") } else { element });
                }
                Stmt::Store { value, .. } if store.is_some() => {
                    let text = self.operand(*value).code;
                    self.line(&format!("y{}.at[j] = {};", store.unwrap_or_default(), bare(&text)));
                }
                other => self.statement(other)?,
            }
        }
        let var = self.names.symbol(for_loop.var).to_owned();
        if words(&self.lines[begin..]).any(|word| word == var) {
            let line = format!("{}const long long {var} = first + j;\n", "  ".repeat(self.depth));
            self.lines.insert_str(begin, &line);
        }
        self.depth -= 1;
        self.line("}");
        for (number, &place) in vectors.stores.iter().enumerate() {
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

    fn bytes_loaded(&self, for_loop: &Loop, vectors: &Vectors) -> i64 {
        let size = |&place: &usize| self.kernel.values[loaded_value(for_loop, place)].size() as i64;
        vectors.loads.iter().map(|place| size(place) * i64::from(for_loop.width)).sum()
    }

    /// The most iterations of a loop, where sizes do not matter.
    fn most_of(&self, for_loop: &Loop) -> Option<i64> {
        let count = |end: &Expr| end.clone() - for_loop.begin.clone();
        let of_bounds = self.facts.bounds(&count(&for_loop.end)).hi().and_then(|hi| i64::try_from(hi).ok());
        let Some(Atom::Min(a, b)) = for_loop.end.as_atom() else { return of_bounds };
        of_bounds.into_iter().chain([a, b].into_iter().filter_map(|end| count(end).as_const())).min()
    }

    /// The accesses of a loop that move whole vectors: those without a guard whose neighbours lie at aligned places, and which
    /// no other access of the loop could see before or after the others.
    fn vectors(&mut self, for_loop: &Loop) -> Vectors {
        let bound: Vec<_> = for_loop
            .body
            .iter()
            .filter_map(|statement| match statement {
                Stmt::Bind { symbol, .. } => Some(*symbol),
                _ => None,
            })
            .collect();
        let mut vectors = Vectors::default();
        for (number, statement) in for_loop.body.iter().enumerate() {
            let (place, index, list) = match statement {
                Stmt::Load { place, index, guard: None, .. } => (*place, index, &mut vectors.loads),
                Stmt::Store { place, index, guard: None, .. } => (*place, index, &mut vectors.stores),
                _ => continue,
            };
            let is_outside = bound.iter().all(|&symbol| !index.mentions(symbol));
            let is_alone = matches!(place, Place::Buffer(_)) || accesses(&for_loop.body, place) == 1;
            if is_outside && is_alone && self.is_aligned(for_loop, place, index) {
                list.push(number);
            }
        }
        vectors
    }

    /// Whether the neighbours of an access lie next to each other, from an address on that allows a vector.
    fn is_aligned(&self, for_loop: &Loop, place: Place, index: &Expr) -> bool {
        let (size, align) = match place {
            Place::Buffer(buffer) => {
                let decl = &self.kernel.buffers[buffer];
                (decl.dtype.size() as u32, decl.align)
            }
            Place::Scratch(scratch) => {
                let offsets = shared::layout(self.kernel).offsets;
                let at = |(array, offset): &(Scratch, Expr)| {
                    *array == scratch
                        && self.facts.prove_divides(&Expr::constant(VECTOR_BYTES.into()), offset)
                };
                let whole = offsets.iter().any(at);
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
    for assumption in &kernel.assumptions {
        facts.assume_multiple(&Expr::sym(assumption.symbol), assumption.of);
    }
    facts
}

fn loaded_value(for_loop: &Loop, place: usize) -> Value {
    let Stmt::Load { value, .. } = &for_loop.body[place] else { unreachable!("it is a load") };
    *value
}

/// How many statements access a place, those of loops within included.
fn accesses(body: &[Stmt], wanted: Place) -> usize {
    let of = |statement: &Stmt| match statement {
        Stmt::Load { place, .. } | Stmt::Store { place, .. } => usize::from(*place == wanted),
        Stmt::For(inner) => accesses(&inner.body, wanted),
        _ => 0,
    };
    body.iter().map(of).sum()
}
