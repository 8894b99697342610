//! The statements of a kernel as lines of C: takes a kernel that verifies, returns the function's body and requests from the
//! prelude the functions that it calls.

use index::Expr;
use kernel::{Contractions, Kernel, Stmt, Value, joined_reductions};
use ops::{DType, Scalar, ScalarOp};

use super::EmitError;
use super::arrays::Arrays;
use super::cast::cast;
use super::dialect::{BlockWords, Dialect};
use super::hoisted::Hoisted;
use super::in_flight::InFlight;
use super::index_text::IndexWriter;
use super::names::Names;
use super::prelude::Prelude;
use super::promoted::Promoted;
use super::registers::{self, Held};
use super::rows::Lists;
use super::scope::Scope;
use super::snippet::Snippet;
use super::spelling::{bare, fill, repeats};
use super::statement::{self, Statement};
use super::values::{Reads, Text, ValueTexts};

/// The text between the braces of a kernel's function.
pub(super) struct Body {
    pub(super) lines: String,
    /// Bytes of the block's scratch, over the arguments.
    pub(super) scratch_bytes: Expr,
    /// Bytes that the lanes have in flight, over the arguments.
    pub(super) in_flight_bytes: Expr,
}

/// Writes one kernel.
pub(super) struct KernelWriter<'a> {
    pub(super) dialect: &'static Dialect,
    pub(super) kernel: &'a Kernel,
    pub(super) names: &'a Names,
    /// The number of the block that the device runs.
    block_number: &'static str,
    pub(super) prelude: &'a mut Prelude,
    /// Steps of folds that take a product used nowhere else.
    contractions: Contractions,
    pub(super) values: ValueTexts,
    pub(super) scope: Scope,
    pub(super) arrays: Arrays,
    pub(super) lists: Lists,
    pub(super) in_flight: InFlight,
    hoisted: Hoisted,
    /// Accumulators that are no variables.
    promoted: Promoted,
    /// The line that declares where a lane's neighbours begin and end in loops over whole rows.
    pub(super) strip: Option<String>,
}

impl<'a> KernelWriter<'a> {
    pub(super) fn new(
        kernel: &'a Kernel,
        names: &'a Names,
        block_number: &'static str,
        prelude: &'a mut Prelude,
    ) -> Self {
        let dialect = prelude.dialect;
        KernelWriter {
            dialect,
            kernel,
            names,
            block_number,
            prelude,
            contractions: Contractions::of_lone_products(kernel),
            values: ValueTexts::of(kernel),
            scope: Scope::of_launch(kernel, dialect),
            arrays: Arrays::of(kernel, dialect),
            lists: Lists::new(),
            in_flight: InFlight::new(),
            hoisted: Hoisted::new(kernel),
            promoted: Promoted::new(kernel),
            strip: None,
        }
    }

    /// The lines between the function's braces.
    pub(super) fn kernel_body(mut self) -> Result<Body, EmitError> {
        representable(self.kernel, &self.kernel.blocks)?;
        registers::fit(self.kernel, &self.arrays.registers, self.dialect)?;
        storage_types(self.kernel, self.prelude);
        if self.kernel.cluster > 1 {
            self.prelude.add(Snippet::Cluster);
        }
        self.scratch()?;
        self.in_flight.note(self.kernel, &self.kernel.body);
        let number = self.names.symbol(self.kernel.block);
        if self.kernel.teams > 1 {
            let blocks = self.index(&self.kernel.blocks)?;
            self.line(&format!("if ({number} >= {blocks}) return;"));
        }
        self.body(&self.kernel.body)?;
        let statements = self.lists.close();
        let declarations = self.declarations(&statements);
        let lines = statement::lines(&[declarations, statements].concat(), 1);
        Ok(Body { lines, scratch_bytes: self.arrays.layout.bytes, in_flight_bytes: self.in_flight.bytes })
    }

