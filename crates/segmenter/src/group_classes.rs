//! Classes of groups that are equal except for which values of the graph they are about: the same ops on the same types,
//! connected in the same way. A network of equal layers has few. All groups of a class are legal, or none is, and they cost
//! the same.

use std::sync::Arc;

use cranelift_entity::SecondaryMap;
use index::{Facts, SizeNumber, SizeTable};
use ir::graph::{Fusion, Graph, Node, TensorOp, Type, Val};
use ops::DType;
use rustc_hash::FxHashMap;

/// What a group reads, computes and makes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupRef<'a> {
    /// About the sizes of the fusion that it is a part of.
    pub facts: &'a Arc<Facts>,
    /// The values that it reads, in the order of its view.
    pub inputs: &'a [Val],
    /// The nodes that it computes, ascending.
    pub order: &'a [Node],
    /// The values that it makes, in the order of its view.
    pub made: &'a [Val],
}

impl GroupRef<'_> {
    /// Whether this is the group of a view.
    pub fn is_of(&self, view: &Fusion) -> bool {
        let made = view.outputs().iter().map(|output| output.val);
        self.inputs == view.inputs() && self.order == view.order() && made.eq(self.made.iter().copied())
    }
}

/// The number of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GroupClass(u32);

impl GroupClass {
    pub(crate) fn number(self) -> u32 {
        self.0
    }
}

/// Where a value is in a group, whichever of its class that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceInGroup {
    /// The input with this number.
    Input(usize),
    /// A result, by its number, of the node with this one.
    Computed(usize, u8),
}

impl PlaceInGroup {
    /// The place of a value of a group.
    pub fn of(view: &Fusion, val: Val) -> PlaceInGroup {
        match view.input_place(val) {
            Some(input) => PlaceInGroup::Input(input),
            None => {
                let number = view.order().binary_search(&val.node).expect("a value of the group");
                PlaceInGroup::Computed(number, val.result)
            }
        }
    }

    /// The value in this place of a group.
    pub fn val(self, view: &Fusion) -> Val {
        match self {
            PlaceInGroup::Input(input) => view.inputs()[input],
            PlaceInGroup::Computed(number, result) => Val { node: view.order()[number], result },
        }
    }
}

/// A type whose sizes are numbered, so that equal ones are the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct SimplestType {
    dtype: DType,
    shape: Box<[SizeNumber]>,
}

/// The classes of groups of a graph, for one set of facts.
#[derive(Debug)]
pub(super) struct GroupClasses {
    sizes: SizeTable,
    types: FxHashMap<SimplestType, u32>,
    /// Ops with the types of their results and the number of their operands.
    ops: FxHashMap<(TensorOp, Box<[u32]>, usize), u32>,
    /// The number of each node among `ops`, counted from one.
    nodes: SecondaryMap<Node, u32>,
    /// That of its first result among `types`, likewise.
    first_results: SecondaryMap<Node, u32>,
    /// The places of the values of the group that is looked at.
    places: SecondaryMap<Node, u32>,
    classes: FxHashMap<Box<[u32]>, GroupClass>,
    /// The number of the next class.
    next: u32,
}

impl GroupClasses {
    /// No class yet; the first has a number of its own even among those `before`.
    pub fn after(before: Option<&GroupClasses>, facts: &Arc<Facts>) -> GroupClasses {
        let (types, ops, nodes, first_results, places, classes) = Default::default();
        let next = before.map_or(0, |before| before.next);
        GroupClasses { sizes: SizeTable::new(facts), types, ops, nodes, first_results, places, classes, next }
    }

    /// Whether they are of groups with these facts.
    pub fn are_about(&self, facts: &Arc<Facts>) -> bool {
        Arc::ptr_eq(self.sizes.facts(), facts)
    }

    /// The class of a group.
    pub fn of(&mut self, graph: &Graph, group: GroupRef<'_>) -> GroupClass {
        let code = self.code(graph, group);
        let new = GroupClass(self.next);
        let class = *self.classes.entry(code).or_insert(new);
        self.next += u32::from(class == new);
        class
    }

