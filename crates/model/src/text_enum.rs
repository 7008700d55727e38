//! Macro for enums whose variants have a text in YAML files.

/// Declares an enum from `Variant "text"` pairs, with `ALL`, `word` and `parse`.
macro_rules! text_enum {
    ($(#[$doc:meta])* $name:ident { $($variant:ident $word:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($variant),* }

        impl $name {
            /// All values with their text, in order of declaration.
            pub const ALL: &'static [(&'static str, $name)] = &[$(($word, $name::$variant)),*];

            /// Returns the text that files use for this value.
            pub fn word(self) -> &'static str {
                match self { $($name::$variant => $word),* }
            }

            /// Returns the value with this text.
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
