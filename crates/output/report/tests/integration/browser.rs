//! The page in a real browser: nothing sticks out, however narrow the window; nothing is
//! blocked; links lead somewhere; colours can be chosen.

use std::fs;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use disklab_decision::ComparisonTerms;
use disklab_exec::{Executor, Invocation, find_program};
use disklab_report::{ReportFormat, TwoRuns, VersusFormat, render};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::support;

/// A telephone, and a window on a screen; in CSS pixels.
const WIDTHS: [u32; 2] = [360, 1280];
/// A browser takes a second or two for a page.
const LIMIT: Duration = Duration::from_secs(180);

/// What the browser made of a page.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Seen {
    /// Of the window, without its scroll bar, and of the page in it, in CSS pixels.
    window: u32,
    page: u32,
    /// Elements that stand out on the right and cannot be scrolled to by themselves.
    stick_out: Vec<String>,
    /// Links within the page that lead nowhere.
    dead_links: Vec<String>,
    /// What the page's own policy kept from being loaded or run.
    blocked: Vec<String>,
    /// Headings and figures that nobody can see, though nothing hides them.
    invisible: Vec<String>,
    /// Names in the picture that cover a dot or another name.
    covering: Vec<String>,
    /// Of the whole page, in CSS pixels.
    height: u32,
    /// A column of the first table that sorts, after a click on its head.
    sorted: Vec<String>,
    /// What saves charts.
    buttons: usize,
    /// The colour of the text when it is chosen to be light and dark.
    light: String,
    dark: String,
}

/// Runs in the page, which allows it in the test only, and tells who framed the page.
const PROBE: &str = r##"
const blocked = [];
document.addEventListener('securitypolicyviolation', e => blocked.push(e.violatedDirective));
addEventListener('load', () => {
  const name = e => `${e.tagName} ${e.className} ${e.textContent.slice(0, 40)}`;
  const scrolls = e => {
    while ((e = e.parentElement)) if (getComputedStyle(e).overflowX != 'visible') return true;
    return false;
  };
  const root = document.documentElement;
  const height = root.scrollHeight;
  document.querySelectorAll('details.fold').forEach(fold => { fold.open = true; });
  const all = [...document.querySelectorAll('main *, footer *')];
  const right = e => e.getBoundingClientRect().right;
  const colour = id => {
    document.getElementById(id).click();
    return getComputedStyle(document.body).color;
  };
  const covering = () => {
    const boxes = (css, size) => [...document.querySelectorAll(css)].map(e => [e, e.getBoundingClientRect()])
      .filter(([, r]) => r.width).map(([e, r]) => {
        const [x, y] = [(r.left + r.right) / 2, (r.top + r.bottom) / 2];
        const [w, h] = size ?? [r.width / 2 - 1, r.height / 2 - 2];
        return [e, x - w, y - h, x + w, y + h];
      });
    const labels = boxes('.picture .label');
    const all = [...labels, ...boxes('.picture .mark', [5, 5])];
    return labels.filter(([e, l, t, r, b]) => all.some(([f, x, y, z, u]) => e !== f && l < z && x < r && t < u && y < b))
      .map(([e]) => e.textContent);
  };
  // The last column of the first table that sorts, after a click on its head.
  const sorted = () => {
    const table = document.querySelector('table.sortable');
    if (!table) return [];
    const column = table.tHead.rows[0].cells.length - 1;
    table.tHead.rows[0].cells[column].querySelector('button').click();
    return [...table.tBodies[0].rows].filter(row => row.className != 'fixed')
      .map(row => row.cells[column].textContent);
  };
  const seen = {
    window: root.clientWidth,
    page: root.scrollWidth,
    'stick-out': all.filter(e => right(e) > root.clientWidth + 1 && !scrolls(e)).map(name),
    'dead-links': [...document.querySelectorAll('a[href^="#"]')].map(a => a.getAttribute('href'))
      .filter(href => href.length < 2 || !document.getElementById(href.slice(1))),
    invisible: all.filter(e => /^(H[1-6]|FIGURE|TABLE)$/.test(e.tagName))
      .filter(e => !e.closest('details:not([open])'))
      // The answers for another number of drives that may fail.
      .filter(e => !e.closest('.chosen') || !document.querySelector('.chosen .answer'))
      .filter(e => e.getBoundingClientRect().width * e.getBoundingClientRect().height < 1).map(name),
    covering: covering(),
    height,
    sorted: sorted(),
    buttons: document.querySelectorAll('.save button').length,
    light: colour('theme-light'),
    dark: colour('theme-dark'),
    blocked,
  };
  parent.postMessage(JSON.stringify(seen), '*');
});
"##;

