//! Changes of the server, on their way to the sessions that are to hear of them.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::Sessions;
use crate::change::Change;
use crate::server::config::Config;
use crate::server::notify;
use crate::time::Now;

impl Sessions {
    /// Something has changed: tells every session whose client is ready and to hear of it (SUBL-04 to SUBL-07).
    /// What `config` does not declare is not told. Of a resource is told whoever saw it when he subscribed to it.
    pub fn publish(&mut self, _now: Now, config: &Config, change: &Change) {
        let told = self.open.iter().filter(|(_, entry)| entry.state.is_told(change, config));
        let told: Vec<_> = told.map(|(session, _)| session.clone()).collect();
        let mut message = Vec::new();
        if told.is_empty() || notify::change(change, None, &mut message).is_err() {
            return;
        }
        // One for all of them.
        let message = Arc::from(message);
        for session in told {
            self.send_shared(&session, &message);
        }
    }
}
