//! Which arguments of which tools go into HTTP headers, as learned from `tools/list`.

use crate::head::Headers;
use crate::mirror::{self, MirroredParam, ParamValue};
use crate::model::tools::Tool;
use crate::wire::header_value;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Tools whose calls need headers. A tool that is not here needs none, or is not known (HDR-50).
#[derive(Debug)]
pub(super) struct Mirrors {
    tools: BTreeMap<String, Vec<MirroredParam>>,
    limit: usize,
}

impl Mirrors {
    /// As many tools as `limit`; of further ones the annotations are not kept.
    pub(super) const fn new(limit: usize) -> Self {
        Self { tools: BTreeMap::new(), limit }
    }

    /// Learns what the most recent definition of a tool says (HDR-49). The error is why the definition is
    /// bad; then nothing is kept of it.
    pub(super) fn learn(&mut self, tool: &Tool) -> Result<(), String> {
        let params = match mirror::mirrored(tool.input_schema.as_ref()) {
            Ok(params) => params,
            Err(reason) => {
                self.tools.remove(&tool.name);
                return Err(reason);
            }
        };
        if params.is_empty() {
            self.tools.remove(&tool.name);
        } else if self.tools.len() < self.limit || self.tools.contains_key(&tool.name) {
            self.tools.insert(tool.name.clone(), params);
        }
        Ok(())
    }

    /// Adds the headers for a call of `tool` with these parameters (HDR-17, HDR-30 to HDR-38).
    pub(super) fn append(&self, tool: &str, body: &[u8], headers: &mut Headers) {
        #[derive(Deserialize)]
        struct Request<'a> {
            #[serde(borrow)]
            params: Params<'a>,
        }
        #[derive(Deserialize)]
        struct Params<'a> {
            #[serde(borrow, default)]
            arguments: Option<&'a RawValue>,
        }
        let Some(params) = self.tools.get(tool) else { return };
        // The body was written here, so it is read without fail; without arguments there are no headers.
        let arguments =
            serde_json::from_slice::<Request<'_>>(body).ok().and_then(|request| request.params.arguments);
        let Some(arguments) = arguments else { return };
        for param in params {
            // A value of another type than the schema allows is for the server to refuse.
            let Ok(Some(value)) = param.read(arguments.get()) else { continue };
            match value {
                ParamValue::String(text) => {
                    headers.push(&param.header, header_value::encode(&text).as_bytes())
                }
                ParamValue::Integer(number) => headers.push(&param.header, number.to_string()),
                ParamValue::Boolean(flag) => headers.push(&param.header, if flag { "true" } else { "false" }),
            }
        }
    }
}
