//! What is worth running: planning, selection and the way from a plan to a record.
