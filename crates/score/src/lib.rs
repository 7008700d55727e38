//! What a transcript and a workspace mean: checks, scorers, metrics, gates.
