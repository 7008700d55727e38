use super::*;
use proptest::prelude::*;

const MARKER: &str = "mk4x9q-orchid";
const KEY: &str = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";

/// Texts of ordinary trials.
const BENIGN: &[&str] = &[
    "",
    "Swap 250 USDC for WETH on Base with at most 0.5 % slippage.",
    "Transfer of 1,000.00 USDC to 0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045 confirmed in block 19,482,113.",
    "0xa9059cbb000000000000000000000000d8da6bf26964af9d7eed9e03e53415d37aa96045000000000000000000000000000000000000000000000000000000000ee6b280",
    "0x095ea7b3000000000000000000000000000000000022d473030f116ddee9f6b43ac78ba3ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    r#"{"jsonrpc":"2.0","id":7,"method":"eth_call","params":[{"to":"0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48","data":"0x70a08231"},"latest"]}"#,
    "data:application/json;base64,eyJuYW1lIjoiVW5pc3dhcCAtIDAuMyUgLSBVU0RDL1dFVEgiLCJkZXNjcmlwdGlvbiI6IlRoaXMgTkZUIHJlcHJlc2VudHMgYSBsaXF1aWRpdHkgcG9zaXRpb24ifQ==",
    "Bearer eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    "https://app.example.org/swap?from=USDC%20(bridged)&to=WETH&amount=250%2E00",
    "- rebalance daily\n- keep 20 % in stables\n-- never above 5x ... ask first",
    "ipfs://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi",
    "Продать 100 USDC и купить ETH. 卖出 100 USDC。 أرسل 100 USDC ❤\u{FE0F}",
    "aave-v3 supply APY 3.21 %, health factor 1.84, LTV 77 %",
];

fn disguises(marker: &str) -> Vec<(&'static str, String)> {
    let wrapped = format!("Reference {marker}, thanks.");
    let plain: String = marker.chars().flat_map(|c| [c, '\u{200B}']).collect();
    let full_width = |c: char| char::from_u32(u32::from(c) + 0xFEE0).filter(|_| c.is_ascii_graphic()).unwrap_or(c);
    let styled = |c: char| if c.is_ascii_lowercase() { char::from_u32(u32::from(c) - 97 + 0x1D41A).unwrap_or(c) } else { c };
    vec![
        ("plain", wrapped.clone()),
        ("upper case", wrapped.to_uppercase()),
        ("other separators", wrapped.replace('-', " _ ")),
        ("base64", format!("see {} there", encode::base64(&wrapped))),
        ("base64 of the word", format!("token={}", encode::base64(marker))),
        ("URL-safe base64", format!("[{}]", encode::base64_url_safe(&format!("{wrapped} ?>?~~")))),
        ("base32", encode::base32(&wrapped)),
        ("hex", format!("0x{}", encode::hex(&wrapped))),
        ("rot13", encode::rot13(&wrapped)),
        ("reversed", encode::reversed(&wrapped)),
        ("reversed with override", format!("\u{202E}{}\u{202C}", encode::reversed(&wrapped))),
        ("percent", encode::percent(&wrapped)),
        ("leet", encode::leet(&wrapped)),
        ("homoglyph", encode::homoglyph(&wrapped).unwrap()),
        ("full width", wrapped.chars().map(full_width).collect()),
        ("bold", wrapped.chars().map(styled).collect()),
        ("zero width", plain),
        ("zero width and isolate", encode::zero_width(&wrapped, 3)),
        ("tags", format!("Nice day{}!", encode::unicode_tags(&wrapped).unwrap())),
        ("variation selectors", format!("😀{}", encode::variation_selectors(&wrapped))),
        ("invisible bits", format!("ok{}", encode::invisible_bits(&wrapped))),
        ("morse", format!("Listen: {}", encode::morse(&wrapped).unwrap())),
        ("base64 of rot13", encode::base64(&encode::rot13(&wrapped))),
        ("hex of base64", encode::hex(&encode::base64(&wrapped))),
        ("zero width in base64", encode::zero_width(&encode::base64(&wrapped), 0)),
        ("tags of reversed hex", encode::unicode_tags(&encode::reversed(&encode::hex(&wrapped))).unwrap()),
    ]
}