/// What the browser makes of `page` in a window of this width; none where there is none.
fn screenshot(page: &str, width: u32) -> Option<Seen> {
    let said = ask(page, &[PROBE], width)?;
    Some(serde_json::from_str(&said).unwrap_or_else(|e| panic!("{e}: {said}")))
}

/// What these scripts, which run in `page`, tell who framed it; none without a browser.
fn ask(page: &str, scripts: &[&str], width: u32) -> Option<String> {
    if find_program("chromium").is_none() {
        eprintln!("skipped: needs chromium");
        return None;
    }
    let directory = tempfile::tempdir().expect("temp");
    let file = |name: &str| directory.path().join(name);
    fs::write(file("page.html"), with_scripts(page, scripts)).expect("written");
    // A browser's own window cannot be as narrow as a telephone's.
    // The browser prints the frame when it has loaded: a document that is left open keeps it
    // loading until the scripts have told.
    let frame = format!(
        "<!DOCTYPE html><meta charset=utf-8><iframe id=hold width=1 height=1></iframe>\
         <pre id=seen></pre><script>\
         const hold = document.getElementById('hold').contentDocument;\
         hold.open(); hold.write('loading');\
         onmessage = e => {{ document.getElementById('seen').textContent = e.data; hold.close(); }};\
         </script><iframe src=page.html width={width} height=900 style='border:0'></iframe>"
    );
    fs::write(file("frame.html"), frame).expect("written");
    let browser = Invocation::new("chromium")
        // Its sandbox refuses root; what it is shown is ours.
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .arg(format!("--user-data-dir={}", file("profile").display()))
        .args(["--window-size=1400,1000", "--dump-dom"])
        .arg(format!("file://{}", file("frame.html").display()))
        .timeout(LIMIT);
    let said = Executor::default().check(&browser).expect("the browser ran").text();
    let (_, seen) = said.split_once("<pre id=\"seen\">").expect("it has the frame");
    let (seen, _) = seen.split_once("</pre>").expect("all of it");
    Some(seen.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
}

/// The page with these scripts, which its policy lets run in addition to its own.
fn with_scripts(page: &str, scripts: &[&str]) -> String {
    let (before, rest) = page.split_once("script-src 'sha256-").expect("a policy");
    let digest = |script: &&str| format!(" 'sha256-{}'", STANDARD.encode(Sha256::digest(script)));
    let more: String = scripts.iter().map(digest).collect();
    let (own, rest) = rest.split_once('\'').expect("a digest");
    let elements: String =
        scripts.iter().map(|script| format!("<script>{script}</script>")).collect();
    format!("{before}script-src 'sha256-{own}'{more}{rest}").replacen(
        "</head>",
        &format!("{elements}</head>"),
        1,
    )
}

/// Where `scripts/needs test` puts axe-core, which knows the rules of WCAG.
const AXE: &str = ".cache/disklab/axe-4.12.1.min.js";

/// Its findings in the page, in light and in dark colours.
const AXE_RUN: &str = r#"
addEventListener('load', async () => {
  const found = [];
  document.querySelectorAll('details').forEach(fold => { fold.open = true; });
  for (const theme of ['theme-light', 'theme-dark']) {
    document.getElementById(theme).click();
    const { violations } = await axe.run(document, { iframes: false });
    for (const { id, help, nodes } of violations) {
      found.push(`${theme}: ${id}: ${help}: ${nodes.slice(0, 3).map(n => n.html.slice(0, 120)).join(' | ')}`);
    }
  }
  parent.postMessage(JSON.stringify(found), '*');
});
"#;

#[test]
fn people_with_disabilities_can_use_it() {
    let home = std::env::var_os("HOME").map(std::path::PathBuf::from).unwrap_or_default();
    let Ok(axe) = fs::read_to_string(home.join(AXE)) else {
        eprintln!("skipped: needs axe-core");
        return;
    };
    let page = render(&support::made(3, 2, "lab", 2), ReportFormat::Html);
    for width in WIDTHS {
        let Some(said) = ask(&page, &[&axe, AXE_RUN], width) else { return };
        assert_eq!(said, "[]", "in {width} pixels");
    }
    let fault = "<main><input type='text'>";
    let page =
        render(&support::made(1, 1, "lab", 1), ReportFormat::Html).replacen("<main>", fault, 1);
    let said = ask(&page, &[&axe, AXE_RUN], 1280).expect("a browser");
    assert!(said.contains("label: Form elements must have labels"), "{said}");
}

fn check(page: &str) {
    for width in WIDTHS {
        let Some(seen) = screenshot(page, width) else { return };
        assert!(seen.window <= width && seen.window + 20 > width, "{seen:?}");
        assert!(seen.page <= seen.window, "wider than {width}: {seen:#?}");
        for faults in
            [&seen.stick_out, &seen.dead_links, &seen.blocked, &seen.invisible, &seen.covering]
        {
            assert!(faults.is_empty(), "in {width} pixels: {seen:#?}");
        }
        assert_ne!(seen.light, seen.dark, "the colours cannot be chosen");
    }
}

#[test]
fn faults_are_seen() {
    let page = render(&support::made(1, 1, "lab", 1), ReportFormat::Html);
    let faults = "<main><p style='width: 3000px'>wide</p><a href='#nowhere'>dead</a>\
        <figure style='display: none'>gone</figure><img src='http://127.0.0.1:9/x.png'>";
    let Some(seen) = screenshot(&page.replacen("<main>", faults, 1), 1280) else { return };
    assert!(seen.page >= 3000, "{seen:?}");
    assert_eq!(seen.stick_out, ["P  wide"]);
    assert_eq!(seen.dead_links, ["#nowhere"]);
    assert_eq!(seen.invisible.len(), 1);
    assert!(seen.invisible[0].starts_with("FIGURE  gone"), "{seen:?}");
    assert_eq!(seen.blocked, ["img-src"]);
}

#[test]
fn a_page_fits_a_telephone_and_a_screen() {
    check(&render(&support::made(3, 4, "loop", 2), ReportFormat::Html));
}

/// What a person needs is on three screens, whatever the number of stacks.
#[test]
fn a_page_of_any_number_of_stacks_is_short_and_readable() {
    for stacks in [1, 5, 23, 60] {
        let rate = |n: usize| 200.0 + f64::from((n * 37 % 60) as u32) * 5.0;
        let rates: Vec<[f64; 2]> = (0..60).map(|n| [rate(n), rate(n + 7)]).collect();
        let report = crate::refuting::run(stacks, &rates, &[0.001, 0.002, 0.001, 0.003]);
        let page = render(&report, ReportFormat::Html);
        check(&page);
        let Some(seen) = screenshot(&page, 1280) else { return };
        assert!(seen.height <= 3 * 900, "{stacks} stacks: {seen:#?}");
    }
}

#[test]
fn tables_sort_by_a_click_and_charts_can_be_saved() {
    let page = render(&support::made(3, 4, "loop", 6), ReportFormat::Html);
    let Some(seen) = screenshot(&page, 1280) else { return };
    assert!(seen.sorted.len() > 2 && seen.buttons >= 2, "{seen:?}");
    let number = |text: &String| match text.as_str() {
        "best" => 1.0,
        "≈ best" => 0.98,
        text => text.parse::<f64>().expect("a share"),
    };
    assert!(seen.sorted.iter().map(number).is_sorted_by(|a, b| a >= b), "{seen:?}");
}

/// Clicks what saves the first chart, and looks at what the browser was given to save.
const SAVE: &str = r#"
const blobs = [];
let haveBoth;
const both = new Promise(done => { haveBoth = done; });
URL.createObjectURL = blob => { if (blobs.push(blob) == 2) haveBoth(); return '#'; };
HTMLAnchorElement.prototype.click = () => {};
addEventListener('load', async () => {
  for (const button of document.querySelectorAll('.save')[0].children) button.click();
  await both;
  const [svg, png] = blobs[0].type.includes('svg') ? blobs : blobs.toReversed();
  const drawing = new DOMParser().parseFromString(await svg.text(), 'image/svg+xml');
  const image = await createImageBitmap(png);
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [image.width, image.height];
  const context = canvas.getContext('2d');
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, image.width, image.height);
  const colours = new Set(new Uint32Array(data.buffer));
  parent.postMessage(JSON.stringify({
    root: drawing.documentElement.tagName,
    words: drawing.documentElement.textContent.includes('RAID'),
    html: drawing.querySelectorAll('foreignObject, [class], button').length,
    lines: [...drawing.querySelectorAll('text')].length > 5,
    type: png.type,
    wide: image.width > 400,
    drawn: colours.size > 5,
  }), '*');
});
"#;

