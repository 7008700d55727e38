//! Hosts of sites in a text: in addresses of the web, and bare ones that are told from figures, tokens, file names and ends of sentences.

use super::public_sites::{is_in, is_public};

/// Endings that a bare host has and other words do not.
const SITE_ENDINGS: &str =
    "ai app biz cc click cn co com eu exchange fi finance gg io link ly me net online org pw ru site tk top uk vc ws xyz";
/// Endings that are also words and fields. A bare host with one is led to, has a path, or a name in two parts.
const WORD_ENDINGS: &str = "agency art best bid bio blog build business buzz capital cash center cfd chat city claims cloud club coach codes community company \
     cool credit cyou day deals dev digital direct domains earth email energy engineer estate events expert express fail financial fish \
     foundation fun fund fyi games gift gifts global group guide guru help host house icu info ink international lat life limited limo \
     live loan loans lol ltd management market markets media mobi money monster network news ninja one page partners plus pro pub quest \
     red report rest review rocks run sale sbs school services shop social software solutions space store stream studio support systems \
     team tech tips today tools trade trading uno ventures vip website wiki win work works world wtf zone";
/// Endings of countries.
const COUNTRY_ENDINGS: &str = "ac ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bw by bz ca cc cd cf cg \
     ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg er es et eu fi fj fk fm fo fr ga gd ge gf gg gh gi gl gm gn gp gq gr gs gt \
     gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp ke kg kh ki km kn kp kr kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc md \
     me mg mh mk ml mm mn mo mp mq mr ms mt mu mv mw mx my mz na nc ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa re \
     ro rs ru rw sa sb sc sd se sg sh si sk sl sm sn so sr ss st su sv sx sy sz tc td tf tg th tj tk tl tm tn to tr tt tv tw tz ua ug uk us uy uz va \
     vc ve vg vi vn vu wf ws ye yt za zm zw";
/// Words before a site that the reader is to open.
const LEADING_WORDS: &[&str] = &["at", "browse", "domain", "link", "site", "to", "url", "via", "visit", "website"];
/// Sites whose pages belong to those who made them: messengers, short links, forms, pages of users. The path is the contact.
const SHARED_SITES: &[&str] = &[
    "bit.ly",
    "buff.ly",
    "calendly.com",
    "cutt.ly",
    "discord.com",
    "discord.gg",
    "discordapp.com",
    "docs.google.com",
    "dub.sh",
    "facebook.com",
    "forms.gle",
    "forms.office.com",
    "gist.github.com",
    "github.com",
    "goo.gl",
    "instagram.com",
    "is.gd",
    "linktr.ee",
    "lnkd.in",
    "m.me",
    "medium.com",
    "mirror.xyz",
    "ow.ly",
    "pastebin.com",
    "rb.gy",
    "rebrand.ly",
    "reddit.com",
    "short.gy",
    "shorturl.at",
    "signal.group",
    "signal.me",
    "sites.google.com",
    "t.co",
    "t.ly",
    "t.me",
    "telegra.ph",
    "telegram.dog",
    "telegram.me",
    "tiny.cc",
    "tinyurl.com",
    "twitter.com",
    "typeform.com",
    "v.gd",
    "wa.me",
    "warpcast.com",
    "x.com",
    "youtu.be",
    "youtube.com",
];

/// Returns the host that an address of the web leads to, with the path on a shared site; nothing for public sites. `rest` follows the scheme.
pub(super) fn linked_site(rest: &str) -> Option<String> {
    let (authority, path) = split_path(rest);
    let host = authority.rsplit('@').next()?.split(':').next()?;
    contact(spaced_host(host).trim_matches('.'), path)
}

/// Returns the contact of a bare host, as [`linked_site`] does. `is_led_to` is set if the words before send the reader there.
pub(super) fn bare_site(word: &str, is_led_to: bool) -> Option<String> {
    let (host, path) = split_path(word);
    let (name, ending) = host.rsplit_once('.')?;
    let is_host = !name.is_empty() && is_dotted_name(host) && name.chars().any(char::is_alphabetic);
    if is_host && is_site_ending(name, ending, is_led_to || word.len() > host.len()) { contact(host, path) } else { None }
}

/// Returns whether the word before a host sends the reader there.
pub(super) fn is_leading_word(word: &str) -> bool {
    LEADING_WORDS.contains(&word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase().as_str())
}

pub(super) fn is_dotted_name(name: &str) -> bool {
    name.split('.').all(|label| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_'))
}

fn is_site_ending(name: &str, ending: &str, is_led_to: bool) -> bool {
    let lower = ending.to_lowercase();
    // "sent.Me": a sentence that begins without a space.
    let begins_sentence =
        ending.starts_with(char::is_uppercase) && ending.chars().skip(1).any(char::is_lowercase) && name.starts_with(char::is_lowercase);
    if begins_sentence && !name.contains(['.', '-']) {
        return false;
    }
    let is_one_of = |endings: &str| endings.split_whitespace().any(|one| one == lower);
    is_one_of(SITE_ENDINGS)
        || is_one_of(WORD_ENDINGS) && (is_led_to || name.contains('-'))
        || lower.len() == 2 && is_led_to && is_one_of(COUNTRY_ENDINGS)
}

fn contact(host: &str, path: &str) -> Option<String> {
    let host = host.to_lowercase();
    let host = host.strip_prefix("www.").unwrap_or(&host);
    let path = path.trim_matches(|c: char| !c.is_alphanumeric() && c != '+').to_lowercase();
    if host.is_empty() || is_public(host, &path) {
        return None;
    }
    if !is_in(SHARED_SITES, host) {
        return Some(host.to_owned());
    }
    // The bare host of a shared site leads to no one; subdomains of some belong to a user.
    if path.is_empty() { SHARED_SITES.binary_search(&host).is_err().then(|| host.to_owned()) } else { Some(format!("{host}/{path}")) }
}

/// Splits what stands after a scheme, or a bare host, into host and path.
fn split_path(rest: &str) -> (&str, &str) {
    rest.split_once('/').unwrap_or((rest, ""))
}

/// Returns a host without the text of a script that writes no spaces after it: "basescan.org上的记录".
fn spaced_host(host: &str) -> &str {
    let end = host.find(|c: char| !c.is_ascii()).unwrap_or(host.len());
    let (name, text) = host.split_at(end);
    let is_complete =
        name.rsplit_once('.').is_some_and(|(_, ending)| ending.len() >= 2 && ending.bytes().all(|byte| byte.is_ascii_alphabetic()));
    if is_complete && is_dotted_name(name) && !text.contains('.') { name } else { host }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_sites_are_sorted_for_the_search() {
        assert!(SHARED_SITES.is_sorted());
    }

    #[test]
    fn pages_of_shared_sites_are_told_apart() {
        for (rest, contact) in [
            ("t.me/Bardo/", Some("t.me/bardo")),
            ("t.me", None),
            ("evil.medium.com", Some("evil.medium.com")),
            ("docs.google.com/forms/d/1a", Some("docs.google.com/forms/d/1a")),
            ("crypto.com/", None),
            ("", None),
        ] {
            assert_eq!(linked_site(rest).as_deref(), contact, "{rest}");
        }
    }
}
