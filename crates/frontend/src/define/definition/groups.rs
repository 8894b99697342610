//! Groups of ops: `with fd.group("norm", stay=True, device="cuda:1", stream=2):` opens one, and nodes that are added until
//! it is closed are in it.
//!
//! This file opens and closes groups, and rejects one that must stay in one segment if values leave it and come back. The
//! compiler checks whether a kernel can compute it.

use std::sync::Arc;

use ir::definition::{CallArgument, Object, Record};
use ir::graph::{DeviceStream, Fusion, Graph, GroupDecl, GroupOptions, Node, TaskData, Tasks, Val};
use ops::{Param, ParamDefault, ParamKind};
use rustc_hash::FxHashSet;

use super::DefinitionBuilder;
use crate::define::arguments::Bound;
use crate::define::error::DefineError;

const PARAMS: &[Param] = &[
    Param::required("name", ParamKind::Text),
    Param::optional("stay", ParamKind::Bool, ParamDefault::Bool(false)),
    Param::optional("device", ParamKind::Text, ParamDefault::Absent),
    Param::optional("stream", ParamKind::Int, ParamDefault::Absent),
];

/// The deepest nesting of groups that is accepted.
const MAX_DEPTH: usize = 32;

/// Which groups are open, and the group of each node.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenGroups {
    /// The innermost last.
    open: Vec<usize>,
    /// Which group was the innermost, from which node on.
    from: Vec<(usize, Option<usize>)>,
}

impl OpenGroups {
    /// Those of a finished definition: none is open.
    pub fn going_on(nodes: usize, groups: &[GroupDecl], tasks: &Tasks) -> OpenGroups {
        let mut group_of = vec![None; nodes];
        for (_, data, _) in tasks.groups() {
            let place = groups.iter().position(|group| group.name == data.name);
            data.view.order().iter().for_each(|node| group_of[node.as_u32() as usize] = place);
        }
        let mut from: Vec<(usize, Option<usize>)> = group_of.into_iter().enumerate().collect();
        from.dedup_by_key(|(_, group)| *group);
        from.push((nodes, None));
        OpenGroups { open: Vec::new(), from }
    }

    /// The innermost open group.
    pub fn innermost(&self) -> Option<usize> {
        self.open.last().copied()
    }

    /// The innermost group that was open when a node was added.
    pub fn of_node(&self, node: Node) -> Option<usize> {
        let behind = self.from.partition_point(|(first, _)| *first <= node.as_u32() as usize);
        behind.checked_sub(1).and_then(|place| self.from[place].1)
    }
}

impl DefinitionBuilder {
    /// Opens a group: `(name, stay=False, device=None, stream=None)`. One that was closed is opened again by its name and the
    /// same arguments.
    ///
    /// # Errors For arguments that do not fit, for a group that was opened with others, and for another device inside of one
    /// that stays in one segment.
    pub fn enter_group(&mut self, arguments: Vec<CallArgument>) -> Result<(), DefineError> {
        self.ops.op = "group";
        let bound = self.bind(PARAMS, arguments)?;
        let group = self.group(&bound)?;
        let known = self.ops.record.groups().iter().position(|known| known.name == group.name);
        let place = match known {
            Some(place) if self.ops.record.groups()[place] == group => place,
            Some(place) => {
                return Err(self.opened_otherwise(&bound, &self.ops.record.groups()[place], &group));
            }
            None => self.ops.record.add_group(group),
        };
        self.groups.open.push(place);
        self.groups_changed();
        Ok(())
    }

    /// Closes the innermost open group.
    pub fn leave_group(&mut self) {
        self.groups.open.pop();
        self.groups_changed();
    }

    fn groups_changed(&mut self) {
        self.ops.group = self.groups.innermost();
        self.groups.from.push((self.ops.graph.len(), self.ops.group));
    }

    fn group(&self, bound: &Bound) -> Result<GroupDecl, DefineError> {
        let parent = self.groups.innermost();
        if self.groups.open.len() >= MAX_DEPTH {
            return Err(self.ops.reject(format!("at most {MAX_DEPTH} groups in each other"), "more"));
        }
        let name = match bound.object("name") {
            Object::Text(name) if is_name(name) => name.to_string(),
            _ => return Err(bound.reject("name", "a word of letters, digits, `_`, `.`, `:` and `-`")),
        };
        let at = DeviceStream { device: device(bound)?, stream: stream(bound)? };
        self.require_stays(bound, &at)?;
        Ok(GroupDecl { name, options: GroupOptions { stay: bound.flag("stay"), at }, parent })
    }

