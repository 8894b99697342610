//! `docs/cuda.md` compared with the emitted texts.

use ferrofuse::Stage;

use super::{files_of, text_of};

/// Every excerpt of a stage in `docs/cuda.md` occurs in the text of the example that the page names last before it.
#[test]
fn the_page_shows_what_is_emitted() {
    let page = include_str!("../../../../../docs/cuda.md");
    let mut sources = files_of("examples");
    sources.retain(|(name, _)| page.contains(&format!("`examples/{name}.py`")));
    let mut shown = 0;
    for (place, _) in page.match_indices("```\n\n") {
        let Some((before, excerpt)) = page[..place].rsplit_once("\n```") else { continue };
        let Some((stage, excerpt)) = excerpt.split_once('\n') else { continue };
        let named = sources.iter().max_by_key(|(name, _)| before.rfind(&format!("`examples/{name}.py`")));
        let (name, source) = named.expect("an example is named first");
        let stage = match stage {
            "schedule" => Stage::Schedule,
            "kernel" => Stage::Kernel,
            "cuda" => Stage::CUDA,
            _ => continue, // Python, which tests of the package run
        };
        let text = text_of(stage, source);
        assert!(text.contains(excerpt), "{name}:\n{excerpt}\n---\n{text}");
        shown += 1;
    }
    assert!(shown >= 8, "{shown} excerpts");
}
