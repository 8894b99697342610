//! The search finds the best segmentation of small definitions, and branch and bound proves it.

use ferrofuse_testing::cut::Tally;

#[test]
fn small_definitions_are_cut_in_the_best_way() {
    let tally = Tally::of(300, 8);
    assert!(tally.graphs >= 150, "{tally:#?}");
    assert!(tally.of_one_kernel * 2 < tally.graphs, "{tally:#?}");
    assert_eq!(tally.found, tally.graphs, "{tally:#?}");
    assert!(tally.exhausted * 10 >= tally.graphs * 9, "{tally:#?}");
    assert!(tally.proved * 2 >= tally.graphs, "{tally:#?}");
}
