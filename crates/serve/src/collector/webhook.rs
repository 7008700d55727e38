//! Alerts by webhook: signed, retried, never followed elsewhere.

use sha2::{Digest, Sha256};
use std::time::Duration;

/// Attempts of one alert, with a growing pause between them.
const ATTEMPTS: u32 = 5;
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const TIMEOUT: Duration = Duration::from_secs(10);
const BLOCK: usize = 64;

/// Receiver of alerts.
#[derive(Clone)]
pub struct Webhook {
    url: reqwest::Url,
    secret: Option<String>,
    client: reqwest::Client,
}

impl std::fmt::Debug for Webhook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The path of a webhook is often a secret.
        write!(f, "Webhook({})", self.url.host_str().unwrap_or_default())
    }
}

/// Webhook that cannot be used, or an alert that was not delivered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WebhookError {
    #[error("\"{0}\" is not an http or https URL")]
    BadUrl(String),
    #[error("the client cannot be built: {0}")]
    Client(String),
    #[error("the webhook did not accept the alert after {ATTEMPTS} attempts: {0}")]
    Undelivered(String),
}

impl Webhook {
    /// # Errors
    ///
    /// Fails if the URL is not one of HTTP.
    pub fn new(url: &str, secret: Option<String>) -> Result<Self, WebhookError> {
        let parsed = reqwest::Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let url = parsed.ok_or_else(|| WebhookError::BadUrl(url.chars().take(100).collect()))?;
        let client = reqwest::Client::builder().timeout(TIMEOUT).redirect(reqwest::redirect::Policy::none()).build();
        Ok(Self { url, secret, client: client.map_err(|error| WebhookError::Client(error.to_string()))? })
    }

    /// Sends an alert until it is accepted or all attempts failed. The id lets the receiver recognise a repetition, also one after a restart.
    ///
    /// # Errors
    ///
    /// Fails after the last attempt.
    pub async fn send(&self, id: &str, body: &str) -> Result<(), WebhookError> {
        let mut pause = FIRST_PAUSE;
        let mut why = String::new();
        for attempt in 1..=ATTEMPTS {
            let mut request = self
                .client
                .post(self.url.clone())
                .header("content-type", "application/json")
                .header("x-bardo-eval-delivery", id)
                .body(body.to_owned());
            if let Some(secret) = &self.secret {
                request = request.header("x-bardo-eval-signature", format!("sha256={}", hex(&hmac(secret.as_bytes(), body.as_bytes()))));
            }
            match request.send().await {
                Ok(answer) if answer.status().is_success() => return Ok(()),
                Ok(answer) => why = format!("status {}", answer.status().as_u16()),
                Err(error) => why = error.without_url().to_string(),
            }
            if attempt < ATTEMPTS {
                tokio::time::sleep(pause).await;
                pause *= 2;
            }
        }
        Err(WebhookError::Undelivered(why))
    }
}

/// HMAC-SHA-256 (RFC 2104).
fn hmac(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut block = [0; BLOCK];
    if key.len() > BLOCK {
        block[..32].copy_from_slice(&Sha256::digest(key));
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    let padded = |pad: u8| block.map(|byte| byte ^ pad);
    let inner = Sha256::new().chain_update(padded(0x36)).chain_update(message).finalize();
    Sha256::new().chain_update(padded(0x5c)).chain_update(inner).finalize().into()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_those_of_rfc_4231() {
        let expected = "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7";
        assert_eq!(hex(&hmac(&[0x0b; 20], b"Hi There")), expected);
        let expected = "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54";
        assert_eq!(hex(&hmac(&[0xaa; 131], b"Test Using Larger Than Block-Size Key - Hash Key First")), expected);
    }

    #[test]
    fn only_http_urls_are_accepted() {
        let _installed = rustls::crypto::ring::default_provider().install_default();
        assert!(Webhook::new("https://hooks.example/x", None).is_ok());
        for url in ["", "file:///etc/passwd", "hooks.example", "ftp://x"] {
            assert!(matches!(Webhook::new(url, None), Err(WebhookError::BadUrl(_))), "{url}");
        }
    }
}
