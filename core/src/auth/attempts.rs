//! How often further authorization is worth a try.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#step-up-authorization-flow>

use alloc::collections::BTreeMap;
use alloc::string::String;

use super::challenge::Refusal;

/// Operations that are remembered at one time.
const OPERATIONS: usize = 1_024;
/// Times that a request is sent again with more scopes, and with another token, before that counts as no.
const STEP_UPS: u8 = 1;
const RENEWALS: u8 = 1;

/// What one server refused, by operation: keep one beside the grant for the server (AUTH-65, B78).
#[derive(Clone, Debug, Default)]
pub struct Attempts {
    operations: BTreeMap<String, Tried>,
    /// How many operations there were.
    last: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Tried {
    /// The how manieth operation it is: the oldest gives way.
    number: u64,
    step_ups: u8,
    renewals: u8,
    nonces: u8,
}

/// What to do about a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// Send the same again, with a proof that holds the new nonce.
    Prove,
    /// Renew the token, or authorize anew.
    Authorize,
    /// Authorize with the further scopes.
    StepUp,
    /// Nothing: it was tried, and this is the answer.
    GiveUp,
}

impl Attempts {
    /// Nothing was refused yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A request for this operation (such as `tools/call` and the tool's name) was refused.
    pub fn refused(&mut self, operation: &str, refusal: &Refusal) -> Verdict {
        if self.operations.len() >= OPERATIONS && !self.operations.contains_key(operation) {
            let oldest = self.operations.iter().min_by_key(|(_, tried)| tried.number);
            if let Some(oldest) = oldest.map(|(name, _)| name.clone()) {
                self.operations.remove(&oldest);
            }
        }
        let tried = self.operations.entry(operation.into()).or_insert_with(|| {
            self.last += 1;
            Tried { number: self.last, ..Tried::default() }
        });
        let (counter, most, verdict) = if refusal.wants_nonce() {
            (&mut tried.nonces, 1, Verdict::Prove)
        } else if refusal.is_insufficient_scope() {
            (&mut tried.step_ups, STEP_UPS, Verdict::StepUp)
        } else {
            (&mut tried.renewals, RENEWALS, Verdict::Authorize)
        };
        if *counter >= most {
            if verdict != Verdict::StepUp {
                // What is asked for later may find another token; more scopes were refused for good.
                *counter = 0;
            }
            return Verdict::GiveUp;
        }
        *counter += 1;
        verdict
    }

    /// Whether nothing was refused since it was let in.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// A request for this operation was let in.
    pub fn accepted(&mut self, operation: &str) {
        self.operations.remove(operation);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(error: Option<&str>, nonce: Option<&str>) -> Refusal {
        Refusal { error: error.map(Into::into), dpop_nonce: nonce.map(Into::into), ..Refusal::new() }
    }

    /// AUTH-65, B78: one more try each, then it is an answer.
    #[test]
    fn the_same_refusal_twice_is_an_answer() {
        let mut attempts = Attempts::new();
        let step_up = refusal(Some("insufficient_scope"), None);
        let invalid = refusal(Some("invalid_token"), None);
        let nonce = refusal(Some("use_dpop_nonce"), Some("n"));
        assert_eq!(attempts.refused("tools/call a", &nonce), Verdict::Prove);
        assert_eq!(attempts.refused("tools/call a", &invalid), Verdict::Authorize);
        assert_eq!(attempts.refused("tools/call a", &step_up), Verdict::StepUp);
        for refusal in [&nonce, &invalid, &step_up] {
            assert_eq!(attempts.refused("tools/call a", refusal), Verdict::GiveUp);
        }
        assert_eq!(
            attempts.refused("tools/call a", &invalid),
            Verdict::Authorize,
            "another request, another token"
        );
        assert_eq!(
            attempts.refused("tools/call a", &step_up),
            Verdict::GiveUp,
            "no number of requests helps"
        );
        assert_eq!(attempts.refused("tools/call b", &step_up), Verdict::StepUp, "operations count apart");
        attempts.accepted("tools/call a");
        assert_eq!(attempts.refused("tools/call a", &step_up), Verdict::StepUp);
    }

    /// AUTH-65: names that a peer can make up do not pile up.
    #[test]
    fn what_is_remembered_is_bounded() {
        let mut attempts = Attempts::new();
        for number in 0..=OPERATIONS {
            attempts.refused(&alloc::format!("{number}"), &Refusal::new());
        }
        assert_eq!(attempts.operations.len(), OPERATIONS);
    }

    /// AUTH-65: the oldest is forgotten, whatever its name; a new one is not, and has no second try.
    #[test]
    fn the_oldest_is_forgotten() {
        let step_up = refusal(Some("insufficient_scope"), None);
        let mut attempts = Attempts::new();
        for number in 0..OPERATIONS {
            attempts.refused(&alloc::format!("z{number}"), &step_up);
        }
        assert_eq!(attempts.refused("a", &step_up), Verdict::StepUp);
        assert_eq!(attempts.refused("b", &step_up), Verdict::StepUp);
        assert_eq!(attempts.refused("a", &step_up), Verdict::GiveUp);
        assert!(!attempts.operations.contains_key("z0") && !attempts.operations.contains_key("z1"));
    }
}
