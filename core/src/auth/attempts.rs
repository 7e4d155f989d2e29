//! How often further authorization is worth a try.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#step-up-authorization-flow>

use alloc::collections::BTreeMap;
use alloc::string::String;
use core::fmt;

use super::challenge::Refusal;

/// Operations that are remembered at one time.
const OPERATIONS: usize = 1_024;
/// Times that a request is sent again with more scopes, and with another nonce, before that counts as no.
const STEP_UPS: u8 = 1;
const NONCES: u8 = 1;

/// What one server refused, by operation: keep one beside the grant for the server (AUTH-65, B78).
#[derive(Clone, Default)]
pub struct Attempts {
    operations: BTreeMap<String, Operation>,
    /// How many operations there were.
    last: u64,
}

/// Prints how many, and not which: they may name tasks, which are there for whoever knows their ids (TASK-67).
impl fmt::Debug for Attempts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attempts").field("operations", &self.operations.len()).finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, Default)]
struct Operation {
    /// The how manieth operation it is: the oldest gives way.
    number: u64,
    step_ups: u8,
}

/// What was refused of one request so far: keep one as long as the same request is sent again, and no longer. What comes of
/// one says nothing about another, which may come when the token ends that was taken since.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tried {
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

    /// A request for this operation (such as `tools/call` and the tool's name) was refused, as it may have been before.
    ///
    /// That the same token is refused once more is no other refusal.
    pub fn refused(
        &mut self,
        operation: &str,
        request: &mut Tried,
        with: Presented,
        refusal: &Refusal,
    ) -> Verdict {
        if refusal.wants_nonce() {
            let more = request.nonces < NONCES;
            request.nonces = NONCES;
            return if more { Verdict::Prove } else { Verdict::GiveUp };
        }
        if refusal.is_insufficient_scope() {
            // More scopes were refused for good.
            let operation = self.operation(operation);
            let more = operation.step_ups < STEP_UPS;
            operation.step_ups = STEP_UPS;
            return if more { Verdict::StepUp } else { Verdict::GiveUp };
        }
        let verdict = match request.last {
            Some((number, verdict)) if number == with.number => verdict,
            None => Verdict::Renew,
            // Whoever was asked is not asked again about the same, whatever has become of that token since.
            Some((_, Verdict::Renew)) if with.renewed => Verdict::Authorize,
            Some(_) => Verdict::GiveUp,
        };
        request.last = Some((with.number, verdict));
        verdict
    }

    fn operation(&mut self, name: &str) -> &mut Operation {
        if self.operations.len() >= OPERATIONS && !self.operations.contains_key(name) {
            let oldest = self.operations.iter().min_by_key(|(_, operation)| operation.number);
            if let Some(oldest) = oldest.map(|(name, _)| name.clone()) {
                self.operations.remove(&oldest);
            }
        }
        self.operations.entry(name.into()).or_insert_with(|| {
            self.last += 1;
            Operation { number: self.last, ..Operation::default() }
        })
    }

    /// Whether no scopes were refused since they were let in.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// What was refused of this operation says nothing any more: a request for it was let in, which a redirect, say, does not
    /// show; or nobody has answered who was asked for more scopes.
    pub fn forget(&mut self, operation: &str) {
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
        let mut first = Tried::default();
        assert_eq!(attempts.refused("tools/call a", &mut first, FIRST, &nonce), Verdict::Prove);
        assert_eq!(attempts.refused("tools/call a", &mut first, FIRST, &invalid), Verdict::Renew);
        assert_eq!(attempts.refused("tools/call a", &mut first, second, &step_up), Verdict::StepUp);
        for refusal in [&nonce, &invalid, &step_up] {
            assert_eq!(attempts.refused("tools/call a", &mut first, second, refusal), Verdict::GiveUp);
        }
        let mut next = Tried::default();
        assert_eq!(
            attempts.refused("tools/call a", &mut next, third, &step_up),
            Verdict::GiveUp,
            "no number of requests helps"
        );
        assert_eq!(
            attempts.refused("tools/call b", &mut next, third, &step_up),
            Verdict::StepUp,
            "operations count apart"
        );
        attempts.forget("tools/call a");
        assert_eq!(attempts.refused("tools/call a", &mut next, third, &step_up), Verdict::StepUp);
    }

    /// AUTH-65, B78: a token that was renewed does not do, one that somebody agrees to may; that is the last try.
    #[test]
    fn a_renewed_token_that_is_refused_leads_to_the_user_once() {
        let (mut attempts, invalid) = (Attempts::new(), refusal(Some("invalid_token"), None));
        let mut request = Tried::default();
        for (number, renewed, verdict) in
            [(1, true, Verdict::Renew), (2, true, Verdict::Authorize), (3, true, Verdict::GiveUp)]
        {
            let with = Presented::new(number).renewed(renewed);
            // That it is refused again is no other refusal.
            for _ in 0..5 {
                assert_eq!(
                    attempts.refused("tools/call a", &mut request, with, &invalid),
                    verdict,
                    "{number}"
                );
            }
        }
    }

    /// AUTH-65, B75: however a request ended that was refused, the next one begins with a renewal, and with another proof.
    #[test]
    fn what_became_of_one_request_is_nothing_to_the_next() {
        let invalid = refusal(Some("invalid_token"), None);
        let nonce = refusal(Some("use_dpop_nonce"), Some("n"));
        for renewed in [true, false] {
            let (mut attempts, mut first) = (Attempts::new(), Tried::default());
            assert_eq!(attempts.refused("tools/call a", &mut first, FIRST, &invalid), Verdict::Renew);
            assert_eq!(attempts.refused("tools/call a", &mut first, FIRST, &nonce), Verdict::Prove);
            // It was given up by whoever waited for it; others took a later token until that ended.
            let (with, mut next) = (Presented::new(3).renewed(renewed), Tried::default());
            assert_eq!(attempts.refused("tools/call a", &mut next, with, &nonce), Verdict::Prove);
            assert_eq!(attempts.refused("tools/call a", &mut next, with, &invalid), Verdict::Renew);
        }
    }

    /// AUTH-65: names that a peer can make up do not pile up.
    #[test]
    fn what_is_remembered_is_bounded() {
        let (mut attempts, step_up) = (Attempts::new(), refusal(Some("insufficient_scope"), None));
        for number in 0..=OPERATIONS {
            let name = alloc::format!("{number}");
            attempts.refused(&name, &mut Tried::default(), FIRST, &step_up);
        }
        assert_eq!(attempts.operations.len(), OPERATIONS);
    }

    /// AUTH-65: the oldest is forgotten, whatever its name; a new one is not, and has no second try.
    #[test]
    fn the_oldest_is_forgotten() {
        let step_up = refusal(Some("insufficient_scope"), None);
        let mut attempts = Attempts::new();
        let mut refused = |name: &str| attempts.refused(name, &mut Tried::default(), FIRST, &step_up);
        for number in 0..OPERATIONS {
            refused(&alloc::format!("z{number}"));
        }
        assert_eq!(refused("a"), Verdict::StepUp);
        assert_eq!(refused("b"), Verdict::StepUp);
        assert_eq!(refused("a"), Verdict::GiveUp);
        assert!(!attempts.operations.contains_key("z0") && !attempts.operations.contains_key("z1"));
    }
}