    /// Rejects a device or stream other than that of an enclosing group that stays in one segment.
    fn require_stays(&self, bound: &Bound, at: &DeviceStream) -> Result<(), DefineError> {
        let groups = self.ops.record.groups();
        let mut around = DeviceStream::default();
        for outer in self.groups.open.iter().map(|&place| &groups[place]) {
            around = outer.options.at.or(&around);
            if outer.options.stay && at.or(&around) != around {
                let argument =
                    if at.device != around.device && at.device.is_some() { "device" } else { "stream" };
                let stays = format!("that of `{}`, which stays in one segment: {around}", outer.name);
                return Err(bound.reject(argument, &stays));
            }
        }
        Ok(())
    }

    fn opened_otherwise(&self, bound: &Bound, known: &GroupDecl, group: &GroupDecl) -> DefineError {
        let around = |group: &GroupDecl| match group.parent {
            Some(parent) => format!("in `{}`", self.ops.record.groups()[parent].name),
            None => "in no other group".to_owned(),
        };
        let was = if known.parent == group.parent { in_words(&known.options) } else { around(known) };
        bound.reject("name", &format!("a new one, as `{}` was opened {was}", known.name))
    }
}

fn in_words(options: &GroupOptions) -> String {
    let stay = if options.stay { "with stay=True" } else { "with stay=False" };
    format!("{stay}, on {}", options.at)
}

fn is_name(name: &str) -> bool {
    let suits = |c: char| c.is_ascii_alphanumeric() || "_.:-".contains(c);
    !name.is_empty() && name.len() <= 64 && name.chars().all(suits)
}

fn device(bound: &Bound) -> Result<Option<Arc<str>>, DefineError> {
    let Object::Text(device) = bound.object("device") else { return Ok(None) };
    let numbered = device.strip_prefix("cuda:").and_then(index::integer::<u32>);
    match numbered.is_some() || matches!(&**device, "cpu" | "cuda") {
        true => Ok(Some(Arc::clone(device))),
        false => Err(bound.reject("device", "\"cpu\", \"cuda\" or \"cuda:N\"")),
    }
}

fn stream(bound: &Bound) -> Result<Option<u32>, DefineError> {
    let Some(stream) = bound.object("stream").as_int() else { return Ok(None) };
    u32::try_from(stream).map(Some).map_err(|_| bound.reject("stream", "the number of a stream, from 0 on"))
}

/// Rejects a group that must stay in one segment if values leave it and come back.
pub(super) fn require_convex(
    graph: &Graph,
    fusion: &Fusion,
    record: &Record,
    tasks: &Tasks,
) -> Result<(), DefineError> {
    for (_, data, options) in tasks.groups() {
        if let Some(Detour { left, outside }) = detour(graph, fusion, data).filter(|_| options.stay) {
            let outside_node = outside.node;
            let [left, outside] = [left, outside].map(|val| record.in_words(val));
            let given = format!(
                "`{}`: {outside} is outside of it, needs {left} of it, and is needed in it",
                data.name
            );
            let place = record.call_of(outside_node).and_then(|(_, span)| span);
            let error = DefineError::new("group", "ops that can run one after the other", given).at(place);
            return Err(error.help("write what lies between inside of the group too, or leave out stay=True"));
        }
    }
    Ok(())
}

/// A value of a group, and one outside that uses it and that the group needs.
struct Detour {
    left: Val,
    outside: Val,
}

/// Where values leave a group and come back.
fn detour(graph: &Graph, fusion: &Fusion, group: &TaskData) -> Option<Detour> {
    let view = &group.view;
    let mut seen: FxHashSet<Val> = FxHashSet::default();
    let mut stack: Vec<Val> = view.inputs().to_vec();
    while let Some(outside) = stack.pop() {
        if fusion.is_input(outside) || !seen.insert(outside) {
            continue;
        }
        let operands = graph.operands(outside).iter().copied();
        let computed =
            |&val: &Val| view.contains(val.node) && !fusion.is_input(val) && !graph.operands(val).is_empty();
        if let Some(left) = operands.clone().find(computed) {
            return Some(Detour { left, outside });
        }
        stack.extend(operands);
    }
    None
}
