//! Union of axes: the axes of values that the same loop walks.
//!
//! A value computed inside a group has its axes united with those of its operands across elementwise ops, casts, broadcasts,
//! permutes and folds. A value read from memory can be read at any index, so each *use* of an input has its own axes; uses
//! of one input are united afterwards if that makes no conflict, so that siblings share one pass, and so are unconnected
//! roots of one shape. Reshape, slice, pad, cat and gather unite only the axes that they keep; `refine` handles axes that a
//! reshape splits or merges.

use index::{SizeNumber, SizeTable};
use ir::graph::{Fusion, Graph};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::node_axes::{AxisTable, NodeAxes, Role};
use super::places::{Place, Places};

/// An axis of a place, by number.
pub(super) type AxisId = u32;

/// The atoms of an axis, by number.
pub(super) type AtomIds = SmallVec<[AxisId; 4]>;

/// The axes of some places, by number: the result of an elementwise op has those of its first operand.
pub(super) type AxisTuple = u32;

/// Disjoint sets of axes. A set with parts stands for them in row-major order; one without is an *atom*.
pub(super) struct AxisSets {
    pub places: Places,
    /// The axes of each place.
    tuples: Vec<AxisTuple>,
    /// The first axis of each tuple, and the number of all.
    first_axis: Vec<AxisId>,
    parents: Vec<AxisId>,
    /// The size of each axis; none of size 1.
    sizes: Vec<Option<SizeNumber>>,
    /// The parts of sets that have some, by representative.
    pub(super) parts: FxHashMap<AxisId, Vec<AxisId>>,
    /// Tuples that have an axis in the atom, alone or as a part, by representative. None until they are asked for.
    members: Option<Members>,
    /// Axes that scans walk in order, which stay whole.
    scanned: Vec<AxisId>,
    /// The positions of folds, and of reshapes.
    folds: Vec<usize>,
    pub(super) reshapes: Vec<usize>,
    pub has_scans: bool,
    /// Whether some op may read an operand at other indices than the loops'.
    pub has_index_maps: bool,
}

impl AxisSets {
    /// The united axes of a group.
    pub fn of(graph: &Graph, view: &Fusion, table: &mut AxisTable) -> AxisSets {
        table.find_all(graph, view);
        let AxisTable { sizes, nodes, sources, .. } = table;
        let places = Places::of(graph, view, sources);
        let count = places.count as usize;
        let mut sets = AxisSets {
            tuples: Vec::with_capacity(count),
            places,
            first_axis: Vec::with_capacity(count + 1),
            parents: Vec::with_capacity(2 * count),
            sizes: Vec::with_capacity(2 * count),
            parts: FxHashMap::default(),
            members: None,
            scanned: Vec::new(),
            folds: Vec::new(),
            reshapes: Vec::new(),
            has_scans: false,
            has_index_maps: false,
        };
        sets.first_axis.push(0);
        for (position, &node) in view.order().iter().enumerate() {
            sets.add_node(position, nodes.of(node));
        }
        sets.compress();
        sets.refine(sizes);
        sets.unite_uses(sizes);
        sets.unite_roots(sizes);
        sets.compress();
        sets
    }

    /// Makes each axis point at its representative, which is the first of its set.
    fn compress(&mut self) {
        for id in 0..self.parents.len() {
            self.parents[id] = self.parents[self.parents[id] as usize];
        }
    }

    /// The atoms of an axis, outermost first; none for axes of size 1, which no loop walks.
    pub fn atoms_of(&self, id: AxisId) -> AtomIds {
        let mut atoms = AtomIds::new();
        self.each_atom_of(id, &mut |atom| atoms.push(atom));
        atoms
    }

    /// Gives each atom of an axis of a tuple to a function, outermost first.
    pub fn each_atom_of_tuple(&self, tuple: AxisTuple, axis: u8, function: &mut impl FnMut(AxisId)) {
        self.each_atom_of(self.first_axis[tuple as usize] + AxisId::from(axis), function);
    }

