//! Servers of the program. [`viewer`] shows stored runs in a browser; [`pages`] are its pages, pure functions from stored data to HTML.

pub mod pages;
pub mod viewer;
