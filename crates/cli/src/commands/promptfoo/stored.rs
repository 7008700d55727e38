//! Run of a config in the store.

use super::config_models::ConfigModels;
use crate::args::PromptfooArgs;
use crate::shell::shell_quoted;
use crate::stored_runs;
use campaign::{ConfigPlan, ConfigRun, ConfigTrial, LockedRun};
use model::{ContentHash, UserError};
use promptfoo::{StoredRow, TestCell, TestRow};
use serde_json::json;

/// Run that is stored if it asks models: their replies cost money, and a run that asks none is done again as cheaply.
pub(super) struct StoredConfig {
    run: Option<ConfigRun>,
    is_kept: bool,
    unfinished: usize,
    left: usize,
}

impl StoredConfig {
    /// Starts or resumes the run.
    ///
    /// # Errors
    /// If it cannot be stored, or the run to resume is of another config.
    pub(super) fn open(args: &PromptfooArgs, name: &str, cells: &[TestCell], models: &ConfigModels) -> Result<Self, UserError> {
        let left = cells.len();
        if models.models.is_empty() {
            if args.resume.is_some() {
                let what = "this config asks no model, so its runs are not stored";
                return Err(UserError::new(what, "start it again without --resume"));
            }
            return Ok(Self { run: None, is_kept: false, unfinished: 0, left });
        }
        let plan = ConfigPlan {
            config: name.to_owned(),
            hash: cells_hash(cells),
            planned: cells.len() as u64,
            budget: args.budget,
            process: std::process::id(),
        };
        let (funds, clock, path) = (&models.funds, models.clock, &args.store.store);
        let run = match &args.resume {
            Some(wanted) => {
                let (store, run) = stored_runs::find_unfinished_run(path, wanted.as_deref())?;
                ConfigRun::resume(LockedRun::lock(store, &run)?, &plan, funds, clock)?
            }
            None if args.no_store => ConfigRun::in_memory(&plan, funds, clock)?,
            None => ConfigRun::begin(path, &plan, funds, clock)?,
        };
        Ok(Self { run: Some(run), is_kept: !args.no_store, unfinished: 0, left })
    }

    pub(super) fn add(&mut self, row: &TestRow) {
        self.left = self.left.saturating_sub(1);
        if let Some(run) = &mut self.run {
            let StoredRow { trial, transcript, scores, wall_us } = row.to_stored();
            self.unfinished += usize::from(!transcript.ending.is_scorable());
            run.add(ConfigTrial { trial, transcript, scores, wall_us });
        }
    }

    /// Completes the run, and returns lines on what is left to do.
    pub(super) fn finish(self, args: &PromptfooArgs) -> Vec<String> {
        let left = self.left + self.unfinished;
        let Some(run) = self.run else {
            return if self.left > 0 { vec!["the run asks no model and was not stored: start it again".to_owned()] } else { vec![] };
        };
        let id = run.short_id().to_owned();
        let stored = run.finish();
        let mut lines = vec![];
        match (stored, self.is_kept) {
            (Err(why), _) => lines.push(format!("the run could not be stored: {why}")),
            (Ok(()), true) if left > 0 => {
                let config = shell_quoted(&args.config.display().to_string());
                let tests = model::count(left, "test");
                lines.push(format!(
                    "{tests} without a result; resume with: bardo-eval run {config} --resume {id}{}",
                    args.store.store_flag()
                ));
            }
            (Ok(()), true) => lines.push(format!("stored as run {id}")),
            (Ok(()), false) => {}
        }
        lines
    }
}

/// Returns a hash of everything that decides which calls are made, in which order.
fn cells_hash(cells: &[TestCell]) -> ContentHash {
    let parts = cells.iter().map(|cell| {
        let own = cell.test.provider.as_ref().map(|provider| json!([provider.id, provider.config]));
        json!([cell.test.json, *cell.vars, cell.provider.id, cell.provider.config, cell.prompt.raw, cell.repeat, own])
    });
    ContentHash::of_json(&parts.collect())
}
