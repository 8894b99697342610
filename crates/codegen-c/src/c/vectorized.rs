//! Loops in which a lane takes several neighbours at a time: contiguous elements are loaded and stored as one vector, all
//! loads before the first use.
//!
//! ```text
//! for (long long first = 8 * lane; first < i1; first += 2048) {
//!   const auto v0 = load<8>(n0 + x0 * i1 + first);
//!   vec<bf16, 8> y0;
//!   for (int j = 0; j < 8; j++) y0.at[j] = …  v0.at[j] …
//!   store(n1 + x0 * i1 + first, y0);
//! }
//! ```
//!
//! If a lane takes few such vectors at any sizes, all their loads come first. Without facts that neighbours are whole
//! vectors, each element is loaded by itself.

use index::{Expr, Facts};
use indexmap::IndexMap;
use kernel::{Kernel, Loop, Place, Stmt, Value, from_zero};
use ops::DType;

use super::EmitError;
use super::accesses::VectorAccesses;
use super::body::KernelWriter;
use super::dialect::{LoopShape, VectorVariable, Vectors};
use super::loops::is_same_lanes;
use super::registers::trip_count;
use super::snippet::Snippet;
use super::spelling::bare;
use super::statement::{Held, Statement};
use super::values::{Reads, Text};

/// How strips that may be beyond a loop's range are guarded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Guard {
    /// By a condition for each.
    ByStrip,
    /// By the statements of each themselves.
    None,
}