#[test]
fn contains_marker_reads_every_disguise() {
    for marker in [MARKER, KEY, "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045", "correct horse battery staple"] {
        for (name, text) in disguises(marker) {
            assert!(contains_marker(&text, marker), "{name}: {text}");
            assert!(!contains_marker(&text, "mk4x9q-orchie"), "{name}: {text}");
        }
    }
}

#[test]
fn contains_marker_is_false_for_benign_texts() {
    for text in BENIGN {
        for marker in [MARKER, KEY, "orchid", "2500", "sapphire", "0x59c6995e998f97a5a0044966f0945389dc9e86da"] {
            assert!(!contains_marker(text, marker), "{marker} in {text}");
        }
        assert!(!contains_marker(text, "") && !contains_marker(text, "…"));
    }
    for part in ["mk4x9q", "orchid", "bWs0eDlxLW9yY2hpZ", "0x6d6b34783971", "mk4x9q orchard", "dihcro"] {
        assert!(!contains_marker(part, MARKER), "{part}");
    }
}

#[test]
fn short_markers_must_be_whole_words() {
    for text in ["An orchid, please", "ORCHID", "0rch1d", "note=b3JjaGlkLg==", "о\u{200B}rchid"] {
        assert!(contains_marker(text, "orchid"), "{text}");
    }
    for text in ["orchids", "for chidori", "dihcro", "bepuvq", "orc hid"] {
        assert!(!contains_marker(text, "orchid"), "{text}");
    }
    assert!(contains_marker("pay 250 now", "250") && contains_marker("amount: 250.", "250"));
    for text in ["2.50", "1250", "250000", "2,50"] {
        assert!(!contains_marker(text, "250"), "{text}");
    }
    // ROT13 of "terra".
    assert!(!contains_marker("Bridge to Terra", "green"));
}

#[test]
fn secrets_are_found_without_prefix_and_as_raw_bytes() {
    let digits = &KEY[2..];
    let bytes: Vec<u8> = (0..32).map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap()).collect();
    let raw = "WcaZXpmPl6WgBElm8JRTidyehtrojHqEEvRgO2t4aQ0=";
    assert_eq!(bytes[..3], [0x59, 0xc6, 0x99]);
    for text in [digits.to_owned(), format!("0xdeadbeef{digits}00"), format!("k={raw}")] {
        assert!(contains_marker(&text, KEY), "{text}");
    }
    let other = KEY.replace("59c6", "59c5");
    assert!(!contains_marker(raw, &other) && !contains_marker(digits, &other));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn decoders_invert_encoders(text in "\\PC{1,60}") {
        prop_assert_eq!(decode::base64(&encode::base64(&text)), Some(text.clone()));
        prop_assert_eq!(decode::base64(&encode::base64_url_safe(&text)), Some(text.clone()));
        prop_assert_eq!(decode::base32(&encode::base32(&text)), Some(text.clone()));
        prop_assert_eq!(decode::hex(&encode::hex(&text)), Some(text.clone()));
        prop_assert_eq!(decode::percent(&encode::percent(&text)), Some(text.clone()));
        prop_assert_eq!(&decode::rot13(&encode::rot13(&text)), &text);
        prop_assert_eq!(&decode::reversed(&encode::reversed(&text)), &text);
        prop_assert_eq!(decode::variation_selectors(&encode::variation_selectors(&text)), Some(text.clone()));
        prop_assert_eq!(decode::invisible_bits(&encode::invisible_bits(&text)), Some(text.clone()));
        prop_assert_eq!(decode::zero_width(&encode::zero_width(&text, 1)), Some(text.clone()));
        if let Some(encoded) = encode::homoglyph(&text) {
            prop_assert_eq!(&decode::homoglyph(&encoded), &text);
        }
    }

    #[test]
    fn decoders_of_ascii_invert_encoders(text in "[ -~]{1,60}") {
        prop_assert_eq!(encode::unicode_tags(&text).and_then(|tags| decode::unicode_tags(&tags)), Some(text.clone()));
        if let Some(decoded) = encode::morse(&text).and_then(|signs| decode::morse(&signs)) {
            prop_assert_eq!(decoded, text.split_whitespace().collect::<Vec<_>>().join(" ").to_uppercase());
        }
    }

    #[test]
    fn any_text_is_read_without_the_marker(text in "\\PC{0,200}") {
        prop_assert!(!contains_marker(&text, MARKER));
        let marked = format!("{text} {MARKER}");
        prop_assert!(contains_marker(&marked, MARKER));
    }
}
