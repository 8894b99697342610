//! The products of two matrices that a library op consists of: one for each batch, or for each group.

use super::{Dims, Layout};

/// A matrix in the memory of an operand; places and strides in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matrix {
    pub offset: isize,
    pub rows: usize,
    pub columns: usize,
    /// From one row to the next.
    pub row: isize,
    /// From one column to the next.
    pub column: isize,
}

impl Matrix {
    /// Some of its rows.
    pub fn rows(self, start: usize, end: usize) -> Matrix {
        let offset = if start == end { self.offset } else { self.offset + start as isize * self.row };
        Matrix { offset, rows: end - start, ..self }
    }

    /// Some of its columns.
    pub fn columns(self, start: usize, end: usize) -> Matrix {
        let offset = if start == end { self.offset } else { self.offset + start as isize * self.column };
        Matrix { offset, columns: end - start, ..self }
    }

    /// The layout of its two axes.
    pub fn layout(&self) -> Layout {
        Layout {
            offset: self.offset,
            sizes: [self.rows, self.columns].into_iter().collect(),
            strides: [self.row, self.column].into_iter().collect(),
        }
    }
}

/// A product of two matrices, and where in the result it goes.
#[derive(Clone, Copy, Debug)]
pub struct Product {
    pub a: Matrix,
    pub b: Matrix,
    /// Its first element.
    pub first: usize,
    /// Elements from one row of the result to the next.
    pub row: usize,
}

impl Product {
    /// Whether it has no element, or only empty sums.
    pub fn is_empty(&self) -> bool {
        self.a.rows == 0 || self.b.columns == 0 || self.a.columns == 0
    }
}

/// Products of matrices of one shape at regular distances, in elements.
#[derive(Clone, Copy, Debug)]
pub struct ProductBatch {
    pub first: Product,
    /// At least 1.
    pub count: usize,
    /// From one to the next: of the first operands, of the second ones, of the results.
    pub steps: [isize; 3],
}

/// The products that write a result of these sizes: `a @ b` over the last two axes; earlier axes of size 1 are repeated. No
/// size is 0.
pub fn of_matmul(a: &Layout, b: &Layout, sizes: &[usize]) -> Vec<Product> {
    let [a, b] = [a, b].map(|operand| expanded(operand, sizes));
    let count: usize = sizes[..sizes.len() - 2].iter().product();
    match one_for_all(&a, &b) {
        Some(product) => vec![product],
        None => (0..count).map(|batch| product(&a, &b, batch)).collect(),
    }
}

/// The same as few batches: of the axes before the last two, those with a common stride in each operand and the result are
/// merged, and the longest remaining one gives the batches.
pub fn batches_of_matmul(a: &Layout, b: &Layout, sizes: &[usize]) -> Vec<ProductBatch> {
    let [a, b] = [a, b].map(|operand| expanded(operand, sizes));
    if let Some(product) = one_for_all(&a, &b) {
        return vec![ProductBatch { first: product, count: 1, steps: [0; 3] }];
    }
    let mut axes = batch_axes(&a, &b);
    let leads_on = |&axis: &usize| axes[axis].1.iter().all(|&step| step >= 0);
    let longest = (0..axes.len()).filter(leads_on).max_by_key(|&axis| axes[axis].0);
    let (count, steps) = longest.map_or((1, [0; 3]), |axis| axes.remove(axis));
    let (first, others) = (product(&a, &b, 0), axes.iter().map(|(size, _)| size).product());
    let batch = |mut number: usize| {
        let mut first = first;
        for &(size, [a, b, result]) in axes.iter().rev() {
            let index = number % size;
            number /= size;
            first.a.offset += index as isize * a;
            first.b.offset += index as isize * b;
            first.first += index * result as usize;
        }
        ProductBatch { first, count, steps }
    };
    (0..others).map(batch).collect()
}

/// An operand whose axes before the last two have the sizes of the result.
fn expanded(operand: &Layout, sizes: &[usize]) -> Layout {
    let rank = sizes.len();
    let last = [operand.sizes[rank - 2], operand.sizes[rank - 1]];
    operand.expanded(&sizes[..rank - 2].iter().copied().chain(last).collect::<Dims>())
}

/// Sizes and steps of the axes before the last two: none of size 1, neighbours joined if one step serves both.
fn batch_axes(a: &Layout, b: &Layout) -> Vec<(usize, [isize; 3])> {
    let rank = a.rank();
    let mut step = (a.sizes[rank - 2] * b.sizes[rank - 1]) as isize;
    let mut axes: Vec<(usize, [isize; 3])> = Vec::new();
    for axis in (0..rank - 2).rev().filter(|&axis| a.sizes[axis] != 1) {
        let (size, steps) = (a.sizes[axis], [a.strides[axis], b.strides[axis], step]);
        step *= size as isize;
        match axes.first_mut() {
            Some((inner, own)) if own.map(|own| own * *inner as isize) == steps => *inner *= size,
            _ => axes.insert(0, (size, steps)),
        }
    }
    axes
}

/// The products of groups, which reach from place to place along the axis that they divide: the rows of `a` where `b` alone
/// has a matrix for each group, the columns of `b` where `a` alone has, else the summed axis. The result has `columns`
/// columns.
pub fn of_groups(a: &Layout, b: &Layout, columns: usize, groups: &[(usize, usize)]) -> Vec<Product> {
    let of_group = |(number, &(start, end)): (usize, &(usize, usize))| {
        let (a, b, first) = match (a.rank(), b.rank()) {
            (2, 2) => {
                let a = matrix(a, 0).columns(start, end);
                (a, matrix(b, 0).rows(start, end), number * a.rows * columns)
            }
            (3, _) => (matrix(a, number), matrix(b, 0).columns(start, end), start),
            _ => (matrix(a, 0).rows(start, end), matrix(b, number), start * columns),
        };
        Product { a, b, first, row: columns }
    };
    groups.iter().enumerate().map(of_group).collect()
}

/// The product of the matrices with a number.
fn product(a: &Layout, b: &Layout, number: usize) -> Product {
    let (a, b) = (matrix(a, number), matrix(b, number));
    Product { a, b, first: number * a.rows * b.columns, row: b.columns }
}

/// The matrix with a number: the last two axes of a layout.
fn matrix(layout: &Layout, mut number: usize) -> Matrix {
    let rank = layout.rank();
    let mut offset = layout.offset;
    for axis in (0..rank - 2).rev() {
        offset += (number % layout.sizes[axis]) as isize * layout.strides[axis];
        number /= layout.sizes[axis];
    }
    Matrix {
        offset,
        rows: layout.sizes[rank - 2],
        columns: layout.sizes[rank - 1],
        row: layout.strides[rank - 2],
        column: layout.strides[rank - 1],
    }
}

/// All batches as one product, if the second operand is the same in all and one stride serves all rows of the first, as in a
/// linear layer.
fn one_for_all(a: &Layout, b: &Layout) -> Option<Product> {
    let rank = a.rank();
    let repeats = |axis: usize| b.strides[axis] == 0 || b.sizes[axis] == 1;
    if rank == 2 || !(0..rank - 2).all(repeats) {
        return None;
    }
    let rows = a.permuted(0..rank - 1).merged();
    let (count, stride) = match (&rows.sizes[..], &rows.strides[..]) {
        ([], []) => (1, 0),
        (&[count], &[stride]) => (count, stride),
        _ => return None,
    };
    let mut all = product(a, b, 0);
    (all.a.rows, all.a.row) = (count, stride);
    Some(all)
}
