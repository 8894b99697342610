//! Nodes are shared, views are closed, passes keep the old view, collection keeps live nodes.

use std::sync::Arc;

use ferrofuse_ir::graph::{Cone, Fusion, Output, TensorOp, ViewError, dump, rewrite};
use index::{Expr, Facts};
use ops::ScalarOp;

use super::Build;

#[test]
fn equal_nodes_are_one_and_inputs_are_nominal() {
    let mut b = Build::default();
    let (x, y) = (b.input(&[Some(4)]), b.input(&[Some(4)]));
    assert_ne!(x, y, "two inputs of one type stay two");
    let first = b.map(ScalarOp::Add, &[x, y]);
    assert_eq!(first, b.map(ScalarOp::Add, &[x, y]));
    assert_ne!(first, b.map(ScalarOp::Add, &[y, x]));
    let two = b.constant(2.0);
    assert_eq!(two, b.constant(2.0));
}

#[test]
fn a_rejected_node_leaves_the_graph_as_it_was() {
    let mut b = Build::default();
    let (x, y) = (b.input(&[Some(4)]), b.input(&[Some(5)]));
    let before = b.graph.len();
    let error = b.graph.add(TensorOp::Map(ScalarOp::Add), &[x, y], &mut b.facts).unwrap_err();
    assert_eq!(error.to_string(), "axis 0: size 4 does not match size 5");
    assert_eq!(b.graph.len(), before);
}

#[test]
fn a_view_stops_at_its_inputs() {
    let mut b = Build::default();
    let x = b.input(&[Some(4)]);
    let e = b.map(ScalarOp::Exp, &[x]);
    let y = b.map(ScalarOp::Neg, &[e]);
    let whole = b.view(&[y]);
    assert_eq!(whole.order(), [e.node, y.node]);
    let tail = b.view_from(&[e], &[y]);
    assert_eq!(tail.order(), [y.node]);
    assert_eq!(tail.uses(e), [y.node]);
    assert!(b.graph.verify_view(&whole).is_empty() && b.graph.verify_view(&tail).is_empty());
}

#[test]
fn a_cone_is_what_a_view_of_it_computes() {
    let mut b = Build::default();
    let x = b.input(&[Some(4)]);
    let e = b.map(ScalarOp::Exp, &[x]);
    let y = b.map(ScalarOp::Neg, &[e]);
    let z = b.map(ScalarOp::Add, &[y, e]);
    let whole = Cone::of(&b.graph, &[z, y], |val| val == x).expect("closed");
    assert_eq!((whole.inputs(), whole.order()), (&[x][..], &[e.node, y.node, z.node][..]));
    let tail = Cone::of(&b.graph, &[z], |val| val == y || val == x).expect("closed");
    assert_eq!((tail.inputs(), tail.order()), (&[x, y][..], &[e.node, z.node][..]));
    let given = Cone::of(&b.graph, &[y], |val| val == y).expect("closed");
    assert_eq!((given.inputs(), given.order()), (&[y][..], &[][..]));
    assert_eq!(Cone::of(&b.graph, &[z], |_| false).unwrap_err(), ViewError::Open(x));
    let view = Fusion::of_cone(&b.graph, tail, vec![Output::from(z)], Arc::new(Facts::new()));
    assert!(b.graph.verify_view(&view).is_empty());
    assert_eq!((view.input_place(y), view.uses(e)), (Some(1), &[z.node][..]));
}

#[test]
fn a_view_that_is_not_closed_is_rejected() {
    let mut b = Build::default();
    let x = b.input(&[Some(4)]);
    let e = b.map(ScalarOp::Exp, &[x]);
    let facts = Arc::new(Facts::new());
    let open = Fusion::new(&b.graph, vec![], vec![Output::from(e)], facts.clone());
    assert_eq!(open.unwrap_err(), ViewError::Open(x));
    let twice = Fusion::new(&b.graph, vec![x, x], vec![Output::from(e)], facts);
    assert_eq!(twice.unwrap_err(), ViewError::InputTwice(x));
}

#[test]
fn symbolic_sizes_become_equal_and_are_remembered() {
    let mut b = Build::default();
    let (x, y) = (b.input(&[None]), b.input(&[None]));
    let sum = b.map(ScalarOp::Add, &[x, y]);
    let (left, right) = (b.graph.shape(x)[0].clone(), b.graph.shape(y)[0].clone());
    assert_ne!(left, right);
    assert!(b.facts.prove_eq(&left, &right), "adding two tensors says that their sizes agree");
    assert_eq!(b.facts.normalize(&b.graph.shape(sum)[0].clone()), b.facts.normalize(&right));
}