#[test]
fn saved_charts_are_whole() {
    let page = render(&support::made(3, 4, "loop", 6), ReportFormat::Html);
    let Some(said) = ask(&page, &[SAVE], 1280) else { return };
    let expected = r#"{"root":"svg","words":true,"html":0,"lines":true,"type":"image/png","wide":true,"drawn":true}"#;
    assert_eq!(said, expected);
}

/// Filters and sorts the first table as hands on keys do, and looks at what focus shows.
const USE: &str = r#"
addEventListener('load', () => {
  const table = document.querySelector('table.sortable');
  const rows = [...table.tBodies].flatMap(body => [...body.rows]);
  const own = rows.filter(row => !row.classList.contains('fixed'));
  const heads = rows.filter(row => row.classList.contains('fixed'));
  const shown = () => own.filter(row => row.getBoundingClientRect().height > 0).length;
  const input = document.querySelector('.filter input');
  const filter = text => { input.value = text; input.dispatchEvent(new Event('input')); return shown(); };
  const word = own[0].cells[0].textContent.split(' ').at(-1).toLowerCase();
  const column = table.tHead.rows[0].cells[1];
  const button = column.querySelector('button');
  const click = () => { button.click(); return column.getAttribute('aria-sort'); };
  const tip = table.querySelector('.tip');
  // What is hidden by a filter loses the focus: at the end.
  const tipped = () => {
    window.focus();
    tip.focus();
    return getComputedStyle(tip, '::after').content == `"${tip.dataset.tip}"`;
  };
  parent.postMessage(JSON.stringify({
    all: shown(),
    word: filter(word),
    expected: own.filter(row => row.textContent.toLowerCase().includes(word)).length,
    nothing: [filter('no such stack'), heads.filter(head => !head.hidden).length],
    again: filter(''),
    keys: [input, button, tip].every(element => element.tabIndex == 0),
    sorted: [click(), click()],
    tip: tipped(),
  }), '*');
});
"#;

