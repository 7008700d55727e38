//! Arguments by name, in the order of the file.

use crate::problem::ProblemReport;
use crate::yaml::{YamlNode, map};
use std::collections::{HashMap, HashSet};
use std::iter::Map;
use std::ops::Index;
use std::slice::Iter;
use std::sync::Arc;

/// Arguments of a call, in the order of the file. A call has a handful of them, so a list is searched; cases of a file share equal names
/// and values (see [`ArgPool`]). Changing a value copies it first.
#[derive(Debug, Clone)]
pub struct NamedArgs<T> {
    entries: Vec<NamedArg<T>>,
}

/// Entry of [`NamedArgs`].
#[derive(Debug, Clone)]
pub struct NamedArg<T> {
    name: Arc<str>,
    value: Arc<T>,
    /// Line of the file; 0 if the argument was not read from one.
    line: u32,
}

impl<T> NamedArgs<T> {
    pub const fn new() -> Self {
        Self { entries: vec![] }
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn get(&self, name: &str) -> Option<&T> {
        self.entry(name).map(|entry| &*entry.value)
    }

    pub fn contains_key(&self, name: &str) -> bool {
        self.entry(name).is_some()
    }

    /// Returns the line that an argument was read from.
    pub fn line(&self, name: &str) -> Option<u32> {
        self.entry(name).map(|entry| entry.line)
    }

    pub fn iter(&self) -> NamedArgsIter<'_, T> {
        self.entries.iter().map(NamedArg::pair)
    }

    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| &*entry.name)
    }

    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.entries.iter().map(|entry| &*entry.value)
    }

    /// Sets an argument. A new one comes last.
    pub fn insert(&mut self, name: &str, value: T) {
        let value = Arc::new(value);
        match self.entries.iter_mut().find(|entry| &*entry.name == name) {
            Some(entry) => entry.value = value,
            None => self.entries.push(NamedArg { name: name.into(), value, line: 0 }),
        }
    }

    /// Removes an argument; returns whether there was one.
    pub fn remove(&mut self, name: &str) -> bool {
        let before = self.len();
        self.retain(|own| own != name);
        self.len() < before
    }

    /// Keeps the arguments with these names.
    pub fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        self.entries.retain(|entry| keep(&entry.name));
    }

    fn entry(&self, name: &str) -> Option<&NamedArg<T>> {
        self.entries.iter().find(|entry| &*entry.name == name)
    }
}

impl<T: Clone> NamedArgs<T> {
    pub fn get_mut(&mut self, name: &str) -> Option<&mut T> {
        self.iter_mut().find(|(own, _)| *own == name).map(|(_, value)| value)
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut T)> {
        self.entries.iter_mut().map(|entry| (&*entry.name, Arc::make_mut(&mut entry.value)))
    }

    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.iter_mut().map(|(_, value)| value)
    }
}

impl<T> NamedArg<T> {
    fn pair(&self) -> (&str, &T) {
        (&self.name, &self.value)
    }
}

type NamedArgsIter<'a, T> = Map<Iter<'a, NamedArg<T>>, fn(&'a NamedArg<T>) -> (&'a str, &'a T)>;

impl<'a, T> IntoIterator for &'a NamedArgs<T> {
    type Item = (&'a str, &'a T);
    type IntoIter = NamedArgsIter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T> Default for NamedArgs<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Compares names and values, in any order. Lines do not count.
impl<T: PartialEq> PartialEq for NamedArgs<T> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(name, value)| other.get(name) == Some(value))
    }
}

impl<T> Index<&str> for NamedArgs<T> {
    type Output = T;

    fn index(&self, name: &str) -> &T {
        self.get(name).unwrap_or_else(|| panic!("there is no argument {name}"))
    }
}

impl<N: AsRef<str>, T> FromIterator<(N, T)> for NamedArgs<T> {
    fn from_iter<I: IntoIterator<Item = (N, T)>>(entries: I) -> Self {
        let mut args = Self::new();
        for (name, value) in entries {
            args.insert(name.as_ref(), value);
        }
        args
    }
}

/// Reads a mapping of arguments.
pub(super) fn named_args<T>(
    read: impl Fn(&YamlNode, &ProblemReport) -> Option<T>,
) -> impl Fn(&YamlNode, &ProblemReport) -> Option<NamedArgs<T>> {
    move |node, report| {
        let read = map(|node, report| Some((read(node, report)?, report.location(node.line).line)))(node, report)?;
        let entry = |(name, (value, line)): (String, (T, u32))| NamedArg { name: name.into(), value: Arc::new(value), line };
        Some(NamedArgs { entries: read.into_iter().map(entry).collect() })
    }
}

/// Names and texts of the arguments of a file, each held once.
pub(super) struct ArgPool<T> {
    names: HashSet<Arc<str>>,
    values: HashMap<String, Arc<T>>,
    /// Returns the text of a value that is a text, and nothing else.
    text: fn(&T) -> Option<&str>,
}

impl<T> ArgPool<T> {
    pub(super) fn new(text: fn(&T) -> Option<&str>) -> Self {
        Self { names: HashSet::new(), values: HashMap::new(), text }
    }

    /// Replaces names and values by those of earlier arguments that equal them.
    pub(super) fn share(&mut self, args: &mut NamedArgs<T>) {
        for NamedArg { name, value, .. } in &mut args.entries {
            match self.names.get(&**name) {
                Some(own) => *name = own.clone(),
                None => {
                    self.names.insert(name.clone());
                }
            }
            let Some(text) = (self.text)(value) else { continue };
            match self.values.get(text) {
                Some(own) => *value = own.clone(),
                None => {
                    self.values.insert(text.to_owned(), value.clone());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(entries: &[(&str, &str)]) -> NamedArgs<String> {
        entries.iter().map(|(name, value)| (*name, (*value).to_owned())).collect()
    }

    #[test]
    fn arguments_keep_their_order_and_are_compared_without_it() {
        let mut given = args(&[("b", "1"), ("a", "2")]);
        given.insert("b", "3".to_owned());
        given.insert("c", "4".to_owned());
        assert_eq!(given.iter().collect::<Vec<_>>(), [("b", &"3".to_owned()), ("a", &"2".to_owned()), ("c", &"4".to_owned())]);
        assert_eq!(given, args(&[("a", "2"), ("b", "3"), ("c", "4")]));
        assert_ne!(given, args(&[("a", "2"), ("b", "3"), ("c", "5")]));
        assert_ne!(given, args(&[("a", "2"), ("b", "3")]));
        assert!(given.remove("b") && !given.remove("b"));
        assert_eq!(given.keys().collect::<Vec<_>>(), ["a", "c"]);
    }

    #[test]
    fn shared_values_are_copied_before_they_change() {
        let mut pool = ArgPool::new(|text: &String| Some(text.as_str()));
        let (mut one, mut other) = (args(&[("token", "USDC")]), args(&[("token", "USDC"), ("amount", "5")]));
        pool.share(&mut one);
        pool.share(&mut other);
        assert!(Arc::ptr_eq(&one.entries[0].value, &other.entries[0].value) && Arc::ptr_eq(&one.entries[0].name, &other.entries[0].name));
        "WETH".clone_into(other.get_mut("token").unwrap());
        assert_eq!((&one["token"], &other["token"]), (&"USDC".to_owned(), &"WETH".to_owned()));
    }
}
