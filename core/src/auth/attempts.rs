//! How often further authorization is worth a try.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#step-up-authorization-flow>

use alloc::collections::BTreeMap;
use alloc::string::String;

use super::challenge::Refusal;

/// Operations that are remembered at one time.
const OPERATIONS: usize = 1_024;
/// Times that a request is sent again with more scopes, and with another nonce, before that counts as no.
const STEP_UPS: u8 = 1;
const NONCES: u8 = 1;

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
    nonces: u8,
    /// The token that was refused last, and what was said to that.
    last: Option<(u64, Verdict)>,
}

/// The token that a request was sent with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Presented {
    /// Tokens are told apart by this: give each another number.
    pub number: u64,
    /// Whether it came without anybody being asked, by a refresh token or out of a store.
    pub renewed: bool,
}

impl Presented {
    /// The token with this number, which somebody agreed to.
    pub fn new(number: u64) -> Self {
        Self { number, renewed: false }
    }

    /// Whether it came without anybody being asked.
    #[must_use]
    pub fn renewed(mut self, renewed: bool) -> Self {
        self.renewed = renewed;
        self
    }
}

/// What to do about a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// Send the same again, with a proof that holds the new nonce.
    Prove,
    /// Renew the token, or authorize anew where it cannot be renewed.
    Renew,
    /// Authorize anew: one that was renewed does not do, one that somebody agrees to may.
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
    ///
    /// However many requests of an operation are refused with the same token, it is one refusal of that token, and
    /// the same is done about all of them.
    pub fn refused(&mut self, operation: &str, with: Presented, refusal: &Refusal) -> Verdict {
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
        if refusal.wants_nonce() {
            // What is asked for later may need another one.
            tried.nonces = if tried.nonces < NONCES { tried.nonces + 1 } else { 0 };
            return if tried.nonces > 0 { Verdict::Prove } else { Verdict::GiveUp };
        }
        if refusal.is_insufficient_scope() {
            // More scopes were refused for good.
            let more = tried.step_ups < STEP_UPS;
            tried.step_ups = STEP_UPS;
            return if more { Verdict::StepUp } else { Verdict::GiveUp };
        }
        let verdict = match tried.last {
            Some((number, verdict)) if number == with.number => verdict,
            None | Some((_, Verdict::GiveUp)) => Verdict::Renew,
            Some(_) if with.renewed => Verdict::Authorize,
            Some(_) => Verdict::GiveUp,
        };
        tried.last = Some((with.number, verdict));
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

    const FIRST: Presented = Presented { number: 1, renewed: false };

    /// AUTH-65, B78: one more try each, then it is an answer.
    #[test]
    fn the_same_refusal_twice_is_an_answer() {
        let mut attempts = Attempts::new();
        let step_up = refusal(Some("insufficient_scope"), None);
        let invalid = refusal(Some("invalid_token"), None);
        let nonce = refusal(Some("use_dpop_nonce"), Some("n"));
        let [second, third] = [2, 3].map(Presented::new);
        assert_eq!(attempts.refused("tools/call a", FIRST, &nonce), Verdict::Prove);
        assert_eq!(attempts.refused("tools/call a", FIRST, &invalid), Verdict::Renew);
        assert_eq!(attempts.refused("tools/call a", second, &step_up), Verdict::StepUp);
        for refusal in [&nonce, &invalid, &step_up] {
            assert_eq!(attempts.refused("tools/call a", second, refusal), Verdict::GiveUp);
        }
        assert_eq!(
            attempts.refused("tools/call a", third, &invalid),
            Verdict::Renew,
            "another request, another token"
        );
        assert_eq!(
            attempts.refused("tools/call a", third, &step_up),
            Verdict::GiveUp,
            "no number of requests helps"
        );
        assert_eq!(
            attempts.refused("tools/call b", third, &step_up),
            Verdict::StepUp,
            "operations count apart"
        );
        attempts.accepted("tools/call a");
        assert_eq!(attempts.refused("tools/call a", third, &step_up), Verdict::StepUp);
    }

    /// AUTH-65, B78: a token that was renewed does not do, one that somebody agrees to may; that is the last try.
    #[test]
    fn a_renewed_token_that_is_refused_leads_to_the_user_once() {
        let (mut attempts, invalid) = (Attempts::new(), refusal(Some("invalid_token"), None));
        for (number, renewed, verdict) in [
            (1, true, Verdict::Renew),
            (2, true, Verdict::Authorize),
            (3, false, Verdict::GiveUp),
            (4, false, Verdict::Renew),
            (5, false, Verdict::GiveUp),
        ] {
            let with = Presented::new(number).renewed(renewed);
            // Many calls at once are one refusal of the token.
            for _ in 0..5 {
                assert_eq!(attempts.refused("tools/call a", with, &invalid), verdict, "{number}");
            }
        }
    }

    /// AUTH-65: names that a peer can make up do not pile up.
    #[test]
    fn what_is_remembered_is_bounded() {
        let mut attempts = Attempts::new();
        for number in 0..=OPERATIONS {
            attempts.refused(&alloc::format!("{number}"), FIRST, &Refusal::new());
        }
        assert_eq!(attempts.operations.len(), OPERATIONS);
    }

    /// AUTH-65: the oldest is forgotten, whatever its name; a new one is not, and has no second try.
    #[test]
    fn the_oldest_is_forgotten() {
        let step_up = refusal(Some("insufficient_scope"), None);
        let mut attempts = Attempts::new();
        for number in 0..OPERATIONS {
            attempts.refused(&alloc::format!("z{number}"), FIRST, &step_up);
        }
        assert_eq!(attempts.refused("a", FIRST, &step_up), Verdict::StepUp);
        assert_eq!(attempts.refused("b", FIRST, &step_up), Verdict::StepUp);
        assert_eq!(attempts.refused("a", FIRST, &step_up), Verdict::GiveUp);
        assert!(!attempts.operations.contains_key("z0") && !attempts.operations.contains_key("z1"));
    }
}
