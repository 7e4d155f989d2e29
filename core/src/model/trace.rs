//! Trace context: which trace a request belongs to.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;

use super::json::Json;
use crate::error::ApiMisuse;

use super::meta::{BAGGAGE, Meta, RequestMeta, TRACEPARENT, TRACESTATE};

/// The W3C trace context of a message, as far as it is valid: what is not is left out, as if it had not come
/// (TRACE-02, TRACE-03). Carried as it is, to be passed on (TRACE-04).
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/basic/index#meta>,
/// <https://www.w3.org/TR/trace-context/>, <https://www.w3.org/TR/baggage/>
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceContext {
    /// The parent span: `version-trace id-parent id-flags`.
    pub traceparent: Option<String>,
    /// What vendors add to it. Means nothing without it, so it is left out then.
    pub tracestate: Option<String>,
    /// Properties that the application passes along.
    pub baggage: Option<String>,
}

impl TraceContext {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// The one in the `_meta` of a request.
    pub fn of(meta: &RequestMeta<'_>) -> Self {
        let valid = |found: Result<Option<alloc::borrow::Cow<'_, str>>, _>, is_valid: fn(&str) -> bool| {
            found.ok().flatten().filter(|text| is_valid(text)).map(|text| text.into_owned())
        };
        let traceparent = valid(meta.traceparent(), is_traceparent);
        let tracestate = valid(meta.tracestate(), is_tracestate).filter(|_| traceparent.is_some());
        Self { traceparent, tracestate, baggage: valid(meta.baggage(), is_baggage) }
    }

    /// Sets the parent span.
    ///
    /// # Errors
    /// When it is not written as W3C Trace Context has it.
    pub fn with_traceparent(mut self, text: impl Into<String>) -> Result<Self, ApiMisuse> {
        self.traceparent = Some(checked(text.into(), is_traceparent, "traceparent", "W3C Trace Context")?);
        Ok(self)
    }

    /// Sets what vendors add to the parent span.
    ///
    /// # Errors
    /// When it is not written as W3C Trace Context has it.
    pub fn with_tracestate(mut self, text: impl Into<String>) -> Result<Self, ApiMisuse> {
        self.tracestate = Some(checked(text.into(), is_tracestate, "tracestate", "W3C Trace Context")?);
        Ok(self)
    }

    /// Sets properties that the application passes along.
    ///
    /// # Errors
    /// When they are not written as W3C Baggage has them.
    pub fn with_baggage(mut self, text: impl Into<String>) -> Result<Self, ApiMisuse> {
        self.baggage = Some(checked(text.into(), is_baggage, "baggage", "W3C Baggage")?);
        Ok(self)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.traceparent.is_none() && self.tracestate.is_none() && self.baggage.is_none()
    }

    /// The id of the trace: 32 digits.
    pub fn trace_id(&self) -> Option<&str> {
        self.traceparent.as_deref()?.get(3..35)
    }

    /// The id of the parent span: 16 digits.
    pub fn parent_id(&self) -> Option<&str> {
        self.traceparent.as_deref()?.get(36..52)
    }

    /// Whether the caller records the trace.
    pub fn is_sampled(&self) -> bool {
        let flags = self.traceparent.as_deref().and_then(|text| text.get(53..55));
        flags.and_then(|flags| u8::from_str_radix(flags, 16).ok()).is_some_and(|flags| flags & 1 == 1)
    }

    /// Puts it into the `_meta` of a message, under the names that all use (TRACE-01).
    pub fn add_to(&self, meta: &mut Meta) {
        for (key, value) in
            [(TRACEPARENT, &self.traceparent), (TRACESTATE, &self.tracestate), (BAGGAGE, &self.baggage)]
        {
            // A string can always be written.
            if let Some(json) = value.as_ref().and_then(|value| Json::new(value).ok()) {
                meta.insert(key.to_owned(), json);
            }
        }
    }
}