    /// All that legality and cost depend on, as numbers: the types of inputs, and each node with the places of its operands,
    /// then the places of outputs.
    fn code(&mut self, graph: &Graph, group: GroupRef<'_>) -> Box<[u32]> {
        let GroupRef { inputs, order, made, .. } = group;
        let counts = [inputs.len(), order.len(), made.len()];
        let mut code = Vec::with_capacity(4 * counts.iter().sum::<usize>());
        code.extend(counts.map(|count| count as u32));
        let mut place = 0;
        for &input in inputs {
            code.push(self.input(graph, input));
            self.places[input.node] = place;
            place += 1;
        }
        for &node in order {
            code.push(self.node(graph, node));
            let operands = &graph.node(node).operands;
            code.extend(operands.iter().map(|&operand| self.place(graph, inputs, operand)));
            self.places[node] = place;
            place += 1;
        }
        code.extend(made.iter().map(|&val| self.place(graph, inputs, val)));
        code.into()
    }

    /// The place of a value among the inputs of a group and the nodes that it computes, with its number among the results of
    /// the node.
    fn place(&self, graph: &Graph, inputs: &[Val], val: Val) -> u32 {
        // A group may read one result of a node and compute another.
        let is_one_of_several = graph.node(val.node).results.len() > 1;
        let place = || inputs.iter().position(|&input| input == val);
        let input = if is_one_of_several { place() } else { None };
        let (place, result) = input.map_or((self.places[val.node], val.result), |place| (place as u32, 0));
        place << u8::BITS | u32::from(result)
    }

    /// The number of a node's op and types.
    fn node(&mut self, graph: &Graph, node: Node) -> u32 {
        if self.nodes[node] == 0 {
            let data = graph.node(node);
            let results: Box<[u32]> = data.results.iter().map(|ty| self.ty(ty)).collect();
            let next = self.ops.len() as u32 + 1;
            let key = (data.op.clone(), results, data.operands.len());
            self.nodes[node] = *self.ops.entry(key).or_insert(next);
        }
        self.nodes[node]
    }

    /// The number of an input's type.
    fn input(&mut self, graph: &Graph, input: Val) -> u32 {
        if input.result > 0 {
            return self.ty(graph.ty(input));
        }
        if self.first_results[input.node] == 0 {
            self.first_results[input.node] = self.ty(graph.ty(input));
        }
        self.first_results[input.node]
    }

    fn ty(&mut self, ty: &Type) -> u32 {
        let shape = ty.shape.iter().map(|size| self.sizes.number(size)).collect();
        let next = self.types.len() as u32 + 1;
        *self.types.entry(SimplestType { dtype: ty.dtype, shape }).or_insert(next)
    }
}

#[cfg(test)]
mod tests {
    use rustc_hash::FxHashSet;

    use super::*;
    use crate::segmentation::segment_view;

    /// The classes of the groups that make these ops of a definition from what they read, one op each.
    fn classes(body: &str) -> Vec<GroupClass> {
        let tensor = "fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType";
        let inputs = format!("    x = {tensor}.Float)\n    y = {tensor}.Float)\n    z = {tensor}.Double)\n");
        let source = format!("def f(fd):\n{inputs}{body}");
        let definition = frontend::text::parse(&source).expect("a definition").definition;
        let (graph, fusion) = (&definition.graph, &definition.fusion);
        let mut classes = GroupClasses::after(None, fusion.facts());
        let made: Vec<Val> = fusion.outputs().iter().map(|output| output.val).collect();
        let view = |&val: &Val| segment_view(graph, fusion, &[val], |other| made.contains(&other));
        let class = |val: &Val| {
            let view = view(val);
            let (inputs, order) = (view.inputs(), view.order());
            classes.of(graph, GroupRef { facts: fusion.facts(), inputs, order, made: &[*val] })
        };
        made.iter().map(class).collect()
    }

    fn outputs(ops: &[&str]) -> String {
        let line = |(number, op): (usize, &&str)| {
            format!("    a{number} = fd.ops.{op}\n    fd.add_output(a{number})\n")
        };
        ops.iter().enumerate().map(line).collect()
    }

    #[test]
    fn equal_groups_of_other_values_are_of_one_class() {
        let found = classes(&outputs(&["sub(x, y)", "sub(y, a0)", "sub(a0, a1)", "exp(a2)", "exp(a3)"]));
        assert!(found[0] == found[1] && found[1] == found[2]);
        assert_eq!(found[3], found[4]);
    }

    #[test]
    fn ops_types_and_order_of_operands_distinguish_groups() {
        let ops = [
            "sub(x, y)",
            "sub(y, x)",
            "add(x, y)",
            "sub(x, x)",
            "exp(x)",
            "exp(z)",
            "sum(x, [0])",
            "sum(x, [1])",
        ];
        let found = classes(&outputs(&ops));
        assert_eq!(found.iter().collect::<FxHashSet<&GroupClass>>().len(), ops.len());
    }
}
