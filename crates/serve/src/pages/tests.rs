use super::*;

/// Texts that would do something if a page did not escape them.
const HOSTILE: &[&str] = &[
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "</title><svg onload=alert(1)>",
    "' onmouseover='alert(1)",
    "javascript:alert(1)",
    "{{7*7}}",
    "\u{202e}gnp.exe",
    "\u{1b}[31mred",
    "a\u{0}b",
    "]]><!--",
];

#[test]
fn hostile_text_stays_text() {
    for text in HOSTILE {
        let page = error_page(text, text);
        assert!(!page.contains("<script>alert") && !page.contains("<img") && !page.contains("<svg"), "{page}");
        assert!(!page.contains('\u{202e}') && !page.contains('\u{1b}') && !page.contains('\u{0}'), "{page}");
    }
}

#[test]
fn long_text_is_cut_with_its_length() {
    assert_eq!(shown_within("abcdef", 3), "abc… (3 bytes more)");
    assert_eq!(shown_lines("a\nb\u{200b}", 10), "a\nb\\u{200b}");
    assert_eq!(shown("a\nb"), "a\\nb");
}

#[test]
fn query_values_are_encoded() {
    assert_eq!(query_value("a b&c=<ü>"), "a%20b%26c%3D%3C%C3%BC%3E");
}

#[test]
fn style_has_no_address_of_its_own() {
    for asset in [STYLE, SCRIPT] {
        assert!(!asset.contains("http:") && !asset.contains("https:") && !asset.contains("url(") && !asset.contains("@import"));
    }
}
