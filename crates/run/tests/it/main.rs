//! Integration tests of trials: the driver, the providers and the baseline.

extern crate bardo_eval_run as run;

mod baseline;
mod providers;
mod trial;
