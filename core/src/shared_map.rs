//! A sorted map of which clones share all but what differs, for what changes in small steps while others have it as it
//! was.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::fmt;
use core::mem;

/// Entries that are copied together when one of them changes. A clone costs a step for each such leaf, so it is large
/// enough that other costs of a change are more than the clone of a map of ten thousand.
const LEAF: usize = 64;

/// A sorted map that is cheap to clone: an entry of a clone costs a hundredth of what it costs in a `BTreeMap`.
pub struct SharedMap<K, V> {
    /// In order; none is empty.
    leaves: Vec<Leaf<K, V>>,
    len: usize,
}

type Leaf<K, V> = Arc<Vec<(K, V)>>;

impl<K, V> Clone for SharedMap<K, V> {
    fn clone(&self) -> Self {
        Self { leaves: self.leaves.clone(), len: self.len }
    }
}

impl<K, V> Default for SharedMap<K, V> {
    fn default() -> Self {
        Self { leaves: Vec::new(), len: 0 }
    }
}

/// Prints how many there are.
impl<K, V> fmt::Debug for SharedMap<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SharedMap({} entries)", self.len)
    }
}

impl<K, V> SharedMap<K, V> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.leaves.iter().flat_map(|leaf| leaf.iter()).map(|(key, value)| (key, value))
    }

    /// Whether both are clones of which none has changed since. What differs may still be equal.
    pub fn is_shared_with(&self, other: &Self) -> bool {
        self.leaves.len() == other.leaves.len()
            && self.leaves.iter().zip(&other.leaves).all(|(own, other)| Arc::ptr_eq(own, other))
    }
}

impl<K: Ord, V> SharedMap<K, V> {
    /// What stands under this key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let (leaf, place) = self.place(key)?;
        self.leaves.get(leaf)?.get(place).map(|(_, value)| value)
    }

    /// What comes after this key, in order.
    pub fn after<'a>(&'a self, key: &K) -> impl Iterator<Item = (&'a K, &'a V)> + use<'a, K, V> {
        let first = self.leaves.partition_point(|leaf| leaf.last().is_some_and(|(last, _)| last <= key));
        let rest = self.leaves.get(first..).unwrap_or_default();
        let skipped = rest.first().map_or(0, |leaf| leaf.partition_point(|(known, _)| known <= key));
        let entries = rest.iter().flat_map(|leaf| leaf.iter());
        entries.skip(skipped).map(|(key, value)| (key, value))
    }

    /// The first leaf that does not end before this key.
    fn leaf<Q: Ord + ?Sized>(&self, key: &Q) -> usize
    where
        K: Borrow<Q>,
    {
        self.leaves.partition_point(|leaf| leaf.last().is_some_and(|(last, _)| last.borrow() < key))
    }

    fn place<Q: Ord + ?Sized>(&self, key: &Q) -> Option<(usize, usize)>
    where
        K: Borrow<Q>,
    {
        let leaf = self.leaf(key);
        let place = self.leaves.get(leaf)?.binary_search_by(|(known, _)| known.borrow().cmp(key)).ok()?;
        Some((leaf, place))
    }
}

impl<K: Ord + Clone, V: Clone> SharedMap<K, V> {
    /// The same, to be changed.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let (leaf, place) = self.place(key)?;
        Arc::make_mut(self.leaves.get_mut(leaf)?).get_mut(place).map(|(_, value)| value)
    }

    /// Puts a value under this key; returns the one before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        // What comes after all others comes into the last leaf.
        let at = self.leaf(&key).min(self.leaves.len().saturating_sub(1));
        let Some(shared) = self.leaves.get_mut(at) else {
            self.leaves.push(Arc::new(vec![(key, value)]));
            self.len = 1;
            return None;
        };
        let leaf = Arc::make_mut(shared);
        let place = match leaf.binary_search_by(|(known, _)| known.cmp(&key)) {
            Ok(place) => return leaf.get_mut(place).map(|(_, known)| mem::replace(known, value)),
            Err(place) => place,
        };
        self.len += 1;
        if leaf.len() < LEAF {
            leaf.insert(place, (key, value));
            return None;
        }
        // A full leaf becomes two; what comes in order leaves full ones behind.
        let mut next = leaf.split_off(if place == LEAF { LEAF } else { LEAF / 2 });
        match place.checked_sub(leaf.len()) {
            Some(place) => next.insert(place, (key, value)),
            None => leaf.insert(place, (key, value)),
        }
        self.leaves.insert(at + 1, Arc::new(next));
        None
    }

    /// Takes out what stands under this key.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let (at, place) = self.place(key)?;
        let leaf = Arc::make_mut(self.leaves.get_mut(at)?);
        // It was found there.
        let (_, removed) = leaf.remove(place);
        if leaf.is_empty() {
            self.leaves.remove(at);
        }
        self.len -= 1;
        Some(removed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;

    /// In ascending, descending and mixed order, over several leaves: the same as in a map of the standard library.
    #[test]
    fn it_says_what_a_plain_map_says() {
        const MANY: u64 = 1_000;
        let orders: [fn(u64) -> u64; 3] = [|i| i, |i| MANY - i, |i| i * 7919 % 1009];
        for order in orders {
            let (mut map, mut plain) = (SharedMap::default(), BTreeMap::new());
            let same = |map: &SharedMap<u64, u64>, plain: &BTreeMap<u64, u64>| {
                assert!(map.iter().eq(plain.iter()) && map.leaves.iter().all(|leaf| !leaf.is_empty()));
                assert_eq!((map.len(), map.is_empty()), (plain.len(), plain.is_empty()));
                for key in [0, 1, 63, 64, 65, 500, MANY, MANY * 2] {
                    assert_eq!(map.get(&key), plain.get(&key));
                    assert!(map.after(&key).eq(plain.range(key + 1..)), "after {key}");
                }
            };
            for i in 0..MANY {
                assert_eq!(map.insert(order(i), i), plain.insert(order(i), i));
                if i % 50 == 0 {
                    same(&map, &plain);
                }
            }
            assert_eq!(map.insert(order(5), 0), plain.insert(order(5), 0));
            for i in (0..MANY).step_by(3).chain(0..MANY) {
                assert_eq!(map.remove(&order(i)), plain.remove(&order(i)));
                if i % 50 == 0 {
                    same(&map, &plain);
                }
            }
            same(&map, &plain);
        }
    }

    /// What is changed in a clone is not changed in the other, and the rest is one.
    #[test]
    fn clones_share_what_does_not_differ() {
        let mut map: SharedMap<u32, Arc<u32>> = SharedMap::default();
        for i in 0..1_000 {
            map.insert(i, Arc::new(i));
        }
        let before = map.clone();
        assert!(map.is_shared_with(&before));
        map.insert(1_000, Arc::new(0));
        map.remove(&0);
        *map.get_mut(&500).unwrap() = Arc::new(7);
        assert!(!map.is_shared_with(&before));
        assert_eq!((before.len(), **before.get(&500).unwrap(), before.get(&1_000)), (1_000, 500, None));
        let of_their_own =
            map.leaves.iter().filter(|leaf| !before.leaves.iter().any(|old| Arc::ptr_eq(old, leaf)));
        assert_eq!(of_their_own.count(), 3);
    }

    #[test]
    fn what_comes_in_order_fills_leaves() {
        let mut map = SharedMap::default();
        for i in 0..10 * LEAF {
            map.insert(i, ());
        }
        assert_eq!(map.leaves.len(), 10);
    }
}
