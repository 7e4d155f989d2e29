//! What a listener at the redirect URI says to the browser.

use alloc::string::String;

use super::flow::AwaitRedirect;
use crate::head::{RequestHead, ResponseHead};

/// The answer to a request that came to the redirect URI.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallbackPage {
    /// Whether the request is what the flow waits for: then its target goes into [`AwaitRedirect::on_redirect`].
    /// Everything else that a browser may ask for is answered, and forgotten.
    pub is_response: bool,
    /// Status and fields. `Content-Length` is not among them.
    pub head: ResponseHead,
    /// A page for the user, as HTML.
    pub body: String,
}

impl AwaitRedirect {
    /// What to answer a request, so that the user sees what came of it. Nothing that came with the request is shown
    /// (AUTH-50).
    pub fn answer(&self, request: &RequestHead) -> CallbackPage {
        let name = escape(&self.flow.config.name);
        let (status, is_response, title, text) = if request.method != "GET" {
            (405, false, "Not here".into(), "This page can only be visited.")
        } else if !self.recognises(&request.target) {
            (404, false, "Nothing here".into(), "This is not the page that you were sent to.")
        } else if self.pending.is_granted(&request.target) {
            (200, true, alloc::format!("{name} may go on"), "You can close this window.")
        } else {
            let title = alloc::format!("{name} is not authorized");
            (200, true, title, "You can close this window. The application says why.")
        };
        CallbackPage { is_response, head: head(status), body: page(&title, text) }
    }
}

/// The URL of the page holds a code: nobody keeps the page, or is told where a link on it came from.
fn head(status: u16) -> ResponseHead {
    let mut head = ResponseHead::new(status);
    for (name, value) in [
        ("Content-Type", "text/html; charset=utf-8"),
        ("Cache-Control", "no-store"),
        ("Referrer-Policy", "no-referrer"),
        ("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"),
        ("X-Content-Type-Options", "nosniff"),
        ("Connection", "close"),
    ] {
        head.headers.push(name, value);
    }
    if status == 405 {
        head.headers.push("Allow", "GET");
    }
    head
}

fn page(title: &str, text: &str) -> String {
    alloc::format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n\
         <style>:root {{ color-scheme: light dark }} body {{ font: 1.1rem/1.5 system-ui, sans-serif; \
         max-width: 30rem; margin: 20vh auto; padding: 0 1rem }}</style>\n<h1>{title}</h1>\n<p>{text}</p>\n</html>\n"
    )
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            letter => out.push(letter),
        }
    }
    out
}