impl KernelWriter<'_> {
    /// A loop whose lanes take several neighbours at a time.
    pub(super) fn vectorized(&mut self, for_loop: &Loop) -> Result<(), EmitError> {
        let count = for_loop.end.clone() - for_loop.begin.clone();
        if !self.scope.facts.prove_divides(&Expr::constant(for_loop.width.into()), &count) {
            return self.one_by_one(for_loop);
        }
        let accesses = VectorAccesses::of(for_loop, self.kernel, &self.arrays, &self.scope.facts);
        if !accesses.loads.is_empty() || !accesses.stores.is_empty() {
            self.prelude.add(Snippet::Vec);
        }
        let trips = trip_count(for_loop, self.kernel.lanes, &self.scope.facts);
        let keeps = for_loop.body.iter().any(|statement| self.arrays.registers.of(statement).is_some());
        let Vectors { most_in_flight, most_bytes, .. } = self.dialect.vectors;
        let bytes = |trips: i64| trips * bytes_loaded(self.kernel, for_loop, &accesses);
        match trips {
            Some(trips) if accesses.fetches.len() == for_loop.body.len() => {
                self.fetched(for_loop, &accesses, trips)
            }
            _ if self.scope.guarded == Some(for_loop.var) => self.all_in_flight(for_loop, &accesses, 1),
            Some(trips) if keeps => self.all_in_flight(for_loop, &accesses, trips),
            Some(trips) if (2..=most_in_flight).contains(&trips) && bytes(trips) <= most_bytes => {
                self.all_in_flight(for_loop, &accesses, trips)
            }
            _ => self.vector_by_vector(for_loop, &accesses),
        }
    }

    /// Neighbours about which nothing is known.
    fn one_by_one(&mut self, for_loop: &Loop) -> Result<(), EmitError> {
        self.in_flight.note_lanes(self.kernel, for_loop, &for_loop.body, 1);
        let (first, end) = (self.first(for_loop)?, self.index(&for_loop.end)?);
        let Loop { width, .. } = *for_loop;
        let strip = i64::from(width) * i64::from(self.kernel.lanes);
        let long = self.dialect.index_type();
        let var = self.names.symbol(for_loop.var).to_owned();
        let condition = format!("{var} < first + {width} && {var} < {end}");
        let inner = format!("for ({long} {var} = first; {condition}; {var}++)");
        let body = self
            .list(|writer| writer.held(None, inner, for_loop, &mut |writer| writer.body(&for_loop.body)))?;
        let head = format!("for ({long} first = {first}; first < {end}; first += {strip})");
        self.lists.innermost().push(Statement::Held(Held { pragma: None, head, body }));
        Ok(())
    }

    /// One vector of each operand, then the next; some of these loops are unrolled.
    fn vector_by_vector(&mut self, for_loop: &Loop, accesses: &VectorAccesses) -> Result<(), EmitError> {
        let shape = LoopShape { in_lanes: false, is_once: false, statements: for_loop.body.len() };
        let unrolled = (self.dialect.unrolling.iterations)(&shape);
        let vectors = (unrolled / self.in_flight.iterations.max(1)).max(1);
        let pragma = (vectors > 1).then(|| (self.dialect.unrolling.pragma)(Some(vectors)));
        let loads = accesses.loads.iter().map(|&place| &for_loop.body[place]);
        self.in_flight.note_lanes(self.kernel, for_loop, loads, vectors as i64);
        let (first, end) = (self.first(for_loop)?, self.index(&for_loop.end)?);
        let strip = i64::from(for_loop.width) * i64::from(self.kernel.lanes);
        let long = self.dialect.index_type();
        let head = format!("for ({long} first = {first}; first < {end}; first += {strip})");
        self.held(pragma, head, for_loop, &mut |writer| {
            writer.loads(for_loop, &accesses.loads)?;
            writer.elements(for_loop, accesses, "")
        })
    }

    /// Loads of one vector each, which also declare it.
    fn loads(&mut self, for_loop: &Loop, places: &[usize]) -> Result<(), EmitError> {
        for &place in places {
            let (value, address) = self.loaded(for_loop, place, "first")?;
            let declared = self.dialect.vectors.declared_as;
            let of_value = |variable: &VectorVariable<'_>| declared(variable, &address);
            self.line(&self.vector(for_loop, value, &value.to_string(), of_value));
        }
        Ok(())
    }

    /// Loads all vectors of all operands, of `trips` strips, then computes with them.
    fn all_in_flight(
        &mut self,
        for_loop: &Loop,
        accesses: &VectorAccesses,
        trips: i64,
    ) -> Result<(), EmitError> {
        let for_loop = &from_zero(for_loop);
        let loads = accesses.loads.iter().map(|&place| &for_loop.body[place]);
        self.in_flight.note_lanes(self.kernel, for_loop, loads, trips);
        if self.scope.guarded == Some(for_loop.var) {
            return self.strips(for_loop, accesses, trips, Guard::None);
        }
        self.with_bounds(for_loop, trips, |writer| writer.strips(for_loop, accesses, trips, Guard::ByStrip))
    }

    /// The same, where a lane's neighbours have names.
    fn strips(
        &mut self,
        for_loop: &Loop,
        accesses: &VectorAccesses,
        trips: i64,
        guard: Guard,
    ) -> Result<(), EmitError> {
        if let Some(moves) = self.arrays.registers.moves(for_loop) {
            let of_strip = if trips == 1 { "[0]" } else { "[k]" };
            return self.each_strip(for_loop, trips, Guard::None, &mut |writer| {
                moves
                    .iter()
                    .for_each(|(to, from)| writer.line(&format!("{to}{of_strip} = {from}{of_strip};")));
                Ok(())
            });
        }
        let mut arrays = Vec::new();
        for &place in &accesses.loads {
            let value = loaded_value(for_loop, place);
            if self.arrays.registers.filled(for_loop, &for_loop.body[place]).is_none() {
                arrays.push((self.kernel.values[value], for_loop.width, format!("{value}[{trips}]")));
            }
        }
        self.declare_vectors(arrays);
        self.loads_of_strips(for_loop, accesses, trips, guard)?;
        let is_filled = |it: &&Stmt| self.arrays.registers.is_filled(for_loop, accesses, it);
        if for_loop.body.iter().filter(is_filled).count() + accesses.loads.len() == for_loop.body.len() {
            return Ok(());
        }
        let of_strip = if trips == 1 { "[0]" } else { "[k]" };
        self.each_strip(for_loop, trips, guard, &mut |writer| writer.elements(for_loop, accesses, of_strip))
    }

    /// A loop that contains only a strip, with the strip's guard around it: compilers may leave a load that has its own
    /// branch after the use of another.
    pub(super) fn with_strip_outside(&mut self, for_loop: &Loop, strip: &Loop) -> Result<(), EmitError> {
        self.with_bounds(&from_zero(strip), 1, |writer| {
            let outside = writer.scope.guarded.replace(strip.var);
            let body = writer.list(|writer| writer.for_loop(for_loop))?;
            writer.scope.guarded = outside;
            let head = "if (first < end)".to_owned();
            writer.lists.innermost().push(Statement::Held(Held { pragma: None, head, body }));
            Ok(())
        })
    }

    /// The statements that `write` writes, with names for the begin of a lane's neighbours and the end of the loop: declared
    /// at the top of the function if its loops over whole rows share them, otherwise in a scope.
    pub(super) fn with_bounds(
        &mut self,
        for_loop: &Loop,
        trips: i64,
        write: impl FnOnce(&mut Self) -> Result<(), EmitError>,
    ) -> Result<(), EmitError> {
        let (begin, end) = (self.first(for_loop)?, self.index(&for_loop.end)?);
        let name = if trips == 1 { "first" } else { "mine" };
        let bounds = format!("const int {name} = {begin}, end = {end};");
        let mut symbols = for_loop.begin.symbols();
        symbols.extend(for_loop.end.symbols());
        if symbols.iter().all(|symbol| self.kernel.arguments.contains(symbol))
            && *self.strip.get_or_insert_with(|| bounds.clone()) == bounds
        {
            return write(self);
        }
        let scope = self.list(|writer| {
            writer.line(&bounds);
            write(writer)
        })?;
        self.lists.innermost().push(Statement::Scope(scope));
        Ok(())
    }

    /// Declares vectors by the dtype and number of their elements, those that are alike together.
    pub(super) fn declare_vectors(&mut self, variables: Vec<(DType, u32, String)>) {
        let mut alike: IndexMap<(DType, u32), Vec<String>> = IndexMap::new();
        for (dtype, width, variable) in variables {
            alike.entry((dtype, width)).or_default().push(variable);
        }
        for ((dtype, width), variables) in alike {
            let (element, variable) = (self.dialect.in_memory(dtype), &variables.join(", "));
            self.line(&(self.dialect.vectors.declared)(&VectorVariable { element, width, variable }));
        }
    }

    /// The loads of all strips. There is no branch between them, as compilers may move a load that has its own branch after
    /// the use of another: lanes beyond the end load the last neighbours. There is one around them, as compilers may also
    /// move loads that surely happen; if the range cannot be empty, it tests whether a lane's last strip is within it.
    fn loads_of_strips(
        &mut self,
        for_loop: &Loop,
        accesses: &VectorAccesses,
        trips: i64,
        guard: Guard,
    ) -> Result<(), EmitError> {
        if accesses.loads.is_empty() {
            return Ok(());
        }
        let load = |writer: &mut Self, number: &str, first: &str| -> Result<(), EmitError> {
            for &place in &accesses.loads {
                let (value, address) = writer.loaded(for_loop, place, first)?;
                let array = writer.arrays.registers.vectors(for_loop, place);
                let element = format!("{array}[{number}]");
                writer.line(&writer.vector(for_loop, value, &element, |variable| {
                    (writer.dialect.vectors.load)(variable, &address)
                }));
            }
            Ok(())
        };
        if trips == 1 {
            return self.each_strip(for_loop, trips, guard, &mut |writer| load(writer, "0", "first"));
        }
        let last = format!("min(first, end - {})", for_loop.width);
        let may_be_empty = self.scope.facts.bounds(&for_loop.end).lo().is_none_or(|min| min <= 0);
        let whole = i64::from(for_loop.width) * i64::from(self.kernel.lanes) * (trips - 1);
        let condition = if may_be_empty { "end > 0".to_owned() } else { format!("mine + {whole} < end") };
        let mut strips = |first: &str| {
            self.list(|writer| {
                writer.each_strip(for_loop, trips, Guard::None, &mut |writer| load(writer, "k", first))
            })
        };
        let statement = if may_be_empty {
            Statement::Held(Held { pragma: None, head: format!("if ({condition})"), body: strips(&last)? })
        } else {
            Statement::Either { condition, then: strips("first")?, otherwise: strips(&last)? }
        };
        self.lists.innermost().push(statement);
        Ok(())
    }

    /// The statements that `write` writes for each of `trips` strips that is within the loop's range.
    pub(super) fn each_strip(
        &mut self,
        for_loop: &Loop,
        trips: i64,
        guard: Guard,
        write: &mut dyn FnMut(&mut Self) -> Result<(), EmitError>,
    ) -> Result<(), EmitError> {
        let inner = &mut |writer: &mut Self| match guard {
            Guard::ByStrip => writer.held(None, "if (first < end)".to_owned(), for_loop, write),
            Guard::None => writer.enclosed(for_loop, write),
        };
        if trips == 1 {
            return inner(self);
        }
        let strip = i64::from(for_loop.width) * i64::from(self.kernel.lanes);
        let pragma = Some((self.dialect.unrolling.pragma)(None));
        let head = format!("for (int k = 0, first = mine; k < {trips}; k++, first += {strip})");
        self.held(pragma, head, for_loop, inner)
    }

    /// The loop over a vector's elements, and its stores.
    fn elements(
        &mut self,
        for_loop: &Loop,
        accesses: &VectorAccesses,
        of_strip: &str,
    ) -> Result<(), EmitError> {
        let width = for_loop.width;
        self.loads(for_loop, &accesses.updated)?;
        let stored = |&place: &usize| match &for_loop.body[place] {
            Stmt::Store { value, .. } => self.kernel.values[*value],
            _ => unreachable!("it is a store"),
        };
        let variables = accesses.stores.iter().map(stored).enumerate();
        let variables = variables.map(|(number, dtype)| (dtype, width, format!("y{number}")));
        self.declare_vectors(variables.collect());
        self.hold(for_loop, of_strip);
        let pragma = Some((self.dialect.unrolling.pragma)(None));
        let head = format!("for (int j = 0; j < {width}; j++)");
        self.held(pragma, head, for_loop, &mut |writer| {
            writer.element_by_element(for_loop, accesses, of_strip)
        })?;
        for (number, &place) in accesses.stores.iter().enumerate() {
            let Stmt::Store { place, index, value, .. } = &for_loop.body[place] else { continue };
            let address = self.address(*place, index, for_loop, "first")?;
            let vectors = &self.dialect.vectors;
            let store = match place {
                Place::Buffer(_) => vectors.store,
                Place::Scratch(_) => vectors.store_to_scratch,
            };
            let variable = format!("y{number}");
            self.line(&self.vector(for_loop, *value, &variable, |variable| store(variable, &address)));
        }
        Ok(())
    }

    /// Keeps elements shorter than registers packed until here: compilers may unpack them as soon as they are loaded, and
    /// wait for that.
    fn hold(&mut self, for_loop: &Loop, of_strip: &str) {
        for statement in &for_loop.body {
            let Stmt::Load { value, .. } = statement else { continue };
            let is_short = self.kernel.values[*value].size() < 4
                && !self.arrays.registers.are_replaced(for_loop, statement);
            if let Some(array) = self.arrays.registers.of(statement).filter(|_| is_short) {
                self.prelude.add(Snippet::Hold);
                self.line(&format!("hold({array}{of_strip});"));
            }
        }
    }

    /// The computations on one element of each vector.
    fn element_by_element(
        &mut self,
        for_loop: &Loop,
        accesses: &VectorAccesses,
        of_strip: &str,
    ) -> Result<(), EmitError> {
        let begin = self.lists.innermost().len();
        for (place, statement) in for_loop.body.iter().enumerate() {
            let store = accesses.stores.iter().position(|&store| store == place);
            match (statement, self.arrays.registers.of(statement)) {
                (Stmt::Load { value, .. }, Some(array)) => {
                    let code = format!("{array}{of_strip}.at[j]");
                    self.stands_for(*value, code);
                    if self.arrays.registers.are_replaced(for_loop, statement) {
                        let code = self.values.take_substitute(*value);
                        self.declare(*value, &Text { code, reads: Reads::NOTHING });
                    }
                }
                (Stmt::Store { .. }, Some(_))
                    if self.arrays.registers.is_filled(for_loop, accesses, statement) => {}
                (Stmt::Store { value, .. }, Some(array)) => {
                    let text = self.values.at_use(*value).code;
                    self.line(&format!("{array}{of_strip}.at[j] = {};", bare(&text)));
                }
                (Stmt::Load { value, .. }, None) if accesses.updated.contains(&place) => {
                    self.stands_for(*value, format!("{value}.at[j]"));
                }
                (Stmt::Load { value, .. }, None) if accesses.loads.contains(&place) => {
                    let vectors = self.arrays.registers.vectors(for_loop, place);
                    self.stands_for(*value, format!("{vectors}{of_strip}.at[j]"));
                }
                (Stmt::Store { value, .. }, None) if store.is_some() => {
                    let text = self.values.at_use(*value).code;
                    self.line(&format!("y{}.at[j] = {};", store.unwrap_or_default(), bare(&text)));
                }
                (Stmt::Index { value, index }, _) if is_whole_vector(&self.scope.facts, index, for_loop) => {
                    let rest = self.index(&(index.clone() - Expr::sym(for_loop.var)))?;
                    let rest = if rest == "0" { String::new() } else { format!("{rest} + ") };
                    self.declare_index(*value, index, &format!("{rest}first | j"));
                }
                _ => self.statement(statement)?,
            }
        }
        let var = self.names.symbol(for_loop.var).to_owned();
        if self.lists.innermost()[begin..].iter().any(|statement| statement.mentions(&var)) {
            let line = format!("const {} {var} = first + j;", self.dialect.index_type());
            self.lists.innermost().insert(begin, Statement::Simple(line));
        }
        Ok(())
    }

    /// The text that `text` gives for the vector of a loop's neighbours of a value.
    fn vector(
        &self,
        for_loop: &Loop,
        value: Value,
        variable: &str,
        text: impl Fn(&VectorVariable<'_>) -> String,
    ) -> String {
        let element = self.dialect.in_memory(self.kernel.values[value]);
        text(&VectorVariable { element, width: for_loop.width, variable })
    }

    /// Substitutes an element of a vector for a value wherever it is used.
    fn stands_for(&mut self, value: Value, element: String) {
        let is_bool = self.kernel.values[value] == DType::Bool;
        self.values.substitute(value, if is_bool { format!("({element} != 0)") } else { element });
    }

    /// A value that is loaded as a vector, and the address of its first element, where the loop is at `first`.
    fn loaded(&mut self, for_loop: &Loop, place: usize, first: &str) -> Result<(Value, String), EmitError> {
        let value = loaded_value(for_loop, place);
        let Stmt::Load { place, index, .. } = &for_loop.body[place] else { unreachable!("it is a load") };
        Ok((value, self.address(*place, index, for_loop, first)?))
    }

    /// The index of a lane's first neighbours.
    fn first(&mut self, for_loop: &Loop) -> Result<String, EmitError> {
        let begin = self.index(&for_loop.begin)?;
        let begin = if for_loop.begin.is_zero() { String::new() } else { format!("{begin} + ") };
        Ok(format!("{begin}{} * {}", for_loop.width, self.lane()))
    }
}

