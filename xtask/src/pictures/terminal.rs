//! A terminal window with a command and its output, as SVG.

use super::escaped;
use std::fmt::Write;

/// Characters in a line; longer lines are wrapped between words.
const COLUMNS: usize = 100;
const LINE_HEIGHT: usize = 19;
/// Width of a character at a font size of 13.
const CHARACTER_WIDTH: f64 = 7.83;
const MARGIN: usize = 18;
const TITLE_BAR: usize = 30;

const STYLE: &str = "\
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #d4dae3; white-space: pre }
.command { fill: #ffffff; font-weight: bold } .error { fill: #ff7b72 } .help { fill: #79c0ff } .place { fill: #8b949e } .good { fill: #7ee787 }
";

pub fn picture(command: &str, output: &str) -> String {
    let mut lines = vec![("command", format!("$ {command}"))];
    for line in output.trim_end().lines() {
        let class = class(line);
        lines.extend(wrapped(line).into_iter().map(|part| (class, part)));
    }
    let width = (COLUMNS as f64 * CHARACTER_WIDTH).ceil() as usize + 2 * MARGIN;
    let height = TITLE_BAR + lines.len() * LINE_HEIGHT + MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n\
         <title>{command}: its findings, each with the line of the model and a proposal</title>\n<style>\n{STYLE}</style>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#161b22\"/>\n\
         <circle cx=\"20\" cy=\"16\" r=\"5\" fill=\"#ff5f56\"/><circle cx=\"38\" cy=\"16\" r=\"5\" fill=\"#ffbd2e\"/><circle cx=\"56\" cy=\"16\" r=\"5\" fill=\"#27c93f\"/>\n"
    );
    for (number, (class, line)) in lines.iter().enumerate().filter(|(_, (_, line))| !line.is_empty()) {
        let y = TITLE_BAR + (number + 1) * LINE_HEIGHT - 4;
        // The length keeps columns aligned whichever monospaced font the reader has.
        let length = line.chars().count() as f64 * CHARACTER_WIDTH;
        let _ = writeln!(
            svg,
            "<text x=\"{MARGIN}\" y=\"{y}\" class=\"{class}\" textLength=\"{length:.1}\" xml:space=\"preserve\">{}</text>",
            escaped(line)
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// What a line of the output is, for its colour.
fn class(line: &str) -> &'static str {
    let starts = |prefix: &str| line.trim_start().starts_with(prefix);
    if starts("error") || is_underline(line) || line.ends_with("not served") {
        "error"
    } else if starts("= help") {
        "help"
    } else if starts("-->") || line.trim() == "|" {
        "place"
    } else if line.contains(" read unit") {
        "good"
    } else {
        "text"
    }
}

fn is_underline(line: &str) -> bool {
    line.ends_with('^')
        && line.trim_start().strip_prefix('|').is_some_and(|rest| rest.trim_matches([' ', '^']).is_empty())
}

/// Further lines are indented as the first one is.
fn wrapped(line: &str) -> Vec<String> {
    let indent = &line[..line.len() - line.trim_start().len()];
    let mut parts = Vec::new();
    let mut rest = line.to_owned();
    while rest.chars().count() > COLUMNS {
        let end = rest.char_indices().nth(COLUMNS).map_or(rest.len(), |(end, _)| end);
        let cut = rest[..end].rfind(' ').filter(|cut| *cut > indent.len()).unwrap_or(end);
        let next = format!("{indent}  {}", rest[cut..].trim_start());
        rest.truncate(cut);
        parts.push(std::mem::replace(&mut rest, next));
    }
    parts.push(rest);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_wrapped_and_markup_is_escaped() {
        assert_eq!(wrapped(&format!("{} {}", "x".repeat(60), "y".repeat(60))).len(), 2);
        assert_eq!(wrapped(&"x".repeat(COLUMNS + 1)).len(), 2);
        assert!(picture("a", "b < c\n").contains("b &lt; c"));
    }
}
