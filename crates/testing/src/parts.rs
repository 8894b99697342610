//! Random connected parts of definitions, and invariants of each: a rejection for a reason that is marked monotone also
//! holds for every larger part, and legal parts can be lowered.

use std::collections::BTreeSet;

use compiler::{Plan, PlanOptions, PlanRequest, plan};
use ir::graph::{Fusion, Graph, Node, TensorOp};
use ir::layout::{LayoutClass, SegmentLayouts};
use lowering::{Group, lower};
use scheduler::hints::Hints;
use scheduler::schedule::{Workload, choose};
use segmenter::{Engine, Legality};
use target::Target;

use crate::random::Draws;

/// The limit on ops of a part.
const LARGEST: usize = 120;

/// One in this many parts is lowered, as that takes a hundred times as long.
const LOWERED: usize = 16;

/// The counts over the parts of a definition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartTally {
    /// How many were drawn.
    pub parts: usize,
    /// How many one step can compute.
    pub legal: usize,
    /// How many of these were lowered.
    pub lowered: usize,
    /// How many rejections are monotone.
    pub monotone: usize,
}

/// The plan of the definition in a text, for a CPU with 512-bit vectors.
///
/// # Panics
/// When the text is no definition; `name` says which.
pub fn planned(name: &str, text: &str) -> Plan {
    let parsed = frontend::text::parse(text).unwrap_or_else(|error| panic!("{name}: {error:?}"));
    let (graph, fusion) = (&parsed.definition.graph, &parsed.definition.fusion);
    let request = PlanRequest {
        graph,
        fusion,
        tasks: &parsed.definition.tasks,
        layouts: &vec![LayoutClass::Dense; fusion.inputs().len()],
        target: &Target::cpu(512),
        hints: &Hints::default(),
        options: &PlanOptions::default(),
    };
    plan(request).unwrap_or_else(|error| panic!("{name}: {error}"))
}

impl PartTally {
    /// The counts for `parts` parts of a definition after the passes.
    ///
    /// # Panics
    /// When an invariant does not hold for a part.
    pub fn of(plan: &Plan, parts: usize, seed: u64) -> PartTally {
        let (graph, fusion) = (&plan.graph, &plan.computed);
        let (legality, mut draws, mut tally) = (Legality::default(), Draws::new(seed), PartTally::default());
        while tally.parts < parts {
            let small = draw(graph, fusion, &BTreeSet::new(), &mut draws);
            let large = draw(graph, fusion, &small, &mut draws);
            tally.add(&legality, plan, [&small, &large]);
        }
        tally
    }

    fn add(&mut self, legality: &Legality, plan: &Plan, nodes: [&BTreeSet<Node>; 2]) {
        let graph = &plan.graph;
        let views = nodes.map(|nodes| {
            let nodes: Vec<Node> = nodes.iter().copied().collect();
            plan.computed.of_nodes(graph, &nodes)
        });
        let [Some(small), Some(large)] = views else {
            self.parts += 2;
            return;
        };
        let [inner, outer] = [&small, &large].map(|view| legality.of(graph, view));
        if let Err(rejection) = &*inner
            && rejection.is_monotone
        {
            self.monotone += 1;
            let text = format!("{} {}", rejection.val, rejection.reason);
            assert!(outer.is_err(), "{text} in {:?}, and not in {:?}", nodes[0], nodes[1]);
        }
        for (view, answer) in [(&small, &inner), (&large, &outer)] {
            self.parts += 1;
            self.legal += usize::from(answer.is_ok());
            if let Ok(Engine::Kernel(witness)) = &**answer
                && self.legal % LOWERED == 1
            {
                self.lowered += 1;
                let (inputs, stores) = (view.inputs().len(), view.outputs().len());
                let (inputs, stores) = (vec![LayoutClass::Dense; inputs], vec![LayoutClass::Dense; stores]);
                let memory = SegmentLayouts { inputs: &inputs, stores: &stores };
                let (target, hints) = (&Target::cpu(512), &Hints::default());
                let schedule = choose(&Workload { graph, view, witness, memory, target, hints });
                let (layouts, stores, name) = (&inputs[..], &stores[..], "part");
                let schedule = &schedule;
                let group = Group { graph, view, witness, schedule, layouts, stores, general: false, name };
                let lowered = lower(&group);
                assert!(lowered.is_ok(), "{:?} is legal and not lowered: {lowered:?}", view.order());
            }
        }
    }
}

/// `parts` connected parts of a definition after the passes, with this many ops each if there are as many.
pub fn views(plan: &Plan, parts: usize, ops: usize, seed: u64) -> Vec<Fusion> {
    let mut draws = Draws::new(seed);
    let view = |_| {
        let nodes = grow(&plan.graph, &plan.computed, BTreeSet::new(), ops, &mut draws);
        let nodes: Vec<Node> = nodes.into_iter().collect();
        plan.computed.of_nodes(&plan.graph, &nodes)
    };
    (0..parts).filter_map(view).collect()
}

/// A connected part around another, or around any node.
fn draw(graph: &Graph, fusion: &Fusion, around: &BTreeSet<Node>, draws: &mut Draws) -> BTreeSet<Node> {
    let wanted = around.len() + draws.between(1, LARGEST / 2);
    grow(graph, fusion, around.clone(), wanted, draws)
}

/// Adds neighbouring nodes to a part until it has as many as requested.
fn grow(
    graph: &Graph,
    fusion: &Fusion,
    mut part: BTreeSet<Node>,
    wanted: usize,
    draws: &mut Draws,
) -> BTreeSet<Node> {
    if part.is_empty() {
        part.insert(draws.one_of(fusion.order()));
    }
    let mut border: Vec<Node> = part.iter().flat_map(|&node| neighbours(graph, fusion, node)).collect();
    while part.len() < wanted && !border.is_empty() {
        let next = border.swap_remove(draws.below(border.len()));
        if part.insert(next) {
            border.extend(neighbours(graph, fusion, next));
        }
    }
    part
}

/// The users of a node's results and the nodes that make its operands; constants are left out, as they may be anywhere.
fn neighbours(graph: &Graph, fusion: &Fusion, node: Node) -> Vec<Node> {
    let is_leaf = |node: &Node| matches!(graph.node(*node).op, TensorOp::Constant(_) | TensorOp::Size(_));
    let users = graph.results(node).flat_map(|val| fusion.uses(val)).copied();
    let operands = graph.node(node).operands.iter().filter(|val| !fusion.is_input(**val));
    users.chain(operands.map(|val| val.node)).filter(|node| !is_leaf(node)).collect()
}
