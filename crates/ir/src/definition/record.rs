//! The definition as the user wrote it: names, order, composites, places.
//!
//! The record is separate from the graph, where equal nodes merge and casts appear that nobody wrote. Printing a definition
//! and naming a value in a message use it.

use cranelift_entity::{PrimaryMap, entity_impl};
use index::{Expr, Facts};
use indexmap::IndexMap;
use ops::DType;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use super::{Object, SourceLine};
use crate::Span;
use crate::graph::{Axes, GroupDecl, InputLayout, Node, Val, truncate};

/// A result of a statement.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Entry(u32);
entity_impl!(Entry, "entry");

/// The record of a result.
#[derive(Clone, Debug)]
pub struct EntryData {
    /// The value in the graph.
    pub val: Val,
    /// Whether it is a scalar of the language, rather than a tensor (which may have rank 0 too).
    pub is_scalar: bool,
    /// The user's name for it.
    pub name: Option<String>,
}

/// What a statement does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Declares an input: its place in [`Record::inputs`].
    Input(usize),
    /// Applies an op.
    Call {
        op: &'static str,
        /// The parameters that do not have their default, in declared order.
        arguments: Vec<(&'static str, Object)>,
    },
    /// Returns a tensor.
    Output {
        /// The tensor.
        value: Entry,
        /// The input whose memory it is written to.
        alias: Option<Entry>,
    },
}

/// A line of the definition.
#[derive(Clone, Debug)]
pub struct Statement {
    pub action: Action,
    pub results: Vec<Entry>,
    /// The innermost group that it is in: its place in [`Record::groups`].
    pub group: Option<usize>,
    /// Its place in the source text.
    pub span: Option<Span>,
}

/// The op for a value that may fail at a call, such as a gather.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// The op that the user wrote.
    pub op: &'static str,
    /// The axis that its indices are on, of the tensor that the user gave.
    pub axis: usize,
    /// Whether negative indices count from the end.
    pub counts_from_end: bool,
    /// Its place in the source text.
    pub span: Option<Span>,
}

/// An input as declared.
#[derive(Clone, Debug, PartialEq)]
pub struct InputDecl {
    /// Its line in the record.
    pub entry: Entry,
    /// The value in the graph.
    pub val: Val,
    pub dtype: DType,
    /// Its layout; `None` for a scalar.
    pub layout: Option<DeclaredLayout>,
}

/// The declared layout of an input tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredLayout {
    /// Declared sizes: -1 symbolic, 1 broadcast, others static.
    pub shape: Vec<i64>,
    /// From the outermost axis of memory to the innermost: is there no gap between it and the next one? `None`: the axis has
    /// size 1 or is expanded (stride 0).
    pub contiguity: Vec<Option<bool>>,
    /// For each axis its rank in memory, 0 innermost. Empty: row-major.
    pub stride_order: Vec<usize>,
    /// Whether it is a scalar tensor in host memory.
    pub is_cpu: bool,
}

impl DeclaredLayout {
    /// Whether an axis was declared to be expanded: of a size that is not 1, with stride 0.
    pub fn is_expanded(&self, axis: usize) -> bool {
        self.shape[axis] != 1 && self.contiguity[self.memory_place(axis)].is_none()
    }

    /// The layout as a graph has it.
    pub fn in_graph(&self) -> InputLayout {
        let axes = 0..self.shape.len();
        let mut order: Axes = axes.clone().map(|axis| axis as u8).collect();
        order.sort_by_key(|&axis| self.memory_place(axis.into()));
        if order.is_sorted() {
            order.clear();
        }
        InputLayout {
            order,
            expanded: axes.filter(|&axis| self.is_expanded(axis)).map(|axis| axis as u8).collect(),
        }
    }

    /// The place of an axis in memory order, 0 outermost.
    pub fn memory_place(&self, axis: usize) -> usize {
        match self.stride_order.get(axis) {
            Some(rank) => self.shape.len() - 1 - rank,
            None => axis,
        }
    }
}

