//! Segments by hand in an explanation: each takes the place of the segments that the compiler plans for it. A segment that
//! runs nothing is a view.

use super::{CostUs, Edge, Explanation, SegmentExplanation};

/// Other words for a name; `None` for those that stay.
type Rename<'a> = &'a dyn Fn(&str) -> Option<String>;

impl Explanation {
    /// Writes sizes and values in other words.
    pub(crate) fn rename(&mut self, word: Rename<'_>) {
        let mut texts = vec![&mut self.peak_formula];
        for segment in &mut self.segments {
            for tensor in segment.inputs.iter_mut().chain(&mut segment.outputs) {
                texts.extend([&mut tensor.name, &mut tensor.bytes_formula]);
            }
            texts.extend(segment.operations.iter_mut().chain(&mut segment.recomputed));
            texts.extend(segment.evaluator_reason.iter_mut().chain([&mut segment.bytes_formula]));
        }
        texts.extend(self.edges.iter_mut().flat_map(|edge| [&mut edge.tensor, &mut edge.reason]));
        texts.extend(self.patterns.iter_mut().flat_map(|pattern| &mut pattern.outputs));
        texts.extend(self.lambdas.iter_mut().flat_map(|lambda| &mut lambda.outputs));
        texts.extend(self.softmaxes.iter_mut().flat_map(|softmax| [&mut softmax.maximum, &mut softmax.sum]));
        texts.into_iter().for_each(|text| *text = renamed(text, word));
    }

    /// Puts the explanation of a segment by hand in the place of the segments with these names. What one of another plan
    /// would cost is not known, so there is no certificate.
    pub(crate) fn replace(&mut self, names: &[String], mut own: Explanation, is_edited: bool) {
        let is_old = |name: &String| names.contains(name);
        let Some(place) = self.segments.iter().position(|segment| is_old(&segment.name)) else { return };
        own.rename_segments(names[0].strip_suffix(".seg0").unwrap_or(&names[0]));
        let all = std::mem::take(&mut self.segments);
        let (old, mut kept): (Vec<_>, Vec<_>) = all.into_iter().partition(|segment| is_old(&segment.name));
        own.take_surroundings(&old, is_edited);
        self.replace_edges(names, &own);
        self.replace_tasks(names, &own, is_edited.then_some(&old));
        self.bytes = self.bytes.saturating_sub(old.iter().map(|segment| segment.bytes).sum()) + own.bytes;
        if self.compulsory_bytes != 0 {
            self.traffic_ratio = self.bytes as f64 / self.compulsory_bytes as f64;
        }
        kept.splice(place..place, own.segments);
        let peak = kept.iter().map(|segment| segment.peak_bytes).max().unwrap_or(0);
        if peak != self.peak_bytes {
            (self.peak_bytes, self.peak_formula) = (peak, own.peak_formula);
        }
        self.segments = kept;
        self.certificate = None;
    }

    /// Shows the segments with these names as views, which run nothing.
    pub(crate) fn show_as_views(&mut self, names: &[String]) {
        for segment in self.segments.iter_mut().filter(|segment| names.contains(&segment.name)) {
            self.bytes = self.bytes.saturating_sub(segment.bytes);
            segment.become_view();
        }
        if self.compulsory_bytes != 0 {
            self.traffic_ratio = self.bytes as f64 / self.compulsory_bytes as f64;
        }
        self.batches.iter_mut().for_each(|batch| batch.retain(|name| !names.contains(name)));
        self.batches.retain(|batch| batch.len() > 1);
        self.certificate = None;
    }

    /// Names the segments after the one that they run for: `seg1`, or `seg1.seg0`, … if there are several.
    fn rename_segments(&mut self, name: &str) {
        let is_alone = self.segments.len() == 1;
        let renamed =
            |own: &mut String| *own = if is_alone { name.to_owned() } else { format!("{name}.{own}") };
        self.segments.iter_mut().for_each(|segment| renamed(&mut segment.name));
        self.edges.iter_mut().flat_map(|edge| [&mut edge.from, &mut edge.to]).for_each(renamed);
        self.batches.iter_mut().flatten().for_each(renamed);
        self.patterns.iter_mut().flat_map(|pattern| &mut pattern.segments).for_each(renamed);
        self.lambdas.iter_mut().flat_map(|lambda| &mut lambda.segments).for_each(renamed);
    }