    #[inline]
    fn each_atom_of(&self, id: AxisId, function: &mut impl FnMut(AxisId)) {
        if self.sizes[id as usize].is_none() {
            return;
        }
        let set = self.root(id);
        if self.parts.is_empty() { function(set) } else { self.each_part(set, function) }
    }

    fn each_part(&self, set: AxisId, function: &mut impl FnMut(AxisId)) {
        match self.parts.get(&set) {
            Some(parts) => parts.iter().for_each(|&part| self.each_part(self.root(part), function)),
            None => function(set),
        }
    }

    /// The atoms of all axes of a place, in order.
    pub(super) fn all_atoms(&self, place: Place) -> AtomIds {
        self.all_atoms_of(self.tuples[place as usize])
    }

    fn all_atoms_of(&self, tuple: AxisTuple) -> AtomIds {
        let mut atoms = AtomIds::new();
        (0..self.rank_of(tuple))
            .for_each(|axis| self.each_atom_of_tuple(tuple, axis, &mut |atom| atoms.push(atom)));
        atoms
    }

    /// How many axes all places have.
    pub fn axes(&self) -> usize {
        self.parents.len()
    }

    /// How many tuples there are.
    pub fn tuple_count(&self) -> AxisTuple {
        self.first_axis.len() as AxisTuple - 1
    }

    /// The axes of each place.
    pub fn into_tuples(self) -> (Places, Vec<AxisTuple>) {
        (self.places, self.tuples)
    }

    fn rank(&self, place: Place) -> u8 {
        self.rank_of(self.tuples[place as usize])
    }

    /// How many axes a tuple has.
    pub fn rank_of(&self, tuple: AxisTuple) -> u8 {
        (self.first_axis[tuple as usize + 1] - self.first_axis[tuple as usize]) as u8
    }

    /// The size of an atom.
    pub(super) fn size(&self, atom: AxisId) -> SizeNumber {
        self.sizes[atom as usize].expect("an atom has a size")
    }

    pub(super) fn id(&self, place: Place, axis: u8) -> AxisId {
        self.first_axis[self.tuples[place as usize] as usize] + AxisId::from(axis)
    }

    /// Whether a scan walks an atom.
    pub fn is_scanned(&self, atom: AxisId) -> bool {
        self.scanned.iter().any(|&id| self.root(id) == atom)
    }

    /// The first place that has the axes of a tuple.
    pub fn place_of(&self, tuple: AxisTuple) -> Place {
        let place = self.tuples.iter().position(|&other| other == tuple);
        place.expect("a tuple is that of some place") as Place
    }

    /// Adds the places of a node, and unites the axes that it walks together.
    fn add_node(&mut self, position: usize, node: &NodeAxes) {
        let same = self.add_operands(position, node);
        match same {
            Some(tuple) => self.tuples.push(tuple),
            None => node.results.iter().for_each(|sizes| {
                self.add_tuple(sizes);
            }),
        }
        for k in 0..node.operands.len() {
            if node.role != Role::BroadcastIota || self.places.maker(position, k).is_none() {
                self.unite_operand(position, node, k);
            }
        }
        match node.role {
            Role::Fold => self.folds.push(position),
            Role::Scan(axis) => self.add_scan(position, axis),
            Role::Reshape => self.reshapes.push(position),
            Role::BroadcastIota | Role::IndexMap | Role::Other => {}
        }
        self.has_index_maps |= matches!(node.role, Role::Reshape | Role::IndexMap);
    }

    /// Adds the operands of a node that are read from memory; returns the axes that its result shares with one, if any. Axes
    /// of a computed operand are shared, also with operands read beside it, as they would be united.
    fn add_operands(&mut self, position: usize, node: &NodeAxes) -> Option<AxisTuple> {
        let is_computed = |k: usize| self.places.maker(position, k).is_some();
        let computed = (0..node.operands.len()).find(|&k| node.operands[k].is_same && is_computed(k));
        let mut same = computed.map(|k| self.tuples[self.places.operand(position, k) as usize]);
        for (k, operand) in node.operands.iter().enumerate() {
            if self.places.maker(position, k).is_some() {
                continue;
            }
            match same.filter(|_| operand.is_same) {
                Some(tuple) => self.tuples.push(tuple),
                None => {
                    let tuple = self.add_tuple(&operand.sizes);
                    same = same.or(operand.is_same.then_some(tuple));
                }
            }
        }
        same
    }