/// The only inner loop of another one, if each lane has one strip of it, the same in all iterations.
pub(super) fn only_strip<'l>(for_loop: &'l Loop, lanes: u32, facts: &Facts) -> Option<&'l Loop> {
    let [Stmt::For(inner)] = for_loop.body.as_slice() else { return None };
    let count = inner.end.clone() - inner.begin.clone();
    let is_one = inner.width > 1
        && trip_count(inner, lanes, facts) == Some(1)
        && facts.prove_divides(&Expr::constant(inner.width.into()), &count);
    (is_one && is_same_lanes(for_loop, inner)).then_some(inner)
}

/// Bytes of a lane that the loads of a loop move each time.
fn bytes_loaded(kernel: &Kernel, for_loop: &Loop, accesses: &VectorAccesses) -> i64 {
    let size = |&place: &usize| kernel.values[loaded_value(for_loop, place)].size() as i64;
    accesses.loads.iter().map(|place| size(place) * i64::from(for_loop.width)).sum()
}

/// Whether the number of an element is the lowest bits of its index. Written that way, compilers see which elements share a
/// random block.
fn is_whole_vector(facts: &Facts, index: &Expr, for_loop: &Loop) -> bool {
    let (rest, width) = (index.clone() - Expr::sym(for_loop.var), Expr::constant(for_loop.width.into()));
    let is_multiple = |expr: &Expr| facts.prove_divides(&width, expr);
    for_loop.width.is_power_of_two()
        && !rest.symbols().contains(&for_loop.var)
        && is_multiple(&rest)
        && is_multiple(&for_loop.begin)
}

pub(super) fn loaded_value(for_loop: &Loop, place: usize) -> Value {
    let Stmt::Load { value, .. } = &for_loop.body[place] else { unreachable!("it is a load") };
    *value
}
