//! Whether groups can be one step, computed once for each: the answer, a witness or a rejection, is cached for all who ask.
//!
//! Search, scheduling, lowering and `explain` read the same answers. A group is identified by what it reads and what it
//! makes.

use std::borrow::Borrow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use index::Facts;
use ir::graph::{Fusion, Graph, Val};
use rustc_hash::{FxHashMap, FxHashSet};
use scheduler::hints::Hints;
use scheduler::legal::Rejection;
use space::AxisTable;
use target::{Processor, Target};

use super::engine::{Engine, engine};
use super::group_classes::{GroupClass, GroupClasses, GroupRef};
use super::kept::{Limit, check_kept_bytes};

/// What runs a group, or why nothing does as one step.
pub type LegalityAnswer = Arc<Result<Engine, Rejection>>;

/// What a group reads and makes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Group {
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
    /// How many answers were computed.
    computed: usize,
    /// The groups that they are about.
    #[cfg(test)]
    found: Vec<Group>,
}

/// An answer in short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Kernel {
        statements: u64,
    },
    External,
    /// With `is_monotone` of the rejection.
    Rejected {
        is_monotone: bool,
    },
}

impl Verdict {
    fn of(answer: &LegalityAnswer) -> Verdict {
        match &**answer {
            Ok(Engine::Kernel(witness)) => Verdict::Kernel { statements: witness.statements },
            Ok(Engine::External(_)) => Verdict::External,
            Err(Rejection { is_monotone, .. }) => Verdict::Rejected { is_monotone: *is_monotone },
        }
    }
}

/// The classes of groups, with the answers about them.
#[derive(Debug)]
struct KnownClasses {
    classes: GroupClasses,
    verdicts: FxHashMap<GroupClass, Verdict>,
}

/// The answers about groups of one fusion.
#[derive(Clone, Debug, Default)]
pub struct Legality {
    known: Arc<Mutex<Known>>,
    /// Shared by all groups.
    table: Arc<Mutex<Option<AxisTable>>>,
    classes: Arc<Mutex<Option<KnownClasses>>>,
    /// Set where a kernel that asks for more memory than a block has could not be launched.
    limit: Option<Arc<Limit>>,
}

impl Legality {
    /// No answer yet, for a target.
    pub fn on(target: &Target, hints: &Hints) -> Legality {
        let limit = match target.processor {
            Processor::Cpu(_) => None,
            Processor::Gpu(_) => {
                let Target { block_bytes, grain, .. } = *target;
                Some(Arc::new(Limit { hints: hints.clone(), block_bytes, grain }))
            }
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
        known.computed += 1;
        #[cfg(test)]
        known.found.push(group.clone());
        known.answers.insert(group, Arc::clone(&answer));
        answer
    }

    /// The answer about a group in short: found once for each class, from the `view` of one of them.
    pub(crate) fn verdict<V: Borrow<Fusion>>(
        &self,
        graph: &Graph,
        group: GroupRef<'_>,
        view: impl Fn() -> V,
    ) -> Verdict {
        debug_assert!(group.is_of(view().borrow()), "the view is that of the group");
        let class = self.class_of(graph, group);
        self.verdict_of(graph, class, view)
    }

    /// The same for a group of which the class is known.
    pub(crate) fn verdict_of<V: Borrow<Fusion>>(
        &self,
        graph: &Graph,
        class: GroupClass,
        view: impl Fn() -> V,
    ) -> Verdict {
        let known = |known: &KnownClasses| known.verdicts.get(&class).copied();
        let known = lock(&self.classes).as_ref().and_then(known);
        let find = || Verdict::of(&self.of(graph, view().borrow()));
        debug_assert!(known.is_none_or(|known| known == find()), "groups of one class have one answer");
        known.unwrap_or_else(|| {
            let verdict = find();
            if let Some(known) = lock(&self.classes).as_mut() {
                known.verdicts.insert(class, verdict);
            }
            verdict
        })
    }

    /// The class of a group.
    pub fn class(&self, graph: &Graph, view: &Fusion) -> GroupClass {
        let made: Vec<Val> = view.outputs().iter().map(|output| output.val).collect();
        let (facts, inputs, order) = (view.facts(), view.inputs(), view.order());
        self.class_of(graph, GroupRef { facts, inputs, order, made: &made })
    }

    /// The same without its view.
    pub(crate) fn class_of(&self, graph: &Graph, group: GroupRef<'_>) -> GroupClass {
        self.with_classes(group.facts, |known| known.classes.of(graph, group))
    }

    fn with_classes<T>(&self, facts: &Arc<Facts>, then: impl FnOnce(&mut KnownClasses) -> T) -> T {
        let mut classes = lock(&self.classes);
        let before = classes.take();
        let known = match before {
            Some(known) if known.classes.are_about(facts) => known,
            before => {
                let classes = GroupClasses::after(before.as_ref().map(|known| &known.classes), facts);
                KnownClasses { classes, verdicts: FxHashMap::default() }
            }
        };
        then(classes.insert(known))
    }

    /// Whether a group can be one step.
    pub fn allows(&self, graph: &Graph, view: &Fusion) -> bool {
        self.of(graph, view).is_ok()
    }

    /// How many answers were computed so far.
    pub fn answer_count(&self) -> usize {
        lock(&self.known).computed
    }

    /// The groups whose answers were computed, in order.
    #[cfg(test)]
    pub(crate) fn found(&self) -> Vec<Group> {
        lock(&self.known).found.clone()
    }

    /// Drops the witnesses of all groups but these, as they take much memory; rejections stay.
    pub fn keep_only<'a>(&self, views: impl Iterator<Item = &'a Fusion>) {
        let kept: FxHashSet<Group> = views.map(Group::of).collect();
        lock(&self.known).answers.retain(|group, answer| answer.is_err() || kept.contains(group));
        *lock(&self.table) = None;
        *lock(&self.classes) = None;
    }

    fn find(&self, graph: &Graph, view: &Fusion) -> Result<Engine, Rejection> {
        let mut table = lock(&self.table);
        let known = table.take().filter(|known| known.is_about(view.facts()));
        let table = table.insert(known.unwrap_or_else(|| AxisTable::new(view.facts())));
        let engine = engine(graph, view, table)?;
        if let (Engine::Kernel(witness), Some(limit)) = (&engine, &self.limit) {
            check_kept_bytes(graph, view, witness, limit)?;
        }
        Ok(engine)
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