    /// Adds a place with its own axes.
    fn add_tuple(&mut self, sizes: &[Option<SizeNumber>]) -> AxisTuple {
        let tuple = self.tuple_count();
        self.tuples.push(tuple);
        self.parents.extend((self.sizes.len()..self.sizes.len() + sizes.len()).map(|id| id as AxisId));
        self.sizes.extend_from_slice(sizes);
        self.first_axis.push(self.sizes.len() as AxisId);
        tuple
    }

    fn add_scan(&mut self, position: usize, axis: u8) {
        self.has_scans = true;
        let scanned = self.id(self.places.result(position), axis);
        self.scanned.extend(self.sizes[scanned as usize].map(|_| scanned));
    }

    /// Unites the axes of an operand with those of the results that are the same.
    fn unite_operand(&mut self, position: usize, node: &NodeAxes, k: usize) {
        let (first, place) = (self.places.result(position), self.places.operand(position, k));
        let operand = &node.operands[k];
        if operand.is_same && self.tuples[place as usize] == self.tuples[first as usize] {
            return;
        }
        for &(from, to) in &operand.kept {
            (0..node.results.len() as Place)
                .for_each(|result| self.unite((place, from), (first + result, to)));
        }
        // Axes that a fold reduces are in none of its results.
        if k > 0 && node.role == Role::Fold {
            let whole = self.places.operand(position, 0);
            (0..operand.sizes.len() as u8).for_each(|axis| self.unite((whole, axis), (place, axis)));
        }
    }

    pub(super) fn root(&self, mut id: AxisId) -> AxisId {
        while self.parents[id as usize] != id {
            id = self.parents[id as usize];
        }
        id
    }

    fn unite(&mut self, left: (Place, u8), right: (Place, u8)) {
        let (left, right) = (self.id(left.0, left.1), self.id(right.0, right.1));
        if self.sizes[left as usize].is_none() || self.sizes[right as usize].is_none() {
            return;
        }
        let (left_root, right_root) = (self.root(left), self.root(right));
        if left_root != right_root {
            self.join(left_root, right_root);
        }
        let root = left_root.min(right_root);
        self.parents[left as usize] = root;
        self.parents[right as usize] = root;
    }

    /// Makes two atoms one.
    pub(super) fn join(&mut self, left: AxisId, right: AxisId) {
        let (keep, drop) = (left.min(right), left.max(right));
        self.parents[drop as usize] = keep;
        if let Some(members) = &mut self.members {
            members.extend(keep, drop);
        }
    }

    /// Whether no place has an axis in both of two atoms.
    pub(super) fn are_apart(&mut self, a: AxisId, b: AxisId) -> bool {
        self.members().are_apart(a, b)
    }

    /// Adds the places of a set to those of its parts.
    pub(super) fn add_members(&mut self, whole: AxisId, parts: &[AxisId]) {
        let members = self.members();
        parts.iter().for_each(|&part| members.extend(part, whole));
    }

    /// The tuples of each atom, computed once: before, sets are only joined.
    fn members(&mut self) -> &mut Members {
        let found = self.members.take().unwrap_or_else(|| self.find_members());
        self.members.insert(found)
    }

    fn find_members(&self) -> Members {
        let mut members = Members::none(self.parents.len(), self.tuple_count());
        for tuple in 0..self.tuple_count() {
            (0..self.rank_of(tuple)).for_each(|axis| {
                self.each_atom_of_tuple(tuple, axis, &mut |atom| members.insert(atom, tuple));
            });
        }
        members
    }

    /// Unites the axes of all uses of one input, unless some value would then have two axes in one set.
    fn unite_uses(&mut self, sizes: &mut SizeTable) {
        let mut uses = std::mem::take(&mut self.places.uses);
        uses.sort_unstable_by_key(|&(input, place)| u64::from(input) << 32 | u64::from(place));
        for used in uses.chunk_by(|a, b| a.0 == b.0) {
            let (_, first) = used[0];
            for &(_, other) in &used[1..] {
                self.unite_all_if_free(first, other, sizes);
            }
        }
        self.places.uses = uses;
    }