    /// Declarations of those of the block's number, divisions and the dialect's variables that these statements use.
    fn declarations(&self, statements: &[Statement]) -> Vec<Statement> {
        let (function, long) = (&self.dialect.function, self.dialect.index_type());
        let declare = |name: &str, text: &str| (name.to_owned(), format!("const {long} {name} = {text};"));
        let number = declare(
            self.names.symbol(self.kernel.block),
            &block_number(self.kernel, self.block_number, self.dialect.block.lane),
        );
        let divisions = self.hoisted.declarations().map(|(name, text)| declare(&name, text));
        let variables = function.variables.iter().map(|&(name, line)| (name.to_owned(), line.to_owned()));
        let strip = self.strip.iter().cloned().map(Statement::Simple);
        let mut needed: Vec<Statement> = strip.collect();
        for (name, line) in [number].into_iter().chain(divisions).chain(variables).rev() {
            if needed.iter().chain(statements).any(|later| later.mentions(&name)) {
                needed.insert(0, Statement::Simple(line));
            }
        }
        needed
    }

    fn scratch(&mut self) -> Result<(), EmitError> {
        representable(self.kernel, &self.arrays.layout.bytes)?;
        if !self.arrays.layout.offsets.is_empty() {
            self.line(self.dialect.block.scratch);
        }
        let held = self.kernel.scratch.iter().filter_map(|(array, decl)| {
            let Held { count, width, .. } =
                self.arrays.registers.get(array).filter(|held| held.place == array)?;
            Some((decl.dtype, width, format!("{array}[{count}]")))
        });
        let held: Vec<_> = held.collect();
        if !held.is_empty() {
            self.prelude.add(Snippet::Vec);
        }
        self.declare_vectors(held);
        let of_team = self.index(&self.arrays.layout.of_team.clone())?;
        let begin = match self.kernel.teams {
            1 => "smem".to_owned(),
            _ => format!("(smem + {} / {} * ({of_team}))", self.dialect.block.lane, self.kernel.lanes),
        };
        for (array, offset) in self.arrays.layout.offsets.clone() {
            let element = self.dialect.in_memory(self.kernel.scratch[array].dtype);
            let place = if offset.is_zero() {
                begin.clone()
            } else {
                format!("({begin} + {})", self.index(&offset)?)
            };
            self.line(&format!("{element}* const {array} = ({element}*){place};"));
        }
        Ok(())
    }

    pub(super) fn line(&mut self, text: &str) {
        self.lists.innermost().push(Statement::Simple(text.to_owned()));
    }

    /// The statements that `write` writes, as a separate list.
    pub(super) fn list(
        &mut self,
        write: impl FnOnce(&mut Self) -> Result<(), EmitError>,
    ) -> Result<Vec<Statement>, EmitError> {
        self.lists.open();
        let written = write(self);
        let list = self.lists.close();
        written.map(|()| list)
    }

    pub(super) fn body(&mut self, body: &[Stmt]) -> Result<(), EmitError> {
        let mut done: Vec<usize> = Vec::new();
        for (place, statement) in body.iter().enumerate() {
            match statement {
                Stmt::Reduce { .. } if done.contains(&place) => {}
                Stmt::Reduce { monoid, .. } => {
                    let joined = joined_reductions(self.kernel, body, place);
                    self.reduce(&joined.values, monoid, &joined.accumulators)?;
                    done.extend(joined.places);
                }
                Stmt::Open { accumulator, init } if self.promoted.opens(*accumulator, &body[place + 1..]) => {
                    self.values.at_use(*init);
                }
                _ => self.statement(statement)?,
            }
        }
        Ok(())
    }

