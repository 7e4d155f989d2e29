//! Messages to bytes.

use super::id::RequestId;
use super::json::write_json;
use super::raw;
use crate::error::{ApiMisuse, ErrorObject};
use alloc::format;
use alloc::vec::Vec;
use serde::Serialize;

/// Appends a request.
///
/// All writers here append one line of JSON without its line end: no line feed or carriage return is in it,
/// even if a part handed in as JSON text has them between its tokens.
///
/// # Errors
///
/// If `params` cannot be serialized, or is not an object. Then `out` is as it was before.
pub fn write_request<P: Serialize + ?Sized>(
    out: &mut Vec<u8>,
    id: &RequestId,
    method: &str,
    params: Option<&P>,
) -> Result<(), ApiMisuse> {
    write(out, |out| {
        out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
        write_json(out, id)?;
        out.push(b',');
        write_call(out, method, params)
    })
}

/// Appends a notification.
///
/// # Errors
///
/// As for [`write_request`].
pub fn write_notification<P: Serialize + ?Sized>(
    out: &mut Vec<u8>,
    method: &str,
    params: Option<&P>,
) -> Result<(), ApiMisuse> {
    write(out, |out| {
        out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",");
        write_call(out, method, params)
    })
}

/// Appends the response to a request that succeeded.
///
/// # Errors
///
/// If `result` cannot be serialized, or is not an object. Then `out` is as it was before.
pub fn write_result<R: Serialize + ?Sized>(
    out: &mut Vec<u8>,
    id: &RequestId,
    result: &R,
) -> Result<(), ApiMisuse> {
    write(out, |out| {
        out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
        write_json(out, id)?;
        out.extend_from_slice(b",\"result\":");
        object(out, "result", result)?;
        out.push(b'}');
        Ok(())
    })
}

/// Appends the response to a request that failed. Without an id, for a message that was too malformed to
/// read one, the member is left out.
pub fn write_error(out: &mut Vec<u8>, id: Option<&RequestId>, error: &ErrorObject) {
    error_of(out, id, error);
}

/// Appends an error for a message that was too malformed to read an id, in revisions before 2025-11-25: their errors
/// always have one (RPC-20), which then is `null`.
///
/// <https://www.jsonrpc.org/specification#response_object>
pub fn write_error_of_null(out: &mut Vec<u8>, error: &ErrorObject) {
    error_of(out, Some(&()), error);
}

fn error_of<I: Serialize>(out: &mut Vec<u8>, id: Option<&I>, error: &ErrorObject) {
    // An id, an integer, a string and JSON text: nothing that can fail to be serialized.
    let _ = write(out, |out| {
        out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",");
        if let Some(id) = id {
            out.extend_from_slice(b"\"id\":");
            write_json(out, id)?;
            out.push(b',');
        }
        out.extend_from_slice(b"\"error\":{\"code\":");
        write_json(out, &error.code)?;
        out.extend_from_slice(b",\"message\":");
        write_json(out, &error.message)?;
        if let Some(data) = &error.data {
            out.extend_from_slice(b",\"data\":");
            write_json(out, data)?;
        }
        out.extend_from_slice(b"}}");
        Ok(())
    });
}

fn write_call<P: Serialize + ?Sized>(
    out: &mut Vec<u8>,
    method: &str,
    params: Option<&P>,
) -> Result<(), ApiMisuse> {
    out.extend_from_slice(b"\"method\":");
    write_json(out, method)?;
    if let Some(params) = params {
        out.extend_from_slice(b",\"params\":");
        object(out, "params", params)?;
    }
    out.push(b'}');
    Ok(())
}

/// Runs `body`, and takes back what it wrote if it fails.
fn write(
    out: &mut Vec<u8>,
    body: impl FnOnce(&mut Vec<u8>) -> Result<(), ApiMisuse>,
) -> Result<(), ApiMisuse> {
    let start = out.len();
    body(out).inspect_err(|_| out.truncate(start))
}

fn object<T: Serialize + ?Sized>(out: &mut Vec<u8>, member: &str, value: &T) -> Result<(), ApiMisuse> {
    let start = out.len();
    write_json(out, value)?;
    let written = out.get(start..).unwrap_or_default();
    if written.first() == Some(&b'{') {
        return Ok(());
    }
    let found = raw::kind_name(core::str::from_utf8(written).unwrap_or_default());
    Err(ApiMisuse::new(format!("expected `{member}` to serialize as an object, found {found}")))
}

#[cfg(test)]
mod tests;