/// The text itself is not repeated: baggage may hold anything.
fn checked(text: String, is_valid: fn(&str) -> bool, what: &str, form: &str) -> Result<String, ApiMisuse> {
    if is_valid(&text) {
        Ok(text)
    } else {
        Err(ApiMisuse::new(format!("`{what}` is not in the form of {form}")))
    }
}

/// `00-` and 32, 16 and 2 lower-case hexadecimal digits; the ids not all zero. Later versions may add to it.
fn is_traceparent(text: &str) -> bool {
    let mut parts = text.split('-');
    let mut hex = |length: usize| {
        parts.next().filter(|part| {
            part.len() == length && part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        })
    };
    let (Some(version), Some(trace), Some(parent), Some(_flags)) = (hex(2), hex(32), hex(16), hex(2)) else {
        return false;
    };
    let some = |id: &str| id.bytes().any(|byte| byte != b'0');
    let ends = version != "00" || parts.next().is_none();
    version != "ff" && some(trace) && some(parent) && ends && text.len() <= LONGEST
}

/// Up to 32 members `key=value`, each key once.
fn is_tracestate(text: &str) -> bool {
    const MOST: usize = 32;
    let members =
        || text.split(',').map(|member| member.trim_matches([' ', '\t'])).filter(|member| !member.is_empty());
    let valid = |member: &str| {
        let Some((key, value)) = member.split_once('=') else { return false };
        let (tenant, system) =
            key.split_once('@').map_or((key, None), |(tenant, system)| (tenant, Some(system)));
        let lengths = match system {
            Some(system) => tenant.len() <= 241 && (1..=14).contains(&system.len()),
            None => tenant.len() <= 256,
        };
        let named = |part: &str, digits: bool| {
            part.starts_with(|first: char| first.is_ascii_lowercase() || digits && first.is_ascii_digit())
                && part
                    .bytes()
                    .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'*' | b'/'))
        };
        lengths
            && named(tenant, system.is_some())
            && system.is_none_or(|system| named(system, false))
            && (1..=256).contains(&value.len())
            && !value.ends_with(' ')
            && value.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b',' && byte != b'=')
    };
    let keys = || members().filter_map(|member| member.split_once('=')).map(|(key, _)| key);
    let once = keys().enumerate().all(|(place, key)| !keys().take(place).any(|earlier| earlier == key));
    // Bounded before keys are compared with one another.
    text.len() <= LONGEST && (1..=MOST).contains(&members().count()) && members().all(valid) && once
}

/// Up to 64 members `key=value;properties`.
fn is_baggage(text: &str) -> bool {
    const MOST: usize = 64;
    let token = |text: &str| {
        !text.is_empty()
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
    };
    let value = |text: &str| {
        text.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b',' | b';' | b'\\'))
    };
    let pair = |text: &str| {
        text.split_once('=').is_some_and(|(key, of)| {
            token(key.trim_matches([' ', '\t'])) && value(of.trim_matches([' ', '\t']))
        })
    };
    let valid = |member: &str| {
        let mut parts = member.split(';');
        parts.next().is_some_and(pair)
            && parts.all(|property| pair(property) || token(property.trim_matches([' ', '\t'])))
    };
    text.len() <= LONGEST && text.split(',').count() <= MOST && text.split(',').all(valid)
}

