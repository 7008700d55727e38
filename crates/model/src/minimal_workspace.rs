//! Smallest complete workspace, written by `init --minimal`. Every check accepts it.

macro_rules! minimal {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../../../examples/minimal/", $path)))),*]
    };
}

/// Paths and contents of all files of `examples/minimal`.
pub static MINIMAL_WORKSPACE: &[(&str, &str)] = minimal![
    "agents/desk.md",
    "agents/safety-guardian.md",
    "agents/trader.md",
    "gates.yaml",
    "outputs/trade_result.yaml",
    "outputs/verdict.yaml",
    "policy.yaml",
    "profiles/trader.yaml",
    "registry/base.yaml",
    "skills/send-tokens/SKILL.md",
    "skills/swap/SKILL.md",
    "subjects/baseline.yaml",
    "subjects/echo.yaml",
    "subjects/reference.yaml",
    "suites/behavior/trader.yaml",
    "suites/composition/desk_to_trader.yaml",
    "suites/skills/swap.yaml",
    "suites/tool_selection/trader.yaml",
    "tiers.yaml",
    "tools/wallet.yaml",
    "worlds/small.yaml",
];
