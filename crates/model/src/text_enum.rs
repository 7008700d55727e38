//! Declares a closed set of words as an enum whose variants know their YAML text.

/// Declares an enum from `Variant "text"` pairs, with `ALL`, `word` and `parse`.
macro_rules! text_enum {
    ($(#[$doc:meta])* $name:ident { $($variant:ident $word:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($variant),* }

        impl $name {
            /// Every value with its text, in the order of declaration.
            pub const ALL: &'static [(&'static str, $name)] = &[$(($word, $name::$variant)),*];

            /// Returns the text that files use for this value.
            pub fn word(self) -> &'static str {
                match self { $($name::$variant => $word),* }
            }

            /// Returns the value that is written as `text`.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($word => Some($name::$variant),)* _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.word())
            }
        }
    };
}

pub(crate) use text_enum;
