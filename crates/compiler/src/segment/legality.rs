//! Whether groups can be one step, asked once for each: the answer, a witness or a rejection, is kept for all who ask.
//!
//! Search, scheduling, lowering and `explain` read the same answers. A group is known by what it reads and what it makes.

use scheduler::hints::Hints;
use scheduler::legal::Rejection;
use scheduler::space::AxisTable;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use target::{Processor, Target};

use ir::graph::{Fusion, Graph, Val};
use rustc_hash::{FxHashMap, FxHashSet};

use super::engine::{Engine, engine};
use super::kept::reject_kept;

/// What runs a group, or why nothing does as one step.
pub type LegalityAnswer = Arc<Result<Engine, Rejection>>;

/// What a group reads and makes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Group {
    inputs: Box<[Val]>,
    made: Box<[Val]>,
}

impl Group {
    fn of(view: &Fusion) -> Group {
        let made = view.outputs().iter().map(|output| output.val).collect();
        Group { inputs: view.inputs().into(), made }
    }
}

#[derive(Debug, Default)]
struct Known {
    answers: FxHashMap<Group, LegalityAnswer>,
    /// The groups of which an answer had to be found.
    #[cfg(test)]
    found: Vec<Group>,
}

/// The answers about groups of one fusion.
#[derive(Clone, Debug, Default)]
pub struct Legality {
    known: Arc<Mutex<Known>>,
    /// What all groups share.
    table: Arc<Mutex<Option<AxisTable>>>,
    /// The sizes to expect and the bytes of memory that a block has, where a kernel that asks for more could not be launched.
    limit: Option<Arc<(Hints, u64)>>,
}

impl Legality {
    /// No answer yet, for a target.
    pub fn on(target: &Target, hints: &Hints) -> Legality {
        let limit = match target.processor {
            Processor::Cpu(_) => None,
            Processor::Gpu(_) => Some(Arc::new((hints.clone(), target.block_bytes))),
        };
        Legality { limit, ..Legality::default() }
    }

    /// The answer about a group.
    pub fn of(&self, graph: &Graph, view: &Fusion) -> LegalityAnswer {
        let group = Group::of(view);
        if let Some(answer) = lock(&self.known).answers.get(&group) {
            return Arc::clone(answer);
        }
        let answer = Arc::new(self.find(graph, view));
        let mut known = lock(&self.known);
        #[cfg(test)]
        known.found.push(group.clone());
        known.answers.insert(group, Arc::clone(&answer));
        answer
    }

    /// Whether a group can be one step.
    pub fn allows(&self, graph: &Graph, view: &Fusion) -> bool {
        self.of(graph, view).is_ok()
    }

    /// Drops the witnesses of all groups but these, which take much memory; rejections stay.
    pub(crate) fn keep_only<'a>(&self, views: impl Iterator<Item = &'a Fusion>) {
        let kept: FxHashSet<Group> = views.map(Group::of).collect();
        lock(&self.known).answers.retain(|group, answer| answer.is_err() || kept.contains(group));
        *lock(&self.table) = None;
    }

    fn find(&self, graph: &Graph, view: &Fusion) -> Result<Engine, Rejection> {
        let mut table = lock(&self.table);
        let known = table.take().filter(|known| known.is_about(view.facts()));
        let table = table.insert(known.unwrap_or_else(|| AxisTable::new(view.facts())));
        let engine = engine(graph, view, table)?;
        if let (Engine::Kernel(witness), Some(limit)) = (&engine, &self.limit) {
            reject_kept(graph, view, witness, limit)?;
        }
        Ok(engine)
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Hints, PlanOptions, plan};
    use scheduler::layout::LayoutClass;
    use target::Target;

    /// The groups of a definition of which answers were found.
    fn found(body: &str) -> Vec<Group> {
        let input = "    y = fd.define_tensor(shape=[-1, -1], contiguity=True)\n";
        let source = format!("def chain(fd):\n{input}{body}    fd.add_output(y)\n");
        let definition = frontend::text::parse(&source).expect("a definition").definition;
        let (graph, fusion) = (&definition.graph, &definition.fusion);
        let (target, hints) = (Target::cpu(512), Hints::default());
        let plan = plan(graph, fusion, &[LayoutClass::Dense], &target, &hints, &PlanOptions::default())
            .expect("no choices, no errors");
        assert!(plan.segments.len() > 1);
        lock(&plan.legality.known).found.clone()
    }

    /// Greedy merging, the exchange of values, schedules and lowering ask of each group once.
    #[test]
    fn an_answer_is_found_once_for_each_group() {
        let step = |number: usize| match number % 5 {
            0 => "    y = fd.ops.sub(y, fd.ops.mean(y, dims=[1], keepdim=True))\n",
            1 => "    y = fd.ops.add(y, fd.ops.sum(y, dims=[0], keepdim=True))\n",
            2 => "    y = fd.ops.permute(fd.ops.exp(y), dims=[1, 0])\n",
            _ => "    y = fd.ops.sin(y)\n",
        };
        let found = found(&(0..300).map(step).collect::<String>());
        let distinct: FxHashSet<&Group> = found.iter().collect();
        assert!(found.len() > 100);
        assert_eq!(distinct.len(), found.len());
    }

    /// Of folds of rows and columns in turn no two fit one kernel: most changes are rejected by what they cost at least.
    #[test]
    fn few_groups_are_asked_about_where_none_can_be_joined() {
        let step = |number: usize| {
            let mean = format!("fd.ops.mean(y, dims=[{}], keepdim=True)", number % 2);
            format!("    y = fd.ops.add(fd.ops.mul(fd.ops.sub(y, {mean}), 1.5), y)\n")
        };
        let found = found(&(0..25).map(step).collect::<String>());
        assert!(found.len() < 680, "{} groups", found.len());
    }
}