    pub(super) fn statement(&mut self, statement: &Stmt) -> Result<(), EmitError> {
        match statement {
            Stmt::Apply { value, .. } if self.contractions.takes(*value) => {}
            Stmt::Apply { value, op, args } => match self.contractions.step(*value) {
                Some(step) => {
                    self.apply(*value, ScalarOp::MulAdd, &[step.factors[0], step.factors[1], step.before])?;
                }
                None => self.apply(*value, *op, args)?,
            },
            Stmt::Cast { value, arg } => self.cast(*value, *arg),
            Stmt::Const { value, constant } => {
                self.values.substitute(*value, self.dialect.literal(*constant))
            }
            Stmt::Index { value, index } => self.index_value(*value, index)?,
            Stmt::Bind { symbol, value } => {
                self.scope.bound[*symbol] = self.values.index(*value).cloned();
                let value = self.values.at_use(*value).code;
                let name = self.names.symbol(*symbol);
                self.line(&format!("const {} {name} = {};", self.dialect.index_type(), bare(&value)));
                self.lists.knows(*symbol, self.scope.in_lanes);
            }
            Stmt::Load { value, place, index, guard } => self.load(*value, *place, index, *guard)?,
            Stmt::Store { place, index, value, guard } => self.store(*place, index, *value, *guard)?,
            // No dialect has a statement for it. On GPUs other lanes run while some wait, which hides more latency.
            Stmt::Prefetch { .. } => {}
            Stmt::Fetch { scratch, index, buffer, from } => {
                self.prelude.add(Snippet::Fetch);
                let to = format!("&{}", self.element((*scratch).into(), index)?);
                let from = format!("&{}", self.element((*buffer).into(), from)?);
                self.line(&(self.dialect.asynchronous.fetch)(1, &to, &from));
            }
            Stmt::Await { pending } => {
                self.prelude.add(Snippet::AwaitFetches);
                self.line(&(self.dialect.asynchronous.wait)(*pending));
            }
            Stmt::Fault { buffer, word, value, condition } => {
                let (value, condition) =
                    (self.values.at_use(*value).code, self.values.at_use(*condition).code);
                let word = format!("&{}[{word}]", self.names.buffer(*buffer));
                let guard = self.condition(Some(condition));
                let min = self.dialect.block.atomic_min;
                self.line(&format!("{guard}{min}({word}, {});", bare(&value)));
            }
            Stmt::Open { accumulator, init } => {
                let init = self.values.at_use(*init).code;
                let type_name = (self.dialect.type_name)(self.kernel.accumulators[*accumulator]);
                let variable = format!("{accumulator} = {}", bare(&init));
                statement::declare(self.lists.innermost(), type_name, variable);
            }
            Stmt::Get { value, accumulator } => match self.promoted.reads(*value, *accumulator) {
                Some(code) => self.values.substitute(*value, code),
                None => {
                    self.define(*value, Text { code: accumulator.to_string(), reads: Reads::ACCUMULATOR })
                }
            },
            Stmt::Set { accumulator, value } => {
                if self.promoted.is_promoted(*accumulator) {
                    // Other accumulators may change before it is read.
                    self.write_pending_where(|reads| reads.accumulator);
                    if self.promoted.narrow(*value).is_none() {
                        self.write_pending(*value);
                    }
                    let code = self.values.at_use(*value).code;
                    self.promoted.sets(*accumulator, *value, code);
                    return Ok(());
                }
                let code = self.values.at_use(*value).code;
                self.write_pending_where(|reads| reads.accumulator);
                self.line(&format!("{accumulator} = {};", bare(&code)));
            }
            Stmt::Reduce { .. } => unreachable!("a body has them together"),
            Stmt::For(for_loop) => self.for_loop(for_loop)?,
            Stmt::Barrier => self.line(self.dialect.block.barrier),
        }
        Ok(())
    }

    fn apply(&mut self, value: Value, op: ScalarOp, args: &[Value]) -> Result<(), EmitError> {
        let computes = args.last().map_or(self.kernel.values[value], |&last| self.kernel.values[last]);
        let template = self.dialect.template(op, computes)?;
        let mut texts = Vec::with_capacity(args.len());
        let mut reads = Reads::NOTHING;
        for (place, &arg) in args.iter().enumerate() {
            if repeats(template, place) {
                self.write_pending(arg);
            }
            let text = self.values.at_use(arg);
            reads = reads.and(text.reads);
            texts.push(text.code);
        }
        let code = fill(op, template, &texts, self.prelude);
        self.define(value, Text { code, reads });
        Ok(())
    }

    fn cast(&mut self, value: Value, arg: Value) {
        let (from, to) = (self.kernel.values[arg], self.kernel.values[value]);
        if let Some(narrow) = self.promoted.narrow(arg).filter(|&narrow| self.kernel.values[narrow] == to) {
            self.values.substitute(value, narrow.to_string());
            return;
        }
        let text = self.values.at_use(arg);
        if (from, to) == (DType::F32, DType::F64) && text.code == arg.to_string() {
            self.promoted.widens(value, arg);
        }
        let code = cast(from, to, &text.code, self.prelude);
        self.define(value, Text { code, ..text });
    }

