//! Undoing a rejected call: the nodes, symbols, facts and lines that it added before it was rejected.
//!
//! Nodes are removed with the facts: otherwise a later call that found such a node would not assume the facts again that it
//! needs.

use index::Facts;
use ir::definition::Mark;
use ir::graph;

use super::{Draws, OpBuilder};
use crate::define::error::DefineError;

/// The state of a builder to return to.
struct Checkpoint {
    graph: graph::Mark,
    facts: Facts,
    record: Mark,
    patterns: usize,
    draws: Draws,
}

impl OpBuilder {
    /// Runs a step; if it is rejected, restores the builder.
    pub fn or_as_before<T>(
        &mut self,
        step: impl FnOnce(&mut OpBuilder) -> Result<T, DefineError>,
    ) -> Result<T, DefineError> {
        let before = Checkpoint {
            graph: self.graph.mark(),
            facts: self.facts.clone(),
            record: self.record.mark(),
            patterns: self.patterns.len(),
            draws: self.draws,
        };
        let made = step(self);
        if made.is_err() {
            self.return_to(before);
        }
        made
    }

    fn return_to(&mut self, before: Checkpoint) {
        let Checkpoint { graph, facts, record, patterns, draws } = before;
        self.graph.truncate(graph);
        self.facts = facts;
        self.record.truncate(record);
        self.patterns.truncate(patterns);
        self.draws = draws;
        let record = &self.record;
        self.orders.retain(|&entry, _| record.has(entry));
    }
}