/// What W3C Baggage asks to be carried in whole, and more than a trace context is, in bytes.
const LONGEST: usize = 8192;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::ToString;
    use alloc::vec::Vec;
    use serde_json::value::RawValue;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    fn of(json: &str) -> TraceContext {
        let raw: &RawValue = serde_json::from_str(json).unwrap();
        TraceContext::of(&RequestMeta::read(raw).unwrap())
    }

    /// TRACE-01, TRACE-04: what came is passed on as it is, beside whatever else is there.
    #[test]
    fn a_trace_context_is_read_and_passed_on_as_it_is() {
        let json = format!(
            r#"{{"baggage":"user=Am%C3%A9lie, n=1;p;q=2","io.x/y":1,"traceparent":"{PARENT}","tracestate":"rojo=00f067,congo@x=t6-1"}}"#
        );
        let trace = of(&json);
        assert_eq!(trace.traceparent.as_deref(), Some(PARENT));
        assert_eq!(trace.trace_id(), Some("0af7651916cd43dd8448eb211c80319c"));
        assert_eq!((trace.parent_id(), trace.is_sampled()), (Some("b7ad6b7169203331"), true));
        let mut meta = Meta::new().with("io.x/y", Json::new(&1).unwrap());
        trace.add_to(&mut meta);
        assert_eq!(serde_json::to_string(&meta).unwrap(), json);
        assert!(TraceContext::default().is_empty() && of("{}").is_empty());
    }

    /// TRACE-02, TRACE-03: what is set has to be in order, and errors do not repeat it.
    #[test]
    fn what_is_set_is_checked() {
        let trace = TraceContext::new().with_traceparent(PARENT).unwrap();
        let trace = trace.with_tracestate("a=1").unwrap().with_baggage("user=ada").unwrap();
        assert_eq!(trace.trace_id(), Some("0af7651916cd43dd8448eb211c80319c"));
        for refused in [
            TraceContext::new().with_traceparent("secret"),
            TraceContext::new().with_tracestate("secret"),
            TraceContext::new().with_baggage("secret"),
        ] {
            assert!(!refused.unwrap_err().to_string().contains("secret"));
        }
    }

    /// TRACE-02
    #[test]
    fn a_malformed_traceparent_is_as_good_as_none() {
        let ids = "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331";
        for (text, valid) in [
            (format!("00-{ids}-00"), true),
            (format!("cc-{ids}-01-what-comes"), true),
            (format!("00-{ids}-01-more"), false),
            (format!("ff-{ids}-01"), false),
            (format!("00-{ids}"), false),
            (format!("00-{ids}-1"), false),
            (format!("00-{}-01", ids.to_uppercase()), false),
            (format!("00-{}-b7ad6b7169203331-01", "0".repeat(32)), false),
            (format!("00-0af7651916cd43dd8448eb211c80319c-{}-01", "0".repeat(16)), false),
            (String::new(), false),
        ] {
            assert_eq!(is_traceparent(&text), valid, "{text}");
        }
        // Without a parent the state of vendors says nothing; the baggage is another matter.
        let trace = of(r#"{"traceparent":"?","tracestate":"a=b","baggage":"a=b"}"#);
        assert_eq!(trace, TraceContext { baggage: Some("a=b".into()), ..TraceContext::new() });
        assert!(of(r#"{"traceparent":7,"baggage":null}"#).is_empty());
    }

    /// TRACE-02: the bounds are reached exactly, and passed by one.
    #[test]
    fn a_tracestate_has_up_to_32_members() {
        let members = |count: usize| (0..count).map(|n| format!("k{n}=v")).collect::<Vec<_>>().join(",");
        for (text, valid) in [
            (members(32), true),
            (members(33), false),
            ("a=b,,c=d".into(), true),
            ("a=b,a=c".into(), false),
            ("1t@sys=x".into(), true),
            ("1t=x".into(), false),
            ("A=x".into(), false),
            ("a".into(), false),
            ("a=".into(), false),
            ("a=b=c".into(), false),
            (format!("a={}", "x".repeat(256)), true),
            (format!("a={}", "x".repeat(257)), false),
            (String::new(), false),
        ] {
            assert_eq!(is_tracestate(&text), valid, "{text}");
        }
    }

    /// TRACE-03
    #[test]
    fn baggage_is_a_list_of_pairs() {
        for (text, valid) in [
            ("a=b".into(), true),
            ("a = b ; p = 1 ; q".into(), true),
            ("a=".into(), true),
            ("a".into(), false),
            ("a b=c".into(), false),
            ("a=\"b\"".into(), false),
            ("a=b,".into(), false),
            (format!("a={}", "x".repeat(LONGEST - 2)), true),
            (format!("a={}", "x".repeat(LONGEST - 1)), false),
            (alloc::vec!["a=b"; 64].join(","), true),
            (alloc::vec!["a=b"; 65].join(","), false),
        ] {
            assert_eq!(is_baggage(&text), valid, "{text}");
        }
    }
}
