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

/// Returns whether a page took a text for its own.
fn is_harmed(page: &str) -> bool {
    let has_markup = ["<script>alert", "<img", "<svg onload", "\u{202e}", "\u{1b}", "\u{0}"].iter().any(|part| page.contains(part));
    // An apostrophe ends no attribute, because all of them stand in quotation marks.
    has_markup || page.replace("' onmouseover='alert(1)", "").contains("='")
}

#[test]
fn alarms_with_hostile_texts_stay_text() {
    use model::GateWindow;
    use score::drift::{DriftAlarm, DriftSignal, SliceShift};
    for text in HOSTILE {
        let text = (*text).to_owned();
        let alarm = DriftAlarm {
            signal: DriftSignal::PassRate { scorer: text.clone() },
            since: 10,
            found: 20,
            before: text.clone(),
            after: text.clone(),
            samples: 9,
            detector: "cusum",
            slices: vec![SliceShift { slice: text.clone(), before: None, after: 0.5, samples: 3 }],
            examples: vec![text.clone()],
        };
        let name = alarm.signal.name();
        let page = production_page(Ok(&ProductionSummary {
            window: GateWindow::Day,
            verdict: model::Verdict::NoEvidence,
            notes: vec![text.clone()],
            from_s: 0,
            now_s: 100,
            now: "now".into(),
            kept: 1,
            sampled: 1,
            estimated: 1.0,
            verdicts: vec![],
            alarms: vec![("then".into(), alarm)],
            courses: vec![SignalCourse { name, values: vec![Some(0.5), None], is_rate: true }],
            total_usd: 0.0,
            usd_per_completed: None,
            budget: None,
            unknown_prices: vec![text.clone()],
            sections: vec![UsageSection {
                title: "tools".into(),
                head: vec!["tool", "calls"],
                rows: vec![UsageEntry { name: text.clone(), cells: vec![text.clone()] }],
            }],
            failing: vec![text],
        }));
        assert!(!is_harmed(&page), "{page}");
        assert!(page.contains("since when a change is suspected"), "the alarm is drawn");
        assert!(page.contains("exits with 3"), "{page}");
    }
}