    /// Adds what the segments have from those that they replace: device, stream, bytes that others hold meanwhile, and
    /// unless it is edited, what is computed again.
    fn take_surroundings(&mut self, old: &[SegmentExplanation], is_edited: bool) {
        let made = |segment: &SegmentExplanation| segment.outputs.iter().map(|tensor| tensor.bytes).sum();
        let held = old.iter().map(|segment| segment.peak_bytes.saturating_sub(made(segment))).min();
        for segment in &mut self.segments {
            segment.peak_bytes += held.unwrap_or(0);
            (segment.device, segment.stream) = (old[0].device.clone(), old[0].stream);
        }
        if let ([alone], false) = (&mut self.segments[..], is_edited) {
            alone.recomputed = old.iter().flat_map(|segment| segment.recomputed.clone()).collect();
            alone.saved = old.iter().flat_map(|segment| segment.saved.clone()).collect();
        }
    }

    fn replace_edges(&mut self, names: &[String], own: &Explanation) {
        let has =
            |tensors: &[super::TensorBytes], name: &str| tensors.iter().any(|tensor| tensor.name == name);
        let moved = |mut edge: Edge| {
            let (from, to) = (names.contains(&edge.from), names.contains(&edge.to));
            if from {
                let maker = own.segments.iter().find(|segment| has(&segment.outputs, &edge.tensor));
                // What no segment writes is a view, which is there once all have run.
                edge.from = maker.or(own.segments.last())?.name.clone();
            }
            if to {
                let reader = own.segments.iter().find(|segment| has(&segment.inputs, &edge.tensor));
                edge.to = reader?.name.clone();
            }
            (!(from && to)).then_some(edge)
        };
        self.edges = std::mem::take(&mut self.edges).into_iter().filter_map(moved).collect();
        self.edges.extend(own.edges.iter().cloned());
    }

    /// Launches, groups, composites, lambdas and softmaxes. Of segments that are not computed any more (`gone`) they are
    /// those of the definition by hand.
    fn replace_tasks(&mut self, names: &[String], own: &Explanation, gone: Option<&Vec<SegmentExplanation>>) {
        let is_in = |segments: &[String]| segments.iter().any(|name| names.contains(name));
        self.batches.retain(|batch| !is_in(batch));
        self.batches.extend(own.batches.iter().cloned());
        if let Some(gone) = gone {
            let makes = |name: &str| {
                let mut lines = gone.iter().flat_map(|segment| &segment.operations);
                lines.any(|line| line.starts_with(&format!("{name} = ")))
            };
            self.patterns.retain(|pattern| !is_in(&pattern.segments));
            self.lambdas.retain(|lambda| !is_in(&lambda.segments));
            self.softmaxes.retain(|softmax| !makes(&softmax.sum));
            self.patterns.extend(own.patterns.iter().cloned());
            self.lambdas.extend(own.lambdas.iter().cloned());
            self.softmaxes.extend(own.softmaxes.iter().cloned());
        }
        let new: Vec<String> = own.segments.iter().map(|segment| segment.name.clone()).collect();
        let lists = self.groups.iter_mut().map(|group| &mut group.segments);
        let lists = lists.chain(self.patterns.iter_mut().map(|pattern| &mut pattern.segments));
        for list in lists.chain(self.lambdas.iter_mut().map(|lambda| &mut lambda.segments)) {
            if let Some(place) = list.iter().position(|name| names.contains(name)) {
                list.retain(|name| !names.contains(name) && !new.contains(name));
                let place = place.min(list.len());
                list.splice(place..place, new.iter().cloned());
            }
        }
    }
}

impl SegmentExplanation {
    /// Whether it runs nothing, because what it gives is seen in memory that is there.
    pub(super) fn is_view(&self) -> bool {
        self.passes == 0 && self.schedule.is_none() && self.library.is_none()
    }

    fn become_view(&mut self) {
        for tensor in self.inputs.iter_mut().chain(&mut self.outputs) {
            (tensor.bytes, tensor.bytes_formula) = (0, "0".to_owned());
        }
        (self.ops, self.passes, self.cost_us) = (0, 0, CostUs::default());
        (self.schedule, self.library, self.evaluator_reason) = (None, None, None);
        (self.bytes, self.bytes_formula) = (0, "0".to_owned());
        self.operations.clear();
        self.kernels.clear();
        self.recomputed.clear();
        self.saved.clear();
    }
}

/// A text with its names in other words; formulas for names in a longer text are in parentheses.
fn renamed(text: &str, word: Rename<'_>) -> String {
    let is_of_name = |symbol: char| symbol.is_alphanumeric() || symbol == '_' || symbol == '.';
    let (mut made, mut rest) = (String::new(), text);
    while let Some(begin) = rest.find(is_of_name) {
        let (before, from) = rest.split_at(begin);
        let (name, after) = from.split_at(from.find(|symbol| !is_of_name(symbol)).unwrap_or(from.len()));
        made.push_str(before);
        match word(name) {
            Some(word) if word.chars().all(is_of_name) || text == name => made.push_str(&word),
            Some(word) => made.extend(["(", &word, ")"]),
            None => made.push_str(name),
        }
        rest = after;
    }
    made + rest
}
