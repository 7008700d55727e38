//! Ways in which a vendor or an agent may repeat a secret, and the search for what is left of it.

/// Text that repeats a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretEcho {
    pub encoding: &'static str,
    pub text: String,
    /// Part of the text that gives the secret away.
    trace: String,
}

/// Returns one echo of the secret for each encoding.
pub fn secret_echoes(secret: &str) -> Vec<SecretEcho> {
    let each = |encode: fn(u8) -> String| secret.bytes().map(encode).collect::<String>();
    let whole = |encoding, text: String| SecretEcho { encoding, trace: text.clone(), text };
    let quoted = serde_json::Value::String(secret.to_owned()).to_string();
    let unicode: String = secret.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
    let reserved = |byte: u8| if byte.is_ascii_alphanumeric() { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    let mut echoes = vec![
        whole("raw", secret.to_owned()),
        whole("JSON-escaped", quoted[1..quoted.len() - 1].to_owned()),
        whole("unicode escapes", unicode.clone()),
        whole("unicode escapes, twice", unicode.replace('\\', "\\\\")),
        whole("unicode escapes in capitals", unicode.to_uppercase().replace("\\U", "\\u")),
        whole("percent", each(|byte| format!("%{byte:02x}"))),
        whole("percent in capitals", each(|byte| format!("%{byte:02X}"))),
        whole("percent, where needed", each(reserved)),
        whole("percent, twice", each(|byte| format!("%25{byte:02X}"))),
        whole("hex", each(|byte| format!("{byte:02x}"))),
        whole("hex in capitals", each(|byte| format!("{byte:02X}"))),
        whole("hex with spaces", each(|byte| format!("{byte:02x} ")).trim().to_owned()),
        whole("capitals", secret.to_ascii_uppercase()),
        whole("lower case", secret.to_ascii_lowercase()),
    ];
    if secret.chars().count() > 20 {
        let prefix: String = secret.chars().take(20).collect();
        let base64 = base64(prefix.as_bytes(), false);
        echoes.push(whole("its first 20 characters", prefix));
        echoes.push(SecretEcho { encoding: "its first 20 characters in base64", trace: base64[..26].to_owned(), text: base64 });
    }
    for url in [false, true] {
        for (encoding, before) in
            [("base64", ""), ("base64 after one byte", "x"), ("base64 after two bytes", "{\""), ("base64 inside", "key=")]
        {
            let after = if before.is_empty() { "" } else { "&more" };
            let text = base64(format!("{before}{secret}{after}").as_bytes(), url);
            let trace = text[(before.len() * 8).div_ceil(6)..(before.len() + secret.len()) * 8 / 6].to_owned();
            let unpadded = text.trim_end_matches('=').to_owned();
            let (head, tail) = text.split_at(text.len() / 2);
            let wrapped = format!("{head}\n{tail}");
            echoes.extend([text, unpadded, wrapped].map(|text| SecretEcho { encoding, text, trace: trace.clone() }));
        }
    }
    echoes
}

/// Returns the encoding in which some bytes still give the secret away, in capitals or lower case.
pub fn find_secret_trace(bytes: &[u8], secret: &str) -> Option<&'static str> {
    let text = String::from_utf8_lossy(bytes).to_ascii_lowercase();
    let left = |echo: &SecretEcho| {
        let trace = echo.trace.to_ascii_lowercase();
        text.contains(&trace) || text.contains(&trace.replace('\\', "\\\\"))
    };
    secret_echoes(secret).into_iter().find(left).map(|echo| echo.encoding)
}

fn base64(data: &[u8], url: bool) -> String {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let digit = |n: u32| match (usize::try_from(n & 63).unwrap_or(0), url) {
        (62, false) => '+',
        (63, false) => '/',
        (62, true) => '-',
        (63, true) => '_',
        (n, _) => char::from(digits[n]),
    };
    let group = |group: &[u8]| {
        let bits = (0..3).fold(0, |bits, n| bits << 8 | u32::from(group.get(n).copied().unwrap_or(0)));
        let all: String = [18, 12, 6, 0].map(|shift| digit(bits >> shift)).iter().collect();
        format!("{}{}", &all[..=group.len()], "=".repeat(3 - group.len()))
    };
    data.chunks(3).map(group).collect()
}
