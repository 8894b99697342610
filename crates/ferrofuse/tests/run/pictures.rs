//! Pictures of all examples: boxes do not overlap, text is within its box, arrows go around boxes, names differ.

use std::collections::BTreeSet;

use ferrofuse::{
    CompileOptions, Explanation, Hints, PlanOptions, define, difference, explain, html, plan, svg, unfused,
};

use crate::examples::examples;

/// Width of a character of the font.
const CHARACTER: f64 = 7.3;

#[derive(Clone, Copy, Debug)]
struct Area {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Area {
    fn covers(&self, [x, y]: [f64; 2]) -> bool {
        self.left < x && x < self.right && self.top < y && y < self.bottom
    }

    fn overlaps(&self, other: &Area) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    fn holds(&self, other: &Area) -> bool {
        self.left <= other.left
            && other.right <= self.right
            && self.top <= other.top
            && other.bottom <= self.bottom
    }
}

/// The numeric value of a tag's attribute.
fn attribute(tag: &str, name: &str) -> f64 {
    let value = tag.split(&format!(" {name}=\"")).nth(1).and_then(|rest| rest.split('"').next());
    value.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("{name} of {tag}"))
}

/// The tags of a name, each with the text after it.
fn tags<'t>(picture: &'t str, name: &str) -> Vec<(&'t str, &'t str)> {
    let open = format!("<{name} ");
    let parts = picture.split(open.as_str()).skip(1);
    parts
        .map(|part| part.split_once('>').expect("a tag ends"))
        .map(|(tag, rest)| (tag, rest.split('<').next().unwrap()))
        .collect()
}

fn boxes(picture: &str) -> Vec<Area> {
    let area = |(tag, _): (&str, &str)| {
        let tag = format!(" {tag}");
        let (left, top) = (attribute(&tag, "x"), attribute(&tag, "y"));
        Area { left, top, right: left + attribute(&tag, "width"), bottom: top + attribute(&tag, "height") }
    };
    tags(picture, "rect").into_iter().map(area).collect()
}

fn labels(picture: &str) -> Vec<(Area, String)> {
    let label = |(tag, text): (&str, &str)| {
        let tag = format!(" {tag}");
        let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        let (left, base) = (attribute(&tag, "x"), attribute(&tag, "y"));
        let right = left + CHARACTER * text.chars().count() as f64;
        (Area { left, top: base - 10.0, right, bottom: base + 3.0 }, text)
    };
    tags(picture, "text").into_iter().map(label).collect()
}

/// Points along an arrow: a curve, and the line on through a layer, if there is one.
fn points(path: &str) -> Vec<[f64; 2]> {
    let numbers: Vec<f64> =
        path.split(['M', 'C', 'V', ' ']).filter_map(|number| number.parse().ok()).collect();
    let [x, y, _, _, _, _, to_x, to_y] = numbers[..8] else { panic!("{path}") };
    let middle = (y + to_y) / 2.0;
    let mix = |t: f64, a: f64, b: f64, c: f64, d: f64| {
        let s = 1.0 - t;
        s * s * s * a + 3.0 * s * s * t * b + 3.0 * s * t * t * c + t * t * t * d
    };
    let curve = (0..=40).map(|step| {
        let t = f64::from(step) / 40.0;
        [mix(t, x, x, to_x, to_x), mix(t, y, middle, middle, to_y)]
    });
    let down = numbers
        .get(8)
        .into_iter()
        .flat_map(|&end| (0..=10).map(move |step| [to_x, to_y + (end - to_y) * f64::from(step) / 10.0]));
    curve.chain(down).collect()
}