/// A definition as written.
#[derive(Clone, Debug, Default)]
pub struct Record {
    entries: PrimaryMap<Entry, EntryData>,
    statements: Vec<Statement>,
    inputs: Vec<InputDecl>,
    groups: Vec<GroupDecl>,
    /// The statement that declares each input.
    declarations: Vec<usize>,
    named: FxHashMap<Val, Entry>,
    sites: IndexMap<Val, Site, FxBuildHasher>,
    /// What first constrained sizes: the op and its place, by the subject of the constraint.
    demands: IndexMap<Expr, (&'static str, Option<Span>), FxBuildHasher>,
    lines: Lines,
}

/// The state of a record: how many there are of everything that calls add to it.
pub struct Mark {
    entries: usize,
    statements: usize,
    inputs: usize,
    sites: usize,
    demands: usize,
}

/// Maps places to lines.
#[derive(Clone, Debug, Default)]
struct Lines {
    /// The offset of each line of the text that places are in.
    starts: Vec<usize>,
    text_length: usize,
    /// Lines of a program that calls the builder: their places come after the text's.
    told: Vec<SourceLine>,
}

impl Lines {
    fn of_text(source: &str) -> Lines {
        let after = source.match_indices('\n').map(|(newline, _)| newline + 1);
        let starts = std::iter::once(0).chain(after).collect();
        Lines { starts, text_length: source.len(), told: Vec::new() }
    }

    fn at(&self, place: usize) -> Option<SourceLine> {
        let line = match place.checked_sub(self.text_length + 1) {
            Some(number) => self.told.get(number).cloned()?,
            None => SourceLine { file: None, line: self.starts.partition_point(|&start| start <= place) },
        };
        (line.line > 0).then_some(line)
    }

    /// The place of a line, the last one's if that is the same.
    fn tell(&mut self, line: SourceLine) -> usize {
        if self.told.last() != Some(&line) {
            self.told.push(line);
        }
        self.text_length + self.told.len()
    }
}

impl Record {
    /// The lines in order.
    pub fn statements(&self) -> &[Statement] {
        &self.statements
    }

    /// The inputs in order.
    pub fn inputs(&self) -> &[InputDecl] {
        &self.inputs
    }

    /// The groups, each after the one that it is in.
    pub fn groups(&self) -> &[GroupDecl] {
        &self.groups
    }

    /// Adds a group that the user opens; returns its place.
    pub fn add_group(&mut self, group: GroupDecl) -> usize {
        self.groups.push(group);
        self.groups.len() - 1
    }

    /// The record of a result.
    pub fn entry(&self, entry: Entry) -> &EntryData {
        &self.entries[entry]
    }

    /// The user's first name for a value.
    pub fn name_of(&self, val: Val) -> Option<&str> {
        self.named.get(&val).and_then(|&entry| self.entries[entry].name.as_deref())
    }

    /// The results that outputs depend on, as written.
    pub fn needed(&self) -> FxHashSet<Entry> {
        let mut needed = FxHashSet::default();
        for statement in self.statements.iter().rev() {
            match &statement.action {
                Action::Output { value, .. } => drop(needed.insert(*value)),
                Action::Call { arguments, .. }
                    if statement.results.iter().any(|made| needed.contains(made)) =>
                {
                    arguments.iter().for_each(|(_, argument)| {
                        argument.each_value(&mut |value| {
                            needed.insert(value.entry);
                        })
                    });
                }
                _ => {}
            }
        }
        needed
    }

    /// How diagnostics identify an input: the user's name for it, or otherwise the line that declares it.
    pub fn input_name(&self, place: usize) -> Option<String> {
        let entry = self.inputs.get(place)?.entry; // none where no line declares it
        self.entries[entry].name.clone().or_else(|| {
            let span = self.statements.get(self.declarations[place])?.span?;
            self.line_of(span).map(|line| line.to_string())
        })
    }

    /// The first op for a value with constraints on data.
    pub fn site_of(&self, val: Val) -> Option<Site> {
        self.sites.get(&val).copied()
    }

    /// The op that a node belongs to, as first called, and its place.
    pub fn call_of(&self, node: Node) -> Option<(&'static str, Option<Span>)> {
        self.statements.iter().find_map(|Statement { action, results, span, .. }| match action {
            Action::Call { op, .. } => {
                let is_behind = |&entry: &Entry| self.entries[entry].val.node >= node;
                results.iter().any(is_behind).then_some((*op, *span))
            }
            _ => None,
        })
    }

