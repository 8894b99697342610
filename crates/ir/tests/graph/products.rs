//! Products of matrices in batches: the same products as in the plain list, in few batches.

use ferrofuse_ir::array::Layout;
use ferrofuse_ir::array::products::{Product, ProductBatch, batches_of_matmul, of_matmul};

/// The addresses that a product reads and writes.
fn places(product: &Product) -> [isize; 3] {
    [product.a.offset, product.b.offset, product.first as isize]
}

/// The number of products of each batch, after a check against the plain list.
fn counts(a: &Layout, b: &Layout, sizes: &[usize]) -> Vec<usize> {
    let batches = batches_of_matmul(a, b, sizes);
    let members = |batch: &ProductBatch| {
        let (first, steps) = (places(&batch.first), batch.steps);
        (0..batch.count as isize)
            .map(move |member| [0, 1, 2].map(|operand: usize| first[operand] + member * steps[operand]))
            .collect::<Vec<_>>()
    };
    let mut found: Vec<[isize; 3]> = batches.iter().flat_map(members).collect();
    let listed = of_matmul(a, b, sizes);
    for batch in &batches {
        let (own, other) = (&batch.first, &listed[0]);
        assert_eq!(
            [own.a.layout().strides, own.b.layout().strides],
            [other.a, other.b].map(|m| m.layout().strides)
        );
        assert_eq!(
            [own.a.rows, own.a.columns, own.b.columns, own.row],
            [other.a.rows, other.a.columns, other.b.columns, other.row]
        );
    }
    found.sort_unstable_by_key(|places| places[2]);
    assert_eq!(found, listed.iter().map(places).collect::<Vec<_>>());
    batches.iter().map(|batch| batch.count).collect()
}

#[test]
fn batches_are_as_long_as_strides_allow() {
    let dense = Layout::dense;
    assert_eq!(counts(&dense(&[5, 6]), &dense(&[6, 7]), &[5, 7]), [1]);
    assert_eq!(counts(&dense(&[3, 4, 5, 6]), &dense(&[3, 4, 6, 7]), &[3, 4, 5, 7]), [12]);
    // One matrix for all: the batch becomes more rows.
    assert_eq!(counts(&dense(&[3, 4, 5, 6]), &dense(&[1, 1, 6, 7]), &[3, 4, 5, 7]), [1]);
    assert_eq!(counts(&dense(&[1, 1, 5, 6]), &dense(&[3, 4, 6, 7]), &[3, 4, 5, 7]), [12]);
    // Repeated along one axis: the longer one is the batch, whichever it is.
    assert_eq!(counts(&dense(&[3, 4, 5, 6]), &dense(&[1, 4, 6, 7]), &[3, 4, 5, 7]), [4; 3]);
    assert_eq!(counts(&dense(&[9, 4, 5, 6]), &dense(&[1, 4, 6, 7]), &[9, 4, 5, 7]), [9; 4]);
    assert_eq!(counts(&dense(&[3, 4, 5, 6]), &dense(&[3, 1, 6, 7]), &[3, 4, 5, 7]), [4; 3]);
    assert_eq!(counts(&dense(&[2, 3, 4, 5, 6]), &dense(&[1, 3, 4, 6, 7]), &[2, 3, 4, 5, 7]), [12; 2]);
}

#[test]
fn heads_between_rows_are_batches() {
    let heads = Layout::dense(&[3, 5, 4, 6]).permuted([0, 2, 1, 3]);
    assert_eq!(counts(&heads, &Layout::dense(&[3, 4, 6, 7]), &[3, 4, 5, 7]), [4; 3]);
    let heads = Layout::dense(&[16, 5, 4, 6]).permuted([0, 2, 1, 3]);
    assert_eq!(counts(&heads, &Layout::dense(&[16, 4, 6, 7]), &[16, 4, 5, 7]), [16; 4]);
}

/// A library takes only positive steps.
#[test]
fn what_lies_backwards_is_no_batch() {
    let dense = Layout::dense(&[3, 5, 6]);
    let backwards = Layout { offset: 60, strides: [-30, 6, 1].into_iter().collect(), ..dense.clone() };
    assert_eq!(counts(&backwards, &Layout::dense(&[3, 6, 7]), &[3, 5, 7]), [1; 3]);
}