    fn index_value(&mut self, value: Value, index: &Expr) -> Result<(), EmitError> {
        representable(self.kernel, index)?;
        self.values.holds_index(value, index);
        if let Some(number) = index.as_const() {
            self.values.substitute(value, self.dialect.literal(Scalar::from_i64(DType::I64, number)));
        } else if let Some(symbol) = index.as_sym() {
            self.values.substitute(value, self.names.symbol(symbol).to_owned());
        } else {
            let code = self.index_writer().factor(index);
            self.define(value, Text { code, reads: Reads::NOTHING });
        }
        Ok(())
    }

    /// A value that is an index, with a line that writes it differently.
    pub(super) fn declare_index(&mut self, value: Value, index: &Expr, code: &str) {
        self.values.holds_index(value, index);
        self.declare(value, &Text { code: code.to_owned(), reads: Reads::NOTHING });
    }

    /// The condition for a lane to change memory: its guard, and in uniform code that it is the lane that stores.
    pub(super) fn condition(&self, guard: Option<String>) -> String {
        let lane = self.lane();
        match (self.scope.in_lanes, guard) {
            (true, None) => String::new(),
            (true, Some(guard)) => format!("if ({}) ", bare(&guard)),
            (false, None) => format!("if ({lane} == 0) "),
            (false, Some(guard)) => format!("if ({lane} == 0 && {guard}) "),
        }
    }

    /// Takes note of a value's text, or writes it.
    pub(super) fn define(&mut self, value: Value, text: Text) {
        if let Some(text) = self.values.define(value, text) {
            self.declare(value, &text);
        }
    }

    pub(super) fn declare(&mut self, value: Value, text: &Text) {
        let type_name = (self.dialect.type_name)(self.kernel.values[value]);
        self.line(&format!("const {type_name} {value} = {};", bare(&text.code)));
    }

    /// Writes a waiting value that is more than a word.
    fn write_pending(&mut self, value: Value) {
        if let Some(text) = self.values.take_long(value) {
            self.declare(value, &text);
        }
    }

    /// Writes the waiting values that read something, before it changes.
    pub(super) fn write_pending_where(&mut self, changes: fn(Reads) -> bool) {
        for (value, text) in self.values.take_reading(changes) {
            self.declare(value, &text);
        }
    }

    pub(super) fn index(&mut self, index: &Expr) -> Result<String, EmitError> {
        representable(self.kernel, index)?;
        Ok(self.index_writer().text(index))
    }

    /// The number of the lane in its team or cluster.
    pub(super) fn lane(&self) -> String {
        let Kernel { lanes, teams, cluster, .. } = *self.kernel;
        let BlockWords { number, lane, .. } = self.dialect.block;
        match (teams, cluster) {
            (1, 1) => lane.to_owned(),
            (1, _) => format!("({number} % {cluster} * {} + {lane})", self.kernel.threads()),
            _ => format!("({lane} % {lanes})"),
        }
    }

    fn index_writer(&mut self) -> IndexWriter<'_> {
        let hoisted = Some(&mut self.hoisted);
        IndexWriter { names: self.names, facts: &self.scope.facts, prelude: self.prelude, hoisted }
    }
}

/// The number of the block, given that of the device's block and of the lane in it: with teams it depends on the team; with a
/// cluster all of its blocks have the same.
fn block_number(kernel: &Kernel, number: &str, lane: &str) -> String {
    match *kernel {
        Kernel { teams: 1, cluster: 1, .. } => number.to_owned(),
        Kernel { teams: 1, cluster, .. } => format!("{number} / {cluster}"),
        Kernel { teams, lanes, .. } => format!("{number} * {teams}ll + {lane} / {lanes}"),
    }
}

/// Requests the names of storage types, wherever such a value or element occurs.
fn storage_types(kernel: &Kernel, prelude: &mut Prelude) {
    let values = kernel.values.values().chain(kernel.accumulators.values()).copied();
    let buffers = kernel.buffers.values().map(|decl| decl.dtype);
    let scratch = kernel.scratch.values().map(|decl| decl.dtype);
    let names = values.chain(buffers).chain(scratch).filter_map(Snippet::type_of);
    names.for_each(|name| prelude.add(name));
}

fn representable(kernel: &Kernel, index: &Expr) -> Result<(), EmitError> {
    let overflow = EmitError::IndexOverflow { kernel: kernel.name.clone() };
    if index.is_overflow() { Err(overflow) } else { Ok(()) }
}
