//! Files that import each other in a cycle, within one crate.
//!
//! A path is followed to the file that defines its item, through re-exports. Uses of items of an enclosing module are ignored: a `mod.rs`
//! declares its children and may define shared items.

use super::imports::{ModulePath, SourceFile, read_crate};
use super::{CRATE_IMPORTS, crates_folder};
use std::collections::{BTreeMap, BTreeSet};

/// Known cycles by crate and files. The list may only shrink.
const KNOWN_CYCLES: &[(&str, &[&str])] = &[];

/// Longest chain of re-exports.
const MAX_REEXPORT_DEPTH: usize = 8;

type CrateFiles = BTreeMap<ModulePath, SourceFile>;

#[test]
fn source_files_have_no_import_cycle() {
    let mut wrong = vec![];
    for (name, _) in CRATE_IMPORTS {
        let found = cycles(&read_crate(&crates_folder().join(name).join("src")));
        let known: Vec<BTreeSet<&str>> =
            KNOWN_CYCLES.iter().filter(|(krate, _)| krate == name).map(|(_, files)| files.iter().copied().collect()).collect();
        for cycle in &found {
            if !known.iter().any(|known| cycle.iter().all(|file| known.contains(file.as_str()))) {
                wrong.push(format!("{name}: these files import each other in a cycle: {}", cycle.join(", ")));
            }
        }
        for known in known {
            if !found.iter().any(|cycle| cycle.iter().all(|file| known.contains(file.as_str()))) {
                wrong.push(format!("{name}: the cycle of {known:?} is gone; remove it from KNOWN"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_import_cycle_through_a_re_export_is_found() {
    let file = |name: &str, children: &[&str], uses: &[&str]| {
        let mut file = SourceFile { name: name.to_owned(), ..SourceFile::default() };
        file.children = children.iter().map(|child| (*child).to_owned()).collect();
        for path in uses {
            let path: ModulePath = path.split("::").map(str::to_owned).collect();
            file.names.insert(path[path.len() - 1].clone(), path.clone());
            file.paths.push(super::imports::UsedPath { inside: vec![], path });
        }
        file
    };
    let path = |text: &str| -> ModulePath { text.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect() };
    let parts = [
        (path(""), file("lib.rs", &["shop"], &[])),
        (path("shop"), file("shop/mod.rs", &["order", "price", "till"], &["order::Order", "price::Price"])),
        (path("shop::order"), file("shop/order.rs", &[], &["super::Price"])),
        (path("shop::price"), file("shop/price.rs", &[], &["crate::shop::order::Order"])),
        (path("shop::till"), file("shop/till.rs", &[], &["super::order::Order", "super::Counter"])),
    ];
    assert_eq!(cycles(&parts.into_iter().collect()), [["shop/order.rs", "shop/price.rs"]]);
}

/// Returns the groups of files that can reach each other, each sorted.
fn cycles(files: &CrateFiles) -> Vec<Vec<String>> {
    let tests = test_files(files);
    let edges: BTreeMap<&ModulePath, BTreeSet<&ModulePath>> = files
        .iter()
        .filter(|(module, _)| !tests.contains(*module))
        .map(|(module, file)| (module, used_modules(files, module, file).filter(|used| !tests.contains(*used)).collect()))
        .collect();
    let reach: BTreeMap<&ModulePath, BTreeSet<&ModulePath>> = edges.keys().map(|module| (*module, reachable(&edges, module))).collect();
    let mut groups = BTreeSet::new();
    for (module, reached) in &reach {
        let mut group: Vec<String> =
            reached.iter().filter(|other| reach[*other].contains(module)).map(|other| files[*other].name.clone()).collect();
        group.sort();
        if group.len() > 1 {
            groups.insert(group);
        }
    }
    groups.into_iter().collect()
}

/// Returns the modules that only tests compile, with all below them.
fn test_files(files: &CrateFiles) -> BTreeSet<&ModulePath> {
    files
        .keys()
        .filter(|module| {
            (1..=module.len()).any(|n| files.get(&module[..n - 1]).is_some_and(|parent| parent.test_children.contains(&module[n - 1])))
        })
        .collect()
}

fn reachable<'c>(edges: &BTreeMap<&'c ModulePath, BTreeSet<&'c ModulePath>>, from: &'c ModulePath) -> BTreeSet<&'c ModulePath> {
    let mut found = BTreeSet::new();
    let mut next = vec![from];
    while let Some(module) = next.pop() {
        next.extend(edges[module].iter().filter(|used| found.insert(**used)));
    }
    found
}

/// Returns the files that a file uses, but for itself and the modules around it.
fn used_modules<'c>(files: &'c CrateFiles, module: &'c ModulePath, file: &'c SourceFile) -> impl Iterator<Item = &'c ModulePath> {
    file.paths.iter().filter_map(move |used| {
        let here: ModulePath = module.iter().chain(&used.inside).cloned().collect();
        let target = resolve(files, &here, &used.path, MAX_REEXPORT_DEPTH)?;
        (!module.starts_with(target)).then_some(target)
    })
}

/// Returns the module whose file defines the item that a path means; nothing for paths into other crates.
fn resolve<'c>(files: &'c CrateFiles, here: &[String], path: &[String], deepest: usize) -> Option<&'c ModulePath> {
    let (first, rest) = path.split_first()?;
    let (mut module, mut rest) = match first.as_str() {
        "crate" => (vec![], rest),
        "self" => (here.to_vec(), rest),
        "super" => (here[..here.len().checked_sub(1)?].to_vec(), rest),
        _ => {
            let (_, file) = file_of(files, here)?;
            if !file.children.contains(first) {
                return None;
            }
            (here.to_vec(), path)
        }
    };
    while let Some((next, after)) = rest.split_first() {
        if next == "super" {
            module.pop();
        } else if files.contains_key(&[&module[..], std::slice::from_ref(next)].concat()) {
            module.push(next.clone());
        } else {
            break;
        }
        rest = after;
    }
    let (target, file) = file_of(files, &module)?;
    let re_export = rest.first().and_then(|name| file.names.get(name)).filter(|_| deepest > 0);
    match re_export {
        Some(path) => resolve(files, target, path, deepest - 1).or(Some(target)),
        None => Some(target),
    }
}

/// Returns the innermost module around a path that is a file.
fn file_of<'c>(files: &'c CrateFiles, module: &[String]) -> Option<(&'c ModulePath, &'c SourceFile)> {
    (0..=module.len()).rev().find_map(|n| files.get_key_value(&module[..n]))
}
