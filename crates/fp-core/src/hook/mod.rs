//! What a hook answers, decided from facts.
