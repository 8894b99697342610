//! Groups that can be one kernel: the witness, the reasons for rejections, and that parts of a legal group are legal.

use std::sync::Arc;

use ferrofuse_compiler::{PlanOptions, PlanRequest, cut, plan};
use ir::definition::Definition;
use ir::graph::{Fusion, Output};
use ir::layout::LayoutClass;
use scheduler::hints::Hints;
use scheduler::legal::{Witness, legal};
use target::Target;

use super::{INNER_OUTER, SOFTMAX, define};

/// Three groups of four channels.
const GROUP_NORM: &str = "
    T0 = fd.define_tensor(shape=[5, 12, 8], contiguity=True, dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[1, 12, 1], contiguity=True, dtype=DataType.Float)
    T2 = fd.ops.reshape(T0, new_shape=[5, 3, 4, 8])
    T3, T4 = fd.ops.var_mean(T2, dims=[2, 3], correction=0, keepdim=True)
    T5 = fd.ops.div(fd.ops.sub(T2, T4), fd.ops.sqrt(T3))
    T6 = fd.ops.reshape(T5, new_shape=[5, 12, 8])
    T7 = fd.ops.mul(T6, T1)
    fd.add_output(T7)";

fn witness(definition: &Definition) -> Witness {
    legal(&definition.graph, &definition.fusion).expect("a legal group")
}

fn rejection(body: &str) -> String {
    let definition = define(body);
    let rejection = legal(&definition.graph, &definition.fusion).expect_err("an illegal group");
    format!("{} {}", definition.name_of(rejection.val), rejection.reason)
}

/// Schedules and lowering use the answers that the search got.
#[test]
fn kernels_of_a_cut_ask_about_no_further_group() {
    for body in [SOFTMAX, INNER_OUTER, GROUP_NORM] {
        let Definition { graph, fusion, tasks, .. } = &define(body);
        let layouts = vec![LayoutClass::Dense; fusion.inputs().len()];
        let (target, hints, options) = (Target::cpu(512), Hints::default(), PlanOptions::default());
        let request = PlanRequest {
            graph,
            fusion,
            tasks,
            layouts: &layouts,
            target: &target,
            hints: &hints,
            options: &options,
        };
        let cut = cut(request).expect("it is cut");
        let plan = plan(request).expect("it is planned");
        assert!(cut.legality.answer_count() > 0);
        assert_eq!(cut.legality.answer_count(), plan.legality.answer_count(), "{body}");
    }
}

#[test]
fn rows_of_a_softmax_are_divided_and_its_folds_are_inner() {
    let witness = witness(&define(SOFTMAX));
    assert_eq!(witness.stage_count, 3);
    assert_eq!(
        witness.folds.iter().map(|fold| (fold.stage, fold.terminal)).collect::<Vec<_>>(),
        [(0, false), (1, false)]
    );
    assert_eq!(witness.workers.len(), 1);
    assert!(!witness.folds[0].reduced.contains(&witness.workers[0]));
}

#[test]
fn column_sums_beside_row_sums_are_terminal() {
    let witness = witness(&define(INNER_OUTER));
    let terminal: Vec<bool> = witness.folds.iter().map(|fold| fold.terminal).collect();
    assert_eq!(terminal.iter().filter(|terminal| **terminal).count(), 2);
    assert_eq!(witness.workers.len(), 1, "rows, which the row sum leaves free");
    let row_sum = witness.folds.iter().find(|fold| !fold.terminal).expect("the row sum is needed again");
    assert!(!row_sum.reduced.contains(&witness.workers[0]));
}

#[test]
fn a_column_sum_of_what_a_row_sum_made_is_still_terminal() {
    let body = "
        T0 = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        T1 = fd.ops.sum(T0, dims=[1], keepdim=True)
        T2 = fd.ops.mul(T0, T1)
        T3 = fd.ops.sum(T2, dims=[0])
        fd.add_output(T3)";
    let witness = witness(&define(body));
    assert_eq!(witness.folds.iter().map(|fold| fold.terminal).collect::<Vec<_>>(), [false, true]);
    assert_eq!(witness.workers.len(), 1);
}

#[test]
fn folds_over_different_axes_that_are_both_needed_leave_nothing_to_divide() {
    let body = "
        T0 = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        T1 = fd.ops.sum(T0, dims=[0], keepdim=True)
        T2 = fd.ops.sum(T0, dims=[1], keepdim=True)
        T3 = fd.ops.add(T1, T2)
        T4 = fd.ops.add(T0, T3)
        fd.add_output(T4)";
    let text = rejection(body);
    assert!(text.ends_with("leaves no axis that workers could divide"), "{text}");
}

