//! Frame of every page: head, navigation, keys.

use super::shown;
use maud::{DOCTYPE, Markup, PreEscaped, html};

pub(crate) const STYLE: &str = include_str!("../../assets/style.css");
pub(crate) const SCRIPT: &str = include_str!("../../assets/view.js");

/// Policy of a page in a file. It allows its own style only: no script, no address is loaded.
const FILE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// Pages of the navigation.
const PAGES: [(&str, &str); 6] = [
    ("/runs", "Runs"),
    ("/search", "Search"),
    ("/compare", "Compare"),
    ("/redteam", "Red team"),
    ("/production", "Production"),
    ("/workspace", "Workspace"),
];

/// Source of style and script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageAssets {
    /// Files of the viewer's server.
    Linked,
    /// The page is a file of its own: the style is in it, and it has no script.
    Inline,
}

/// Returns a whole page.
pub(super) fn frame(assets: PageAssets, title: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="referrer" content="no-referrer";
                @match assets {
                    PageAssets::Linked => {
                        link rel="stylesheet" href="/static/style.css";
                        script src="/static/view.js" defer {}
                    }
                    PageAssets::Inline => {
                        meta http-equiv="Content-Security-Policy" content=(FILE_POLICY);
                        style { (PreEscaped(STYLE)) }
                    }
                }
                title { (shown(title)) " · bardo-eval" }
            }
            body {
                a.skip href="#main" { "Skip to content" }
                header {
                    strong { "bardo-eval" }
                    @if assets == PageAssets::Linked {
                        nav aria-label="Pages" {
                            @for (n, (address, name)) in PAGES.iter().enumerate() { @if n > 0 { " · " } a href=(address) { (name) } }
                        }
                    }
                }
                main id="main" {
                    (body)
                    @if assets == PageAssets::Linked { (keys()) }
                }
            }
        }
    };
    page.into_string()
}

fn keys() -> Markup {
    html! {
        details id="keys" {
            summary.soft { "Keys" }
            p.soft { code { "j" } " next row, " code { "k" } " previous row, " code { "Enter" } " open it, " code { "/" } " search, " code { "?" } " these keys" }
        }
    }
}

/// Returns a page that says what is wrong.
pub fn error_page(title: &str, what: &str) -> String {
    frame(PageAssets::Linked, title, &html! { h1 { (shown(title)) } p { (shown(what)) } })
}
