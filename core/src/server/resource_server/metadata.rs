//! The metadata of a protected resource.
//!
//! <https://www.rfc-editor.org/rfc/rfc9728>

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::url;
use super::{Place, ResourceServer};

/// Where metadata is served, before the path of the resource.
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

impl ResourceServer {
    /// Where clients find the metadata: the well-known path, with the path of the resource behind it (AUTHS-03).
    pub fn metadata_url(&self) -> String {
        self.here().metadata_url()
    }

    /// Whether metadata is served at this path: in the form with the path of the resource, and at the root.
    pub fn serves_metadata_at(&self, path: &str) -> bool {
        self.here().serves_metadata_at(path)
    }

    /// The metadata, as JSON text.
    pub fn metadata(&self) -> String {
        self.here().metadata()
    }
}

impl Place<'_> {
    pub(super) fn metadata_url(&self) -> String {
        let origin = url::parse(&self.server.resource).map(|url| url::origin(&url)).unwrap_or_default();
        alloc::format!("{origin}{WELL_KNOWN}{}", self.path())
    }

    pub(in crate::server) fn serves_metadata_at(&self, path: &str) -> bool {
        path.strip_prefix(WELL_KNOWN).is_some_and(|rest| rest.is_empty() || rest == self.path())
    }

    pub(in crate::server) fn metadata(&self) -> String {
        #[derive(Serialize)]
        struct Metadata<'a> {
            resource: &'a str,
            authorization_servers: &'a [String],
            #[serde(skip_serializing_if = "Vec::is_empty")]
            scopes_supported: Vec<&'a str>,
            bearer_methods_supported: [&'a str; 1],
            #[serde(skip_serializing_if = "Option::is_none")]
            resource_name: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            resource_documentation: Option<&'a str>,
        }
        let (server, resource) = (self.server, self.resource());
        let metadata = Metadata {
            resource: &resource,
            authorization_servers: &server.authorization_servers,
            scopes_supported: server.scopes.union(&server.further).map(String::as_str).collect(),
            bearer_methods_supported: ["header"],
            resource_name: server.name.as_deref(),
            resource_documentation: server.documentation.as_deref(),
        };
        // Strings and lists of them always serialise.
        serde_json::to_string(&metadata).unwrap_or_default()
    }
}