#[test]
fn what_later_facts_exclude_is_found() {
    let mut b = Build::default();
    let x = b.input(&[None, None]);
    let sizes = [Expr::constant(20)].into_iter().collect();
    let flat = b.add(TensorOp::Reshape(sizes), &[x]);
    assert_eq!(b.graph.rejected(&b.facts), None);
    let mut other = Facts::new();
    other.assume_equal(&b.graph.shape(x)[0], &Expr::constant(3)).unwrap();
    let (node, error) = b.graph.rejected(&other).expect("20 elements are not three rows");
    assert_eq!((node, error.to_string().as_str()), (flat.node, "cannot reshape i0*i1 elements into 20"));
}

#[test]
fn a_pass_appends_and_the_old_view_still_works() {
    let mut b = Build::default();
    let x = b.input(&[None]);
    let e = b.map(ScalarOp::Exp, &[x]);
    let y = b.map(ScalarOp::Neg, &[e]);
    let view = b.view(&[y]);
    let before = dump(&b.graph, &view);
    let (new, map) = rewrite(&mut b.graph, &view, |graph, facts, node, operands| match graph.node(node).op {
        TensorOp::Map(ScalarOp::Neg) => {
            let node =
                graph.add(TensorOp::Map(ScalarOp::Abs), operands, facts).expect("as legal as a negation");
            Some(graph.results(node).collect())
        }
        _ => None,
    });
    b.graph.debug_verify(&new);
    assert_eq!(dump(&b.graph, &view), before, "keeping the old view undoes the pass");
    assert!(dump(&b.graph, &new).contains("abs") && !dump(&b.graph, &new).contains("neg"));
    assert_eq!(map.get(e), Some(e), "what a pass leaves alone stays the same node");
    assert_eq!(map.get(y), Some(new.outputs()[0].val));
}

#[test]
fn collection_keeps_what_the_live_views_reach() {
    let mut b = Build::default();
    let x = b.input(&[None]);
    let e = b.map(ScalarOp::Exp, &[x]);
    let dead = b.map(ScalarOp::Sin, &[x]);
    let y = b.map(ScalarOp::Neg, &[e]);
    let (whole, tail) = (b.view(&[y]), b.view_from(&[e], &[y]));
    let (kept, views, map) = b.graph.collect(&[&whole, &tail]);
    assert_eq!(kept.len(), 3);
    assert_eq!(map.get(dead), None);
    assert_eq!(views[1].inputs(), [map.get(e).unwrap()]);
    for view in &views {
        kept.debug_verify(view);
    }
    assert_ne!(kept.epoch(), b.graph.epoch());
}

#[test]
fn a_fork_is_private() {
    let mut b = Build::default();
    let x = b.input(&[None]);
    let y = b.map(ScalarOp::Neg, &[x]);
    let view = b.view(&[y]);
    let (mut fork, moved) = b.graph.fork(&view);
    let mut facts = b.facts.clone();
    fork.add(TensorOp::Map(ScalarOp::Abs), &[y], &mut facts).unwrap();
    assert_eq!(b.graph.len() + 1, fork.len());
    fork.debug_verify(&moved);
    b.graph.debug_verify(&view);
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "a view used on another graph than its own")]
fn a_view_used_on_another_graph_is_a_bug() {
    let mut b = Build::default();
    let x = b.input(&[None]);
    let y = b.map(ScalarOp::Neg, &[x]);
    let view = b.view(&[y]);
    let (fork, _) = b.graph.fork(&view);
    view.assert_of(&fork);
}

#[test]
fn sizes_come_out_of_scalar_arithmetic() {
    let mut b = Build::default();
    let x = b.input(&[None, Some(8)]);
    let rows = b.graph.shape(x)[0].clone();
    let size = b.add(TensorOp::Size(rows.clone()), &[]);
    let doubled = b.map(ScalarOp::Add, &[size, size]);
    assert_eq!(b.graph.as_size(doubled), Some(&rows + &rows));
    let real = b.constant(3.0);
    assert_eq!(b.graph.as_size(real), None);
}
