//! Tool files of earlier versions, with operations in `via` and classes in `acts`.

use crate::harness::TestFolder;

fn with_older_tools() -> TestFolder {
    let folder = TestFolder::with_minimal();
    folder.edit("evals/tools/wallet.yaml", "    acts: send\n", "    acts: transfer\n");
    folder.edit("evals/tools/wallet.yaml", "    acts: swap\n", "    acts: swap\n    via: { deed: swap }\n");
    folder
}

#[test]
fn via_deed_is_read_with_a_deprecation_warning() {
    let folder = with_older_tools();
    let at = |text| folder.line("evals/tools/wallet.yaml", text);
    let ran = folder.run(&["list", "tools"]).assert_exit(0);
    let class = format!(
        "warning: evals/tools/wallet.yaml:{}  acts: transfer is now a class of operations; write acts: send\n",
        at("acts: transfer")
    );
    let key =
        format!("warning: evals/tools/wallet.yaml:{}  via.deed: swap is now part of acts; keep acts: swap and remove deed\n", at("deed"));
    assert_eq!(ran.stderr, key + &class);
}

#[test]
fn older_tool_files_give_the_same_verdicts() {
    let args = ["run", "--no-store", "--subject", "reference"];
    let (before, after) = (with_older_tools().json(&args, 0), TestFolder::with_minimal().json(&args, 0));
    assert_eq!(before["verdicts"], after["verdicts"]);
}

#[test]
fn smoke_reports_older_keys_as_warnings() {
    let document = with_older_tools().json(&["smoke"], 0);
    let checks = document["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["check"] == "keys_current").unwrap();
    assert_eq!((&check["errors"], &check["warnings"]), (&0.into(), &2.into()), "{check:#}");
    assert_eq!(check["findings"][0]["remedy"], "keep acts: swap and remove deed");
}

#[test]
fn more_than_five_warnings_are_counted() {
    let folder = TestFolder::with_reference();
    let file = "evals/tools/memory.yaml";
    folder.write(file, folder.read(file).replace("    acts: remember\n", "    acts: remember\n    via: { deed: remember }\n"));
    let ran = folder.run(&["list", "tools"]).assert_exit(0).assert_stderr("3 more warnings; `bardo-eval smoke --verbose` lists them all\n");
    assert_eq!(ran.stderr.lines().count(), 6, "{}", ran.stderr);
}