#[test]
fn tables_filter_by_keys_and_focus_shows_the_interval() {
    let page = render(&support::made(3, 4, "loop", 6), ReportFormat::Html);
    let Some(said) = ask(&page, &[USE], 1280) else { return };
    let seen: serde_json::Value = serde_json::from_str(&said).expect("JSON");
    let count = |name: &str| seen[name].as_u64().unwrap_or_else(|| panic!("{name}: {said}"));
    assert!(0 < count("word") && count("word") < count("all"), "{said}");
    assert_eq!(count("word"), count("expected"), "{said}");
    assert_eq!(seen["nothing"], serde_json::json!([0, 0]), "{said}");
    assert_eq!(count("again"), count("all"), "{said}");
    assert_eq!(seen["sorted"], serde_json::json!(["descending", "ascending"]), "{said}");
    assert!(seen["keys"] == true && seen["tip"] == true, "{said}");
}

#[test]
fn a_lab_page_without_repeats_fits() {
    check(&render(&support::made(2, 2, "lab", 1), ReportFormat::Html));
}

#[test]
fn a_page_with_published_results_fits() {
    check(&render(
        &crate::published::published_rows(support::made(2, 2, "lab", 1)),
        ReportFormat::Html,
    ));
}

#[test]
fn a_page_of_two_runs_fits() {
    let runs = ["a", "b"].map(|name| (name.to_owned(), support::made(2, 2, "loop", 2)));
    let [a, b] = runs;
    let terms = ComparisonTerms { margin: 0.05, unplanned: true, ..ComparisonTerms::default() };
    let runs = TwoRuns::compare(a, b, terms).expect("in common");
    check(&runs.render(VersusFormat::Html));
}

#[test]
fn long_names_do_not_widen_the_page() {
    let mut report = support::made(2, 2, "lab", 1);
    report.info.title = "a-name-without-a-single-blank-".repeat(8);
    for group in &mut report.analysis.groups {
        group.key.levels.stack =
            group.key.levels.stack.replace("ext4", &"ext4[option=value,".repeat(12));
    }
    check(&render(&report, ReportFormat::Html));
}
