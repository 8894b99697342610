//! The work of defining and planning for many inputs of unknown sizes, in counts: times say little on a busy machine.

use index::work::{AlgebraWork, counted};
use ir::definition::Definition;

use super::{cpu_plan, define, lowered};

/// A cat of `parts` inputs of unknown sizes.
fn cat(parts: usize) -> Definition {
    cat_of(parts, str::to_owned)
}

/// A cat of what is computed from each of so many inputs.
fn cat_of(parts: usize, part: impl Fn(&str) -> String) -> Definition {
    let names: Vec<String> = (0..parts).map(|number| format!("x{number}")).collect();
    let declared =
        names.iter().map(|name| format!("{name} = fd.define_tensor(shape=[-1], contiguity=True)\n"));
    let inputs: String = declared.collect();
    let parts: Vec<String> = names.iter().map(|name| part(name)).collect();
    define(&format!("{inputs}fd.add_output(fd.ops.cat([{}], dim=0))", parts.join(", ")))
}

/// Their loops are cut into one subrange for each.
#[test]
fn up_to_128_tensors_are_concatenated_in_one_kernel() {
    let segments = |parts| cpu_plan(&cat_of(parts, |x| format!("fd.ops.add({x}, {x})"))).segments.len();
    assert_eq!(segments(128), 1);
    assert!(segments(129) > 1);
}

/// The inequalities that are asked for a cat of `parts` inputs, and the terms that are inserted into sums.
fn work(parts: usize) -> [usize; 2] {
    let definition = cat(parts);
    [AlgebraWork::Asked, AlgebraWork::Placed].map(|work| {
        counted(work, || {
            cpu_plan(&definition);
        })
    })
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "the algebra counts its work in debug builds")]
fn proofs_about_a_cat_grow_with_its_inputs_alone() {
    let [[asked, placed], [asked_of_more, placed_of_more]] = [work(15), work(60)];
    // Four times as many, in sums that are four times as long.
    assert!(asked_of_more <= 5 * asked, "{asked} and {asked_of_more}");
    assert!(placed_of_more <= 20 * placed, "{placed} and {placed_of_more}");
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "the algebra counts its work in debug builds")]
fn a_definition_takes_work_in_proportion_to_its_inputs() {
    let placed = |inputs: usize| {
        let input = |number: usize| format!("x{number} = fd.define_tensor(shape=[-1], contiguity=True)\n");
        let sums = |number: usize| format!("x0 = fd.ops.add(x0, x{number})\n");
        let lines: String = (0..inputs).map(input).chain((1..inputs).map(sums)).collect();
        counted(AlgebraWork::Placed, || drop(define(&format!("{lines}fd.add_output(x0)"))))
    };
    let (few, many) = (placed(100), placed(800));
    assert!(many <= 9 * few, "{few} and {many}");
}

/// The bounds of slices are compared with the size of the tensor, which is unknown: no proof succeeds.
#[test]
#[cfg_attr(not(debug_assertions), ignore = "the algebra counts its work in debug builds")]
fn slices_of_a_tensor_try_no_proof_that_must_fail() {
    let tried = |slices: usize| {
        let slice = |at: usize| format!("y = fd.ops.slice(x, [{at}], [{}])\n", at + 10);
        let lines: String = (0..slices).map(slice).collect();
        let text = format!("x = fd.define_tensor(shape=[-1], contiguity=True)\n{lines}fd.add_output(y)");
        counted(AlgebraWork::Tried, || drop(define(&text)))
    };
    let (few, many) = (tried(10), tried(100));
    assert!(many <= 11 * few && few <= 100, "{few} and {many}");
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "the algebra counts its work in debug builds")]
fn a_cat_of_cats_asks_for_each_input_once_more() {
    let [[asked, _], [asked_of_more, _]] = [work(60), work(480)];
    assert!(asked_of_more <= 12 * asked, "{asked} and {asked_of_more}");
}

/// In a subrange of one of its operands, a part that is itself a cat does not select among all of them.
#[test]
#[cfg_attr(not(debug_assertions), ignore = "the algebra counts its work in debug builds")]
fn each_element_of_a_cat_of_cats_is_loaded_from_one_place() {
    let plan = cpu_plan(&cat(128));
    let loads: usize =
        lowered(&plan).map(|lowered| lowered.kernel.to_string().matches("= load ").count()).sum();
    assert!(loads <= 128 + plan.segments.len(), "{loads} loads");
}

/// If sums of sizes exceeded the algebra, they would be bounds of loops that never run.
#[test]
#[cfg_attr(not(debug_assertions), ignore = "the algebra counts its work in debug builds")]
fn bounds_of_long_cats_stay_within_the_algebra() {
    let plan = cpu_plan(&cat(1000));
    let mut texts = lowered(&plan).map(|lowered| lowered.kernel.to_string());
    assert!(texts.all(|text| !text.contains("overflow")));
}

/// In each subrange of a pad of a slice the copies of jammed rows ask for the same bounds.
#[test]
#[cfg_attr(not(debug_assertions), ignore = "the algebra counts its work in debug builds")]
fn jammed_rows_of_a_pad_share_their_proofs() {
    let definition = define(
        "
        x = fd.define_tensor(shape=[-1, -1], contiguity=True)
        y = fd.ops.pad(fd.ops.slice(x, [1, 0], [2048, 4096]), [0, 0, 1, 0], 0.0)
        var, mean = fd.ops.var_mean(y, dims=[0], correction=0, keepdim=True)
        fd.add_output(fd.ops.mul(fd.ops.sub(y, mean), fd.ops.rsqrt(var)))",
    );
    let tried = counted(AlgebraWork::Tried, || {
        cpu_plan(&definition);
    });
    assert!(tried <= 10_000, "{tried}");
}
