//! Conversions from and to the `http` crate.

use super::{Headers, RequestHead, ResponseHead};
use crate::error::ApiMisuse;
use alloc::format;

/// HTTP/2 has the host in `:authority` alone; it becomes the `Host` field, which the machines look for.
impl From<&http::request::Parts> for RequestHead {
    fn from(parts: &http::request::Parts) -> Self {
        let target = parts.uri.path_and_query().map_or("/", |target| target.as_str());
        let mut head = Self::new(parts.method.as_str(), target);
        if let (None, Some(authority)) = (parts.headers.get(http::header::HOST), parts.uri.authority()) {
            head.headers.push("host", authority.as_str());
        }
        extend(&mut head.headers, &parts.headers);
        head
    }
}

impl From<&http::response::Parts> for ResponseHead {
    fn from(parts: &http::response::Parts) -> Self {
        let mut head = Self::new(parts.status.as_u16());
        extend(&mut head.headers, &parts.headers);
        head
    }
}

fn extend(headers: &mut Headers, fields: &http::HeaderMap) {
    for (name, value) in fields {
        headers.push(name.as_str(), value);
    }
}

/// Fails for a status or a field that HTTP does not allow.
impl TryFrom<&ResponseHead> for http::Response<()> {
    type Error = ApiMisuse;

    fn try_from(head: &ResponseHead) -> Result<Self, ApiMisuse> {
        let mut response = Self::builder().status(head.status);
        for (name, value) in head.headers.iter() {
            response = response.header(name, value);
        }
        response.body(()).map_err(|error| ApiMisuse::new(format!("the head is not valid HTTP: {error}")))
    }
}

impl ResponseHead {
    /// The head as a response without a body. Fields that HTTP does not allow are left out, as the writer of
    /// HTTP/1.1 does; a status that is none becomes 500.
    pub fn to_http(&self) -> http::Response<()> {
        let mut response = http::Response::new(());
        let status = http::StatusCode::from_u16(self.status);
        *response.status_mut() = status.unwrap_or(http::StatusCode::INTERNAL_SERVER_ERROR);
        for (name, value) in self.headers.iter() {
            let name = http::HeaderName::from_bytes(name.as_bytes());
            if let (Ok(name), Ok(value)) = (name, http::HeaderValue::from_bytes(value)) {
                response.headers_mut().append(name, value);
            }
        }
        response
    }
}

/// Fails for a method, a target or a field that HTTP does not allow. The target is left as it is: a path and
/// query, to which the caller adds scheme and authority where its client wants them.
impl TryFrom<&RequestHead> for http::Request<()> {
    type Error = ApiMisuse;

    fn try_from(head: &RequestHead) -> Result<Self, ApiMisuse> {
        let mut request = Self::builder().method(head.method.as_str()).uri(head.target.as_str());
        for (name, value) in head.headers.iter() {
            request = request.header(name, value);
        }
        request.body(()).map_err(|error| ApiMisuse::new(format!("the head is not valid HTTP: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// B42
    #[test]
    fn the_authority_of_http2_becomes_the_host() {
        let request = http::Request::post("https://spokes.example/mcp?x=1").header("Accept", "*/*").body(());
        let head = RequestHead::from(&request.unwrap().into_parts().0);
        assert_eq!((&*head.method, &*head.target), ("POST", "/mcp?x=1"));
        assert_eq!(head.headers.get("host"), Some(&b"spokes.example"[..]));
        assert_eq!(head.headers.get("accept"), Some(&b"*/*"[..]));
    }

    #[test]
    fn heads_survive_the_way_there_and_back() {
        let mut head = ResponseHead::new(404);
        head.headers.push("content-type", "application/json");
        head.headers.push("allow", "GET");
        head.headers.push("allow", "POST");
        let there = http::Response::try_from(&head).unwrap();
        assert_eq!(ResponseHead::from(&there.into_parts().0), head);
        let mut head = RequestHead::new("DELETE", "/mcp");
        head.headers.push("host", "spokes.example");
        let there = http::Request::try_from(&head).unwrap();
        assert_eq!(RequestHead::from(&there.into_parts().0), head);
    }

    #[test]
    fn what_http_does_not_allow_is_left_out_of_a_response() {
        let mut head = ResponseHead::new(7);
        for (name, value) in [("x", "a\nb"), ("y z", "a"), ("allow", "GET"), ("allow", "POST")] {
            head.headers.push(name, value);
        }
        let response = head.to_http();
        assert_eq!((response.status().as_u16(), response.headers().len()), (500, 2));
        assert_eq!(response.headers().get_all("allow").iter().count(), 2);
    }

    #[test]
    fn what_http_does_not_allow_is_no_head() {
        assert!(http::Response::try_from(&ResponseHead::new(7)).is_err());
        let mut head = RequestHead::new("POST", "/mcp");
        head.headers.push("x", "a\nb");
        assert!(http::Request::try_from(&head).is_err());
    }
}