    fn unite_all_if_free(&mut self, a: Place, b: Place, sizes: &mut SizeTable) {
        (0..self.rank(a)).for_each(|axis| self.unite_if_free((a, axis), (b, axis), sizes));
    }

    /// Unites the axes of roots of one shape that nothing in the group connects, so that one loop serves both. Of roots with
    /// the same axes the first stands for all.
    fn unite_roots(&mut self, sizes: &mut SizeTable) {
        let mut distinct: Vec<Place> = Vec::new();
        for root in self.roots() {
            if distinct.iter().any(|&other| self.have_same_axes(other, root)) {
                continue;
            }
            for &earlier in &distinct {
                if self.have_one_shape(earlier, root, sizes) {
                    self.unite_all_if_free(earlier, root, sizes);
                }
            }
            if !distinct.iter().any(|&other| self.have_same_axes(other, root)) {
                distinct.push(root);
            }
        }
    }

    fn have_same_axes(&self, a: Place, b: Place) -> bool {
        let [left, right] = [a, b].map(|place| self.tuples[place as usize]);
        let is_same = |axis| self.have_same_atoms(self.id(a, axis), self.id(b, axis));
        left == right || (self.rank(a) == self.rank(b) && (0..self.rank(a)).all(is_same))
    }

    pub(super) fn have_same_atoms(&self, a: AxisId, b: AxisId) -> bool {
        match [a, b].map(|id| self.sizes[id as usize]) {
            [None, None] => true,
            [Some(_), Some(_)] if self.root(a) == self.root(b) => true,
            [Some(_), Some(_)] => !self.parts.is_empty() && self.atoms_of(a) == self.atoms_of(b),
            _ => false,
        }
    }

    fn have_one_shape(&self, a: Place, b: Place, sizes: &mut SizeTable) -> bool {
        self.rank(a) == self.rank(b)
            && (0..self.rank(a)).all(|axis| {
                let [a, b] = [a, b].map(|place| self.sizes[self.id(place, axis) as usize]);
                match (a, b) {
                    (Some(a), Some(b)) => sizes.are_equal(a, b),
                    (None, None) => true,
                    (Some(size), None) | (None, Some(size)) => sizes.is_one(size),
                }
            })
    }

    /// The places that a group iterates over: the operands of its folds, and its outputs. One of several with the same axes.
    fn roots(&self) -> Vec<Place> {
        let mut is_known = vec![false; self.tuple_count() as usize];
        let folds = self.folds.iter().map(|&position| self.places.operand(position, 0));
        let made = self.places.made.iter().map(|made| made.place);
        let is_new =
            |place: &Place| !std::mem::replace(&mut is_known[self.tuples[*place as usize] as usize], true);
        folds.chain(made).filter(is_new).collect()
    }
}

/// The tuples that have an axis in each atom.
struct Members {
    /// Words of a set.
    words: usize,
    /// A bit for each tuple of each atom.
    bits: Vec<u64>,
}

impl Members {
    fn none(atoms: usize, tuples: AxisTuple) -> Members {
        let words = tuples.div_ceil(64) as usize;
        Members { words, bits: vec![0; atoms * words] }
    }

    fn insert(&mut self, atom: AxisId, tuple: AxisTuple) {
        self.bits[atom as usize * self.words + tuple as usize / 64] |= 1 << (tuple % 64);
    }

    /// Adds the tuples of another atom to those of one.
    fn extend(&mut self, atom: AxisId, other: AxisId) {
        let [atom, other] = [atom, other].map(|atom| atom as usize * self.words);
        (0..self.words).for_each(|word| self.bits[atom + word] |= self.bits[other + word]);
    }

    fn are_apart(&self, a: AxisId, b: AxisId) -> bool {
        let [a, b] = [a, b].map(|atom| atom as usize * self.words);
        (0..self.words).all(|word| self.bits[a + word] & self.bits[b + word] == 0)
    }
}
