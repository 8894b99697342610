//! The blocks of a launch: those of all its members, numbered one after the other.
//!
//! Members whose blocks have little work come first: threads take many blocks at a time at first, and few at the end.

use cranelift_entity::PrimaryMap;
use smallvec::SmallVec;

use execution::Operands;
use ir::graph::Formula;

/// The blocks of a launch.
pub(super) struct Grid {
    members: SmallVec<[Member; 1]>,
    /// How many blocks there are.
    pub blocks: usize,
    /// About how many operations they have.
    pub operations: u64,
    /// About how many operations the largest of them has.
    pub of_block: u64,
}

/// The blocks of a member.
struct Member {
    /// Its place in the launch.
    place: usize,
    /// One past the last of its blocks in the grid.
    end: usize,
    blocks: usize,
    /// About how many operations each has.
    of_block: u64,
}

impl Grid {
    /// That of these members, at the values of a call.
    pub fn new(operands: &[&Operands], values: &PrimaryMap<Formula, i64>) -> Grid {
        let mut grid = Grid { members: SmallVec::new(), blocks: 0, operations: 0, of_block: 0 };
        for (place, operands) in operands.iter().enumerate() {
            let blocks = usize::try_from(values[operands.blocks]).unwrap_or(0);
            if blocks > 0 {
                let operations = operands.all_operations(values);
                let of_block = operations / blocks as u64;
                grid.members.push(Member { place, end: 0, blocks, of_block });
                grid.operations = grid.operations.saturating_add(operations);
                grid.of_block = grid.of_block.max(of_block);
            }
        }
        grid.members.sort_by_key(|member| member.of_block);
        for member in &mut grid.members {
            grid.blocks += member.blocks;
            member.end = grid.blocks;
        }
        grid
    }

    /// The blocks with these numbers: places of members, and the first and one past the last of their own blocks.
    pub fn each(&self, first: usize, last: usize) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        let from = self.members.partition_point(|member| member.end <= first);
        let touched = self.members[from..].iter().take_while(move |member| member.end - member.blocks < last);
        touched.map(move |member| {
            let begin = member.end - member.blocks;
            (member.place, first.max(begin) - begin, last.min(member.end) - begin)
        })
    }
}

#[cfg(test)]
mod tests {
    use execution::Work;
    use index::Expr;
    use ir::graph::Sizes;

    use super::*;
    use ir::graph::Formulas;

    /// The blocks of a range, in the grid's order.
    fn blocks(grid: &Grid, first: usize, last: usize) -> Vec<(usize, usize)> {
        let all = grid.each(first, last);
        all.flat_map(|(place, begin, end)| (begin..end).map(move |block| (place, block))).collect()
    }

    #[test]
    fn every_block_of_every_member_is_there_once() {
        let mut formulas = Formulas::default();
        let operands = |(blocks, walked): (i64, i64), formulas: &mut Formulas| Operands {
            name: String::new(),
            arguments: Vec::new(),
            buffers: Vec::new(),
            blocks: formulas.intern(&Expr::constant(blocks)),
            scratch: Vec::new(),
            work: vec![Work { elements: vec![formulas.intern(&Expr::constant(walked))], operations: 2 }],
            segment: 0,
        };
        // The second has no blocks, the third the largest ones.
        let all = [(3, 30), (0, 0), (2, 4000), (1, 7)].map(|work| operands(work, &mut formulas));
        let values = formulas.evaluate(&Sizes::default()).expect("constants");
        let members: Vec<&Operands> = all.iter().collect();
        let grid = Grid::new(&members, &values);
        assert_eq!((grid.blocks, grid.operations, grid.of_block), (6, 8074, 4000));
        let expected = [(3, 0), (0, 0), (0, 1), (0, 2), (2, 0), (2, 1)];
        for cut in 0..=6 {
            let parts = [blocks(&grid, 0, cut), blocks(&grid, cut, 6)].concat();
            assert_eq!(parts, expected, "cut at {cut}");
        }
    }
}
