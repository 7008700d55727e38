use super::*;
use proptest::prelude::*;
use serde_json::json;
use testkit::{find_secret_trace, secret_echoes};

const KEY: &str = "sk-My\"Canary/5555+aa~Zz?end";

#[test]
fn every_echo_is_redacted() {
    let redactor = SecretRedactor::new([KEY]);
    for echo in secret_echoes(KEY) {
        let text = format!("my key is {}, keep it", echo.text);
        let clean = redactor.redact(&text);
        assert_eq!(find_secret_trace(clean.as_bytes(), KEY), None, "{echo:?}: {clean}");
        assert!(clean.contains(REDACTED) && clean.starts_with("my key is ") && clean.ends_with(", keep it"), "{echo:?}: {clean}");
        assert_eq!(redactor.redact(&clean), clean, "{echo:?}");
    }
}

#[test]
fn ordinary_text_is_unchanged() {
    let redactor = SecretRedactor::new([KEY, "hunter", "0x0000000000000000000000000000000000000abc"]);
    for text in [
        "",
        "Swap 250 USDC for WETH, at most 0.5% slippage.",
        "{\"a\": \"50%25 off \\u0041\\n\"}",
        "0x000000000000000000000000000000000000000000000000000000000000dead",
        "c2stTXk= sk-My 100% \\",
        "a hunt. er, ünïcödé %zz \\uD800 \\u12",
    ] {
        assert!(matches!(redactor.redact(text), Cow::Borrowed(_)), "{text}");
    }
    assert!(!SecretRedactor::default().finds(KEY));
    assert!(!SecretRedactor::new(["short", "", "  ", "secret"]).finds("short secret"));
}

#[test]
fn values_and_items_are_redacted_everywhere() {
    let redactor = SecretRedactor::new([KEY, "1234567890"]);
    let mut value = json!({ KEY: ["a", { "b": format!("is {KEY}.") }], "n": 1_234_567_890_u64, "m": 7 });
    redactor.redact_value(&mut value);
    assert_eq!(value, json!({ "[secret]": ["a", { "b": "is [secret]." }], "n": "[secret]", "m": 7 }));
    let said = model::transcript::Move::Say(format!("it is {KEY}"));
    assert_eq!(redactor.redact_item(said), Ok(model::transcript::Move::Say("it is [secret]".into())));
    // A secret that is also a name of ours.
    let odd = SecretRedactor::new(["delegate"]);
    let to = |to: &str| model::transcript::Move::Delegate { to: to.into(), params: serde_json::Map::new() };
    assert_eq!(odd.redact_item(to("my delegate")), Ok(to("my [secret]")));
}

#[test]
fn secrets_at_the_cut_of_an_output_are_left_out() {
    let redactor = SecretRedactor::new([KEY]);
    let output = format!("{}{KEY} and {KEY}, then an end", &KEY[4..]);
    assert!(redactor.redact_end(output.as_bytes(), false).starts_with(&KEY[4..]));
    let long = format!("{output}{}", " of many words".repeat(40));
    let clean = redactor.redact_end(long.as_bytes(), true);
    assert!(!clean.contains(&KEY[4..]) && clean.ends_with(" of many words"), "{clean}");
}

#[test]
fn lines_and_words_of_a_secret_are_redacted() {
    let file = "-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49AgEGCCqGSM49\nAwEHBG0wawIBAQQgevZzL1gdAFr88hb2\n-----END PRIVATE KEY-----";
    let redactor = SecretRedactor::new([file, "legal winner thank year wave sausage"]);
    for text in [file, "AwEHBG0wawIBAQQgevZzL1gdAFr88hb2", &file.replace('\n', "\\n"), "legal+winner+thank+year+wave+sausage"] {
        assert_eq!(redactor.redact(text), REDACTED);
    }
    assert_eq!(redactor.redact("legal  winner\nthank year wave sausage!"), "[secret]!");
}

#[test]
fn debug_shows_no_secret() {
    assert_eq!(find_secret_trace(format!("{:?}", SecretRedactor::new([KEY])).as_bytes(), KEY), None);
}

proptest! {
    #[test]
    fn no_echo_of_a_random_secret_is_left(
        secret in "[!-~]{8,80}",
        other in "[!-~]{6,40}",
        before in "[ -~é]{0,30}",
        after in "[ -~é]{0,30}",
    ) {
        let redactor = SecretRedactor::new([secret.as_str(), other.as_str()]);
        for echo in secret_echoes(&secret) {
            let text = format!("{before} {} {after}", echo.text);
            let clean = redactor.redact(&text);
            prop_assert_eq!(find_secret_trace(clean.as_bytes(), &secret), None, "{:?}: {}", echo, clean);
            let mut value = json!({ "a": [text.clone()], text.clone(): 1, "nested": json!({ "b": text }).to_string() });
            redactor.redact_value(&mut value);
            prop_assert_eq!(find_secret_trace(value.to_string().as_bytes(), &secret), None, "{:?}: {}", echo, value);
        }
    }

    #[test]
    fn any_text_is_redacted_without_panic(text in "\\PC{0,60}", secret in "\\PC{2,12}") {
        let redactor = SecretRedactor::new([secret.as_str()]);
        let clean = redactor.redact(&text).into_owned();
        prop_assert!(!redactor.finds(&clean) || REDACTED.contains(secret.trim()), "{}", clean);
    }
}

#[test]
fn addresses_of_accounts_are_no_secrets() {
    let mut file =
        SubjectFile::from_command_line("agent", model::ProviderKind::Http, model::AgentEndpoint::Url("http://127.0.0.1:1".into()));
    file.external.as_mut().unwrap().env = vec!["ACCOUNT".into(), "PRIVATE_KEY".into()];
    let account = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
    let key = format!("0x{}", "5d".repeat(32));
    let redactor = SecretRedactor::of_subjects([&file], |name| Some(if name == "ACCOUNT" { account.into() } else { key.clone() }));
    assert!(!redactor.finds(account) && redactor.finds(&key));
}
