//! Vectors in other shapes: scalars in all lanes, parts, vectors side by side, elements in another order.

use std::cmp::Ordering;

use super::Writer;
use crate::cpu::emit::operand::{Element, Operand, Type};

impl Writer<'_> {
    /// The same value in all lanes.
    pub fn splat(&mut self, value: Operand, lanes: u32) -> Operand {
        if value.ty.lanes.is_some() {
            return value;
        }
        if let Some(constant) = value.as_constant(lanes) {
            return constant;
        }
        let vector = Type { lanes: Some(lanes), ..value.ty };
        let first =
            self.instruction(vector, format_args!("insertelement {vector} poison, {}, i64 0", value.typed()));
        let picks = Operand::integer(0, vector.with(Element::I32));
        let text = format!("shufflevector {0}, {0}, {1}", first.typed(), picks.typed());
        self.instruction(vector, text)
    }

    /// `value` in the shape of a vector with `lanes` elements, or as it is for `None`.
    pub fn shaped(&mut self, value: Operand, lanes: Option<u32>) -> Operand {
        lanes.map_or(value, |lanes| self.splat(value, lanes))
    }

    /// One element of a vector.
    pub fn extract(&mut self, vector: Operand, lane: u32) -> Operand {
        let ty = Type::scalar(vector.ty.element);
        self.instruction(ty, format_args!("extractelement {}, i64 {lane}", vector.typed()))
    }

    /// Elements of two vectors by number through both, or of the first alone if there is no second; any element for `None`.
    fn shuffled(
        &mut self,
        a: Operand,
        b: Option<Operand>,
        picks: impl IntoIterator<Item = Option<u32>>,
    ) -> Operand {
        let pick = |pick: Option<u32>| pick.map_or("i32 poison".to_owned(), |pick| format!("i32 {pick}"));
        let picks: Vec<String> = picks.into_iter().map(pick).collect();
        let ty = Type { lanes: Some(picks.len() as u32), ..a.ty };
        let b = b.map_or_else(|| format!("{} poison", a.ty), Operand::typed);
        let mask = format!("<{} x i32> <{}>", picks.len(), picks.join(", "));
        self.instruction(ty, format_args!("shufflevector {}, {b}, {mask}", a.typed()))
    }

    /// The picked elements of a vector.
    pub fn picked(&mut self, vector: Operand, picks: impl IntoIterator<Item = u32>) -> Operand {
        self.shuffled(vector, None, picks.into_iter().map(Some))
    }

    /// The elements `from .. from + lanes` of a vector.
    pub fn slice(&mut self, vector: Operand, from: u32, lanes: u32) -> Operand {
        self.picked(vector, from..from + lanes)
    }

    /// A vector with its first `first` elements moved to its end.
    pub fn rotated(&mut self, vector: Operand, first: u32) -> Operand {
        let lanes = vector.ty.lanes.unwrap_or(1);
        self.picked(vector, (0..lanes).map(|lane| (lane + first) % lanes))
    }

    /// A vector whose first elements are replaced by a shorter vector.
    pub fn overlaid(&mut self, vector: Operand, first: Operand) -> Operand {
        let (lanes, short) = (vector.ty.lanes.unwrap_or(1), first.ty.lanes.unwrap_or(1));
        let widened = self.shuffled(first, None, (0..lanes).map(|lane| (lane < short).then_some(lane)));
        let picks = (0..lanes).map(|lane| if lane < short { lanes + lane } else { lane });
        self.shuffled(vector, Some(widened), picks.map(Some))
    }

    /// Two vectors of one type, one after the other.
    pub fn concatenate(&mut self, low: Operand, high: Operand) -> Operand {
        let lanes = low.ty.lanes.unwrap_or(1) * 2;
        self.shuffled(low, Some(high), (0..lanes).map(Some))
    }

    /// The elements of two vectors in turn, as two vectors.
    pub fn interleave(&mut self, a: Operand, b: Operand) -> [Operand; 2] {
        let lanes = a.ty.lanes.unwrap_or(1);
        [0, lanes / 2].map(|from| {
            let pairs = (from..from + lanes / 2).flat_map(|lane| [lane, lane + lanes]);
            self.shuffled(a, Some(b), pairs.map(Some))
        })
    }

    /// The elements in reverse order.
    pub fn reversed(&mut self, vector: Operand) -> Operand {
        let lanes = vector.ty.lanes.unwrap_or(1);
        self.shuffled(vector, None, (0..lanes).rev().map(Some))
    }

    /// Elements of several vectors of one type: for each lane the numbers of a vector and of its element.
    pub fn gathered(&mut self, vectors: &[Operand], picks: &[(usize, u32)]) -> Operand {
        let lanes = vectors[0].ty.lanes.unwrap_or(1);
        let mut found = vectors[0];
        for (number, &vector) in vectors.iter().enumerate().skip(1) {
            let pick = |(lane, &(from, element)): (usize, &(usize, u32))| match from.cmp(&number) {
                Ordering::Less if number == 1 => Some(element),
                Ordering::Less => Some(lane as u32),
                Ordering::Equal => Some(lanes + element),
                Ordering::Greater => None,
            };
            found = self.shuffled(found, Some(vector), picks.iter().enumerate().map(pick));
        }
        found
    }

    /// The elements of two to four vectors in turn, as one vector.
    pub fn interleaved(&mut self, vectors: &[Operand]) -> Operand {
        let lanes = vectors[0].ty.lanes.unwrap_or(1);
        match *vectors {
            [a, b, c] => {
                let (ab, cc) = (self.concatenate(a, b), self.concatenate(c, c));
                let picks = (0..lanes).flat_map(|lane| [lane, lanes + lane, 2 * lanes + lane]);
                self.shuffled(ab, Some(cc), picks.map(Some))
            }
            [a, b, c, d] => {
                let (ac, bd) = (self.interleaved(&[a, c]), self.interleaved(&[b, d]));
                self.interleaved(&[ac, bd])
            }
            _ => {
                let [low, high] = self.interleave(vectors[0], vectors[1]);
                self.concatenate(low, high)
            }
        }
    }

    /// Vectors of one type, a power of two of them, one after the other.
    pub fn joined(&mut self, mut vectors: Vec<Operand>) -> Operand {
        while vectors.len() > 1 {
            vectors = vectors.chunks(2).map(|pair| self.concatenate(pair[0], pair[1])).collect();
        }
        vectors[0]
    }

    /// The bits of a vector as elements of another width.
    pub fn reinterpret(&mut self, vector: Operand, element: Element) -> Operand {
        let bits = vector.ty.lanes.unwrap_or(1) * vector.ty.element.bits();
        let ty = Type { element, lanes: Some(bits / element.bits()) };
        self.instruction(ty, format_args!("bitcast {} to {ty}", vector.typed()))
    }
}
