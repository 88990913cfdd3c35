//! Colours for the text of a script: a small reader of Starlark's words, the same on server and in the browser. It knows no
//! grammar and never fails: what it does not know is left as it is.

/// Words of the language.
const KEYWORDS: [&str; 18] = [
    "and", "break", "continue", "def", "elif", "else", "for", "if", "in", "lambda", "load", "not", "or",
    "pass", "return", "None", "True", "False",
];
/// What a script is given, and what it sets.
pub const GIVEN: [(&str, &str); 9] = [
    (
        "candidates",
        "list of dicts: ip, port, region, weight, priority, asn, health_score, rtt_ms",
    ),
    ("qname", "the name asked for, lower case, with its dot at the end"),
    ("qtype", "\"A\" or \"AAAA\""),
    ("client_ip", "the client subnet of the query, else its source"),
    ("client_country", "two letters, \"\" when unknown"),
    ("client_asn", "number of the client's network, 0 when unknown"),
    ("now", "Unix seconds"),
    ("service", "name of the service"),
    ("result", "set it: the addresses that stay, best first"),
];

/// The text as HTML with a class for each kind of word; the line `bad` (from 1) is marked.
#[must_use]
pub fn paint(text: &str, bad: Option<usize>) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let mut open = None;
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            out.push('\n');
        }
        let is_bad = bad == Some(at + 1);
        if is_bad {
            out.push_str("<mark>");
        }
        open = paint_line(line, open, &mut out);
        if is_bad {
            out.push_str("</mark>");
        }
    }
    // A line end at the end makes a line only with something behind it.
    out.push(' ');
    out
}

/// Numbers of the lines, the bad one marked.
#[must_use]
pub fn numbers(text: &str, bad: Option<usize>) -> String {
    let count = text.split('\n').count();
    let line = |at: usize| match bad == Some(at) {
        true => format!("<b>{at}</b>"),
        false => at.to_string(),
    };
    (1..=count).map(line).collect::<Vec<_>>().join("\n")
}

/// The line that a message is about: `line 3, column 7: …`.
#[must_use]
pub fn line_of(message: &str) -> Option<usize> {
    let rest = message.strip_prefix("line ")?;
    let end = rest.find(|c: char| !c.is_ascii_digit())?;
    rest.get(..end)?.parse().ok()
}

fn escaped(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            other => out.push(other),
        }
    }
}

fn word(class: &str, text: &str, out: &mut String) {
    if class.is_empty() || text.is_empty() {
        return escaped(text, out);
    }
    out.push_str("<i class=\"");
    out.push_str(class);
    out.push_str("\">");
    escaped(text, out);
    out.push_str("</i>");
}

/// Paints one line; `open` is the mark that ends a text begun on a line before. Gives the one that is open at its end.
fn paint_line(line: &str, open: Option<&'static str>, out: &mut String) -> Option<&'static str> {
    let mut rest = line;
    if let Some(mark) = open {
        let Some(length) = text_end(rest, mark) else {
            word("t-s", rest, out);
            return open;
        };
        let (text, behind) = rest.split_at(length);
        word("t-s", text, out);
        rest = behind;
    }
    while let Some(first) = rest.chars().next() {
        if let Some(mark) = ["\"\"\"", "'''", "\"", "'"]
            .into_iter()
            .find(|mark| rest.starts_with(mark))
        {
            let (begin, inside) = rest.split_at(mark.len());
            let end = text_end(inside, mark);
            // A text in single marks ends with its line, closed or not.
            let length = end.map_or(rest.len(), |length| begin.len() + length);
            let (text, behind) = rest.split_at(length);
            word("t-s", text, out);
            if end.is_none() && mark.len() == 3 {
                return Some(mark);
            }
            rest = behind;
            continue;
        }
        if first == '#' {
            word("t-c", rest, out);
            return None;
        }
        let length = |is: fn(char) -> bool| rest.find(|c: char| !is(c)).unwrap_or(rest.len());
        let (class, length) = if first.is_ascii_digit() {
            ("t-n", length(|c| c.is_ascii_alphanumeric() || c == '.'))
        } else if first.is_ascii_alphabetic() || first == '_' {
            let length = length(|c| c.is_ascii_alphanumeric() || c == '_');
            let name = rest.get(..length).unwrap_or_default();
            let class = if KEYWORDS.contains(&name) {
                "t-k"
            } else if GIVEN.iter().any(|(given, _)| *given == name) {
                "t-g"
            } else {
                ""
            };
            (class, length)
        } else {
            ("", first.len_utf8())
        };
        let (text, behind) = rest.split_at(length);
        word(class, text, out);
        rest = behind;
    }
    None
}

/// Length up to and with the mark that ends a text.
fn text_end(text: &str, mark: &str) -> Option<usize> {
    let mut escape = false;
    for (at, c) in text.char_indices() {
        if escape {
            escape = false;
        } else if c == '\\' {
            escape = true;
        } else if text.get(at..).is_some_and(|rest| rest.starts_with(mark)) {
            return Some(at + mark.len());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_their_colours_and_nothing_is_markup() {
        assert_eq!(
            paint("if qname < 'a\\'b': # x", None),
            "<i class=\"t-k\">if</i> <i class=\"t-g\">qname</i> &lt; <i class=\"t-s\">'a\\'b'</i>: <i class=\"t-c\"># x</i> "
        );
        assert_eq!(paint("x1 = 0.5", None), "x1 = <i class=\"t-n\">0.5</i> ");
    }

    #[test]
    fn texts_go_over_lines_only_in_three_marks() {
        assert_eq!(
            paint("a = \"\"\"x\ny\"\"\" + b", None),
            "a = <i class=\"t-s\">&quot;&quot;&quot;x</i>\n<i class=\"t-s\">y&quot;&quot;&quot;</i> + b "
        );
        assert_eq!(
            paint("'x\nif", None),
            "<i class=\"t-s\">'x</i>\n<i class=\"t-k\">if</i> "
        );
    }

    #[test]
    fn a_problem_is_shown_at_its_line() {
        assert_eq!(line_of("line 2, column 7: no"), Some(2));
        assert_eq!(line_of("too long"), None);
        assert_eq!(paint("a\nb", Some(2)), "a\n<mark>b</mark> ");
        assert_eq!(numbers("a\nb", Some(2)), "1\n<b>2</b>");
    }
}