fn check(name: &str, picture: &str) {
    let (boxes, labels) = (boxes(picture), labels(picture));
    let whole = Area {
        left: 0.0,
        top: 0.0,
        right: attribute(picture, "width"),
        bottom: attribute(picture, "height"),
    };
    for (place, area) in boxes.iter().enumerate() {
        assert!(whole.holds(area), "{name}: {area:?} outside of {whole:?}");
        let other = boxes[..place].iter().find(|other| other.overlaps(area));
        assert!(other.is_none(), "{name}: {area:?} and {other:?}");
    }
    for (place, (area, text)) in labels.iter().enumerate() {
        assert!(boxes.iter().any(|around| around.holds(area)), "{name}: `{text}` sticks out");
        let other = labels[..place].iter().find(|(other, _)| other.overlaps(area));
        assert!(other.is_none(), "{name}: `{text}` and {other:?}");
    }
    let arrows: Vec<&str> =
        picture.split("class=\"arrow\" d=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert!(!arrows.is_empty(), "{name}");
    for arrow in arrows {
        for point in points(arrow) {
            let crossed = boxes.iter().find(|area| area.covers(point));
            assert!(crossed.is_none(), "{name}: an arrow crosses {crossed:?} at {point:?}");
        }
    }
    let bold = picture.split("font-weight=\"bold\">").skip(1).map(|rest| rest.split('<').next().unwrap());
    let names: Vec<&str> = bold.filter(|name| !name.contains('…')).collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{name}: {names:?}");
    assert!(picture.contains("marker-end"), "{name}");
}

fn explained(text: &str, is_fused: bool) -> Explanation {
    let definition = define(text).expect("defines");
    let computed = |definition: &ferrofuse::Definition| {
        unfused(&definition.graph, &definition.fusion, &definition.tasks)
    };
    let segmentation = (!is_fused).then(|| computed(&definition));
    let options = CompileOptions {
        plan: PlanOptions { segmentation, ..PlanOptions::default() },
        ..CompileOptions::default()
    };
    explain(&definition, &plan(&definition, &options).expect("plans"), &Hints::default())
        .expect("its own plan")
}

#[test]
fn nothing_overlaps_in_the_pictures_of_the_examples() {
    for (name, text) in examples() {
        for is_fused in [true, false] {
            check(&name, &svg(&explained(&text, is_fused)));
        }
    }
}

#[test]
fn a_page_needs_nothing_else_and_says_what_each_segment_does() {
    for (name, text) in examples() {
        let [chosen, unfused] = [true, false].map(|is_fused| explained(&text, is_fused));
        let page = html(&chosen, &name, &[("unfused", &unfused)]);
        assert!(!page.contains("<script") && !page.contains("src=") && !page.contains("url(http"), "{name}");
        assert!(page.contains("<td>unfused</td>") && page.contains("prefers-color-scheme:dark"), "{name}");
        for segment in &chosen.segments {
            assert!(
                page.contains(&format!("<summary><b>{}</b>: {} ops", segment.name, segment.ops)),
                "{name}"
            );
            assert_eq!(segment.operations.len(), segment.ops, "{name}");
        }
        let links = page.split("<a href=\"#").skip(1).map(|rest| rest.split('"').next().unwrap());
        links.for_each(|link| assert!(page.contains(&format!("id=\"{link}\"")), "{name}: {link}"));
    }
}

#[test]
fn a_saved_explanation_is_the_same_and_its_difference_is_told() {
    for (name, text) in examples() {
        let [chosen, unfused] = [true, false].map(|is_fused| explained(&text, is_fused));
        let saved = serde_json::to_string(&chosen).expect("plain data");
        let read: Explanation = serde_json::from_str(&saved).expect("as it was saved");
        assert_eq!((read.to_string(), svg(&read)), (chosen.to_string(), svg(&chosen)), "{name}");
        assert_eq!(difference(&chosen, &chosen).lines("a", "b"), "no difference\n", "{name}");
        let difference = difference(&chosen, &unfused);
        assert!(chosen.segments.len() == unfused.segments.len() || !difference.is_empty(), "{name}");
    }
}

/// A value is computed again because that reads less than keeping it.
#[test]
fn an_explanation_tells_what_computing_again_saves_and_the_memory_at_most() {
    let text = "
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    y = fd.ops.cast(x, dtype=DataType.Float)
    rows = fd.ops.sum(y, dims=[1], keepdim=True)
    columns = fd.ops.sum(fd.ops.mul(y, rows), dims=[0], keepdim=True)
    fd.add_output(fd.ops.mul(y, columns))
";
    let explanation = explained(text, true);
    let [first, second] = &explanation.segments[..] else { panic!("{explanation}") };
    assert_eq!((&second.recomputed[..], second.saved.len()), (&["y".to_owned()][..], 1));
    let size = 1024 * 1024;
    assert_eq!(second.saved[0], 2 * size, "f32 instead of bf16");
    let columns = 4 * 1024;
    assert_eq!((first.peak_bytes, second.peak_bytes), (columns, columns + 4 * size as u64));
    assert_eq!(explanation.peak_bytes, second.peak_bytes);
    assert_eq!(
        explanation.assumed.iter().map(|(size, &value)| format!("{size} = {value}")).collect::<Vec<_>>(),
        ["i0 = 1024", "i1 = 1024"]
    );
    assert!(first.cost_us.memory > 0.0 && explanation.cost_us() > first.cost_us.total());
}