#[test]
fn a_computed_value_read_along_two_axes_at_once_is_rejected_but_an_input_is_not() {
    let computed = "
        T0 = fd.define_tensor(shape=[8, 8], contiguity=True, dtype=DataType.Float)
        T1 = fd.ops.exp(T0)
        T2 = fd.ops.permute(T1, dims=[1, 0])
        T3 = fd.ops.add(T1, T2)
        fd.add_output(T3)";
    assert!(rejection(computed).contains("two of its axes walked by one loop"));
    let input = "
        T0 = fd.define_tensor(shape=[8, 8], contiguity=True, dtype=DataType.Float)
        T2 = fd.ops.permute(T0, dims=[1, 0])
        T3 = fd.ops.add(T0, T2)
        fd.add_output(T3)";
    witness(&define(input));
}

#[test]
fn groups_of_channels_and_the_channels_share_loops() {
    let witness = witness(&define(GROUP_NORM));
    assert_eq!(witness.order.len(), 4, "batch, groups, channels of a group and width");
    assert_eq!(witness.workers.len(), 2, "batch and groups");
    assert!(witness.folds.iter().all(|fold| !fold.terminal && fold.reduced.len() == 2));
    let atoms: Vec<usize> = witness.stores[0].axes.iter().map(|atoms| atoms.len()).collect();
    assert_eq!(atoms, [1, 2, 1], "the channels are groups and channels of a group");
}

#[test]
fn a_fold_leaves_the_kernel_under_another_shape() {
    let body = "
        T0 = fd.define_tensor(shape=[4, 6, 8], contiguity=True, dtype=DataType.Float)
        T1 = fd.ops.sum(T0, dims=[2])
        T2 = fd.ops.reshape(T1, new_shape=[24])
        fd.add_output(T2)";
    let witness = witness(&define(body));
    assert!(witness.folds[0].terminal);
    assert_eq!(witness.stores[0].axes[0].len(), 2);
}

#[test]
fn a_scanned_axis_is_not_split_but_its_parts_may_be_scanned() {
    let whole = "
        T0 = fd.define_tensor(shape=[4, 12], contiguity=True, dtype=DataType.Float)
        T1 = fd.ops.cumsum(T0, dim=1)
        T2 = fd.ops.reshape(T1, new_shape=[4, 3, 4])
        fd.add_output(T2)";
    let text = rejection(whole);
    assert!(text.contains("is read at other indices than it is computed at, after the scan"), "{text}");
    let parts = "
        T0 = fd.define_tensor(shape=[4, 12], contiguity=True, dtype=DataType.Float)
        T1 = fd.ops.reshape(T0, new_shape=[4, 3, 4])
        T2 = fd.ops.cumsum(T1, dim=2)
        T3 = fd.ops.reshape(T2, new_shape=[4, 12])
        fd.add_output(T3)";
    assert_eq!(witness(&define(parts)).workers.len(), 2);
}

#[test]
fn a_reshape_of_a_fold_whose_sizes_do_not_line_up_is_a_boundary() {
    let body = "
        T0 = fd.define_tensor(shape=[4, 6, 8], contiguity=True, dtype=DataType.Float)
        T1 = fd.ops.sum(T0, dims=[2])
        T2 = fd.ops.reshape(T1, new_shape=[8, 3])
        fd.add_output(T2)";
    let text = rejection(body);
    assert!(text.contains("is read at other indices than it is computed at"), "{text}");
}

#[test]
fn a_boundary_that_the_user_asks_for_is_kept() {
    let body = "
        T0 = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        T1 = fd.ops.exp(T0)
        T2 = fd.ops.segment_set(T1)
        T3 = fd.ops.neg(T2)
        fd.add_output(T3)";
    assert_eq!(rejection(body), "T2 is a boundary that the definition asks for");
}

/// Parts of these groups are legal, with fewer outputs or with values read from memory instead of computed. Of some other
/// groups a part is not.
#[test]
fn parts_of_a_legal_group_are_legal() {
    for body in [SOFTMAX, INNER_OUTER, GROUP_NORM] {
        let Definition { graph, fusion, .. } = define(body);
        witness(&define(body));
        let facts = || Arc::clone(fusion.facts());
        for &node in fusion.order().iter().filter(|node| graph.ty((**node).into()).rank() > 0) {
            let ends_there = Fusion::new(
                &graph,
                fusion.inputs().to_vec(),
                vec![Output::from(ir::graph::Val::from(node))],
                facts(),
            );
            legal(&graph, &ends_there.expect("closed")).expect("a group that ends earlier is legal");
            let mut inputs = fusion.inputs().to_vec();
            inputs.push(node.into());
            let outputs: Vec<Output> =
                fusion.outputs().iter().filter(|output| output.val.node != node).cloned().collect();
            if let (false, Ok(starts_there)) =
                (outputs.is_empty(), Fusion::new(&graph, inputs, outputs, facts()))
            {
                legal(&graph, &starts_there).expect("a group that starts later is legal");
            }
        }
    }
}
