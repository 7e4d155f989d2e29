//! Several futures at once.

use std::future::{Future, poll_fn};
use std::task::Poll;

use crate::runtime::BoxFuture;

/// The outputs of all futures, in their order, once all are ready.
pub(super) async fn join<T, F>(futures: impl IntoIterator<Item = F>) -> Vec<T>
where
    T: Send,
    F: Future<Output = T> + Send + 'static,
{
    enum Slot<T> {
        Pending(BoxFuture<T>),
        Ready(T),
    }
    let mut slots: Vec<Slot<T>> =
        futures.into_iter().map(|future| Slot::Pending(Box::pin(future) as BoxFuture<T>)).collect();
    poll_fn(|cx| {
        let mut pending = false;
        for slot in &mut slots {
            if let Slot::Pending(future) = slot {
                match future.as_mut().poll(cx) {
                    Poll::Ready(output) => *slot = Slot::Ready(output),
                    Poll::Pending => pending = true,
                }
            }
        }
        if pending { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    let ready = slots.into_iter().filter_map(|slot| match slot {
        Slot::Ready(output) => Some(output),
        // All were ready.
        Slot::Pending(_) => None,
    });
    ready.collect()
}
