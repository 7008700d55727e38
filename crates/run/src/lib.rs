//! What happens in a trial: driver and subjects.