    /// A value, in words: by its name, and by the op that makes it and the line of that.
    pub fn in_words(&self, val: Val) -> String {
        let name = self.name_of(val).map(|name| format!("`{name}`"));
        let call = self.call_of(val.node).map(|(op, span)| self.op_in_words(op, span));
        match (name, call) {
            (Some(name), Some(call)) => format!("{name} ({call})"),
            (name, call) => name.or(call).unwrap_or_else(|| val.to_string()),
        }
    }

    /// The first op that uses each expression as a size, or adds a fact with that subject, in words of where it stands. What
    /// an op used before another one equated sizes is known in their present symbols as well.
    pub fn constraints(&self, facts: &Facts) -> FxHashMap<Expr, String> {
        let mut first: FxHashMap<Expr, String> = FxHashMap::default();
        for (about, &(op, span)) in &self.demands {
            let now = about.substitute(&|sym| facts.value(sym).cloned());
            for subject in [about.clone(), now] {
                first.entry(subject).or_insert_with(|| self.op_in_words(op, span));
            }
        }
        first
    }

    fn op_in_words(&self, op: &str, span: Option<Span>) -> String {
        let line = span.and_then(|span| self.line_of(span));
        line.map_or_else(|| format!("`{op}`"), |line| line.of_op(op))
    }

    /// The line of the source that a place is in.
    pub fn line_of(&self, span: Span) -> Option<SourceLine> {
        self.lines.at(span.start)
    }

    /// The place of a line, from 1, of a program that calls the builder.
    pub fn tell_line(&mut self, file: &str, line: usize) -> Span {
        let place = self.lines.tell(SourceLine { file: Some(file.to_owned()), line });
        Span::new(place, place)
    }

    /// Sets the source text, for the numbers of its lines.
    pub fn set_source(&mut self, source: &str) {
        self.lines = Lines::of_text(source);
    }

    /// Its present state.
    pub fn mark(&self) -> Mark {
        Mark {
            entries: self.entries.len(),
            statements: self.statements.len(),
            inputs: self.inputs.len(),
            sites: self.sites.len(),
            demands: self.demands.len(),
        }
    }

    /// Removes everything that was added since.
    pub fn truncate(&mut self, mark: Mark) {
        truncate(&mut self.entries, mark.entries);
        self.statements.truncate(mark.statements);
        self.inputs.truncate(mark.inputs);
        self.declarations.truncate(mark.inputs);
        self.sites.truncate(mark.sites);
        self.demands.truncate(mark.demands);
    }

    /// Whether it has this result.
    pub fn has(&self, entry: Entry) -> bool {
        self.entries.is_valid(entry)
    }

    /// Records the op for a value.
    pub fn add_site(&mut self, val: Val, site: Site) {
        self.sites.entry(val).or_insert(site);
    }

    /// Records that a value is one of another definition: errors name the op there.
    pub fn take_site(&mut self, val: Val, other: &Record, old: Val) {
        let Some(site) = other.site_of(old) else { return };
        let line = site.span.and_then(|span| other.line_of(span));
        let span = line.map(|line| self.lines.tell(line)).map(|place| Span::new(place, place));
        self.sites.insert(val, Site { span, ..site });
    }

    /// Records that an op uses an expression as a size.
    pub fn add_constraint(&mut self, about: Expr, op: &'static str, span: Option<Span>) {
        self.demands.entry(about).or_insert((op, span));
    }

    /// Records that an op added facts with these subjects.
    pub fn add_constraints(&mut self, subjects: Vec<Expr>, op: &'static str, span: Option<Span>) {
        for about in subjects {
            self.demands.entry(about).or_insert((op, span));
        }
    }

    /// A new line for a value.
    pub fn add_entry(&mut self, val: Val, is_scalar: bool) -> Entry {
        self.entries.push(EntryData { val, is_scalar, name: None })
    }

    /// Adds the next statement.
    pub fn add_statement(&mut self, statement: Statement) {
        self.statements.push(statement);
    }

    /// Adds an input, which the next statement declares.
    pub fn add_input(&mut self, input: InputDecl) -> usize {
        self.declarations.push(self.statements.len());
        self.inputs.push(input);
        self.inputs.len() - 1
    }

    /// Gives a result its name, unless it has one.
    pub fn set_name(&mut self, entry: Entry, name: &str) {
        let data = &mut self.entries[entry];
        if data.name.is_none() {
            data.name = Some(name.to_owned());
            self.named.entry(data.val).or_insert(entry);
        }
    }
}
