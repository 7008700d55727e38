//! Types of assertions: the value each needs, and what it reads.

use crate::text_enum::text_enum;

text_enum! {
    /// Type of an assertion, without `not-`.
    AssertionType {
        Contains "contains", Icontains "icontains", ContainsAny "contains-any", ContainsAll "contains-all",
        IcontainsAny "icontains-any", IcontainsAll "icontains-all", Equals "equals", StartsWith "starts-with", Regex "regex",
        IsJson "is-json", ContainsJson "contains-json", JsonPath "json_path", Levenshtein "levenshtein", Latency "latency", Cost "cost",
        WordCount "word-count", RougeN "rouge-n", Bleu "bleu", Gleu "gleu", IsXml "is-xml", ContainsXml "contains-xml",
        IsHtml "is-html", ContainsHtml "contains-html", IsRefusal "is-refusal", ToolCallF1 "tool-call-f1",
        ToolUsed "trajectory:tool-used", ToolSequence "trajectory:tool-sequence", ToolArguments "trajectory:tool-args-match",
        StepCount "trajectory:step-count", SpanCount "trace-span-count", SpanDuration "trace-span-duration", ErrorSpans "trace-error-spans",
        FinishReason "finish-reason", Perplexity "perplexity", PerplexityScore "perplexity-score", Guardrails "guardrails",
        SkillUsed "skill-used", ValidToolsCall "is-valid-openai-tools-call", Javascript "javascript",
    }
}

/// Shape of the value that an assertion needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AssertionShape {
    Text,
    TextList,
    AnyValue,
    Pattern,
    /// JSON Schema, or nothing.
    OptionalSchema,
    /// Path and one test of the value there, in keys of their own.
    PathTest,
    /// Only a threshold.
    Threshold,
    /// Nothing, or a threshold.
    OptionalThreshold,
    /// Texts that the text is compared with, or one text.
    References,
    /// Paths of elements, or nothing.
    Elements,
    ToolNames,
    Words,
    Steps,
    Spans,
    Skills,
    /// Source code of a function body.
    Source,
}

/// Source of what an assertion reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AssertionSubject {
    /// A text of the trial.
    Text,
    /// Response time and cost.
    Usage,
    /// Tool calls of the trial.
    Steps,
    /// Skills that the agent activated.
    Skills,
    /// Output and transcript, read by JavaScript. Its answer is evidence of the run.
    Script,
    /// Reply of a provider, with its metadata. Only configs of promptfoo have one.
    Reply,
}

impl AssertionType {
    pub(super) fn value_shape(self) -> AssertionShape {
        match self {
            AssertionType::Contains
            | AssertionType::Icontains
            | AssertionType::StartsWith
            | AssertionType::Levenshtein
            | AssertionType::RougeN
            | AssertionType::FinishReason => AssertionShape::Text,
            AssertionType::ContainsAny | AssertionType::ContainsAll | AssertionType::IcontainsAny | AssertionType::IcontainsAll => {
                AssertionShape::TextList
            }
            AssertionType::Equals => AssertionShape::AnyValue,
            AssertionType::Regex => AssertionShape::Pattern,
            AssertionType::IsJson | AssertionType::ContainsJson => AssertionShape::OptionalSchema,
            AssertionType::JsonPath => AssertionShape::PathTest,
            AssertionType::Latency | AssertionType::Cost => AssertionShape::Threshold,
            AssertionType::IsHtml
            | AssertionType::ContainsHtml
            | AssertionType::IsRefusal
            | AssertionType::Perplexity
            | AssertionType::PerplexityScore
            | AssertionType::Guardrails
            | AssertionType::ValidToolsCall => AssertionShape::OptionalThreshold,
            AssertionType::Bleu | AssertionType::Gleu => AssertionShape::References,
            AssertionType::IsXml | AssertionType::ContainsXml => AssertionShape::Elements,
            AssertionType::ToolCallF1 => AssertionShape::ToolNames,
            AssertionType::WordCount => AssertionShape::Words,
            AssertionType::ToolUsed | AssertionType::ToolSequence | AssertionType::ToolArguments | AssertionType::StepCount => {
                AssertionShape::Steps
            }
            AssertionType::SpanCount | AssertionType::SpanDuration | AssertionType::ErrorSpans => AssertionShape::Spans,
            AssertionType::SkillUsed => AssertionShape::Skills,
            AssertionType::Javascript => AssertionShape::Source,
        }
    }

    /// Returns whether it measures the trial and not one of its texts.
    pub fn measures_usage(self) -> bool {
        self.subject() == AssertionSubject::Usage
    }

    /// Returns whether a threshold decides it. On other types promptfoo ignores it, and a case may not state one.
    pub fn uses_threshold(self) -> bool {
        match self {
            AssertionType::Levenshtein
            | AssertionType::Latency
            | AssertionType::Cost
            | AssertionType::RougeN
            | AssertionType::Bleu
            | AssertionType::Gleu
            | AssertionType::ToolCallF1
            | AssertionType::Perplexity
            | AssertionType::PerplexityScore
            | AssertionType::Javascript => true,
            AssertionType::Contains
            | AssertionType::Icontains
            | AssertionType::ContainsAny
            | AssertionType::ContainsAll
            | AssertionType::IcontainsAny
            | AssertionType::IcontainsAll
            | AssertionType::Equals
            | AssertionType::StartsWith
            | AssertionType::Regex
            | AssertionType::IsJson
            | AssertionType::ContainsJson
            | AssertionType::JsonPath
            | AssertionType::WordCount
            | AssertionType::IsXml
            | AssertionType::ContainsXml
            | AssertionType::IsHtml
            | AssertionType::ContainsHtml
            | AssertionType::IsRefusal
            | AssertionType::ToolUsed
            | AssertionType::ToolSequence
            | AssertionType::ToolArguments
            | AssertionType::StepCount
            | AssertionType::SpanCount
            | AssertionType::SpanDuration
            | AssertionType::ErrorSpans
            | AssertionType::FinishReason
            | AssertionType::Guardrails
            | AssertionType::SkillUsed
            | AssertionType::ValidToolsCall => false,
        }
    }

    /// Returns the source of what it reads.
    pub fn subject(self) -> AssertionSubject {
        match self.value_shape() {
            AssertionShape::Threshold => AssertionSubject::Usage,
            AssertionShape::ToolNames | AssertionShape::Steps => AssertionSubject::Steps,
            AssertionShape::Skills => AssertionSubject::Skills,
            AssertionShape::Source => AssertionSubject::Script,
            AssertionShape::Spans => AssertionSubject::Reply,
            AssertionShape::OptionalThreshold
                if !matches!(self, AssertionType::IsHtml | AssertionType::ContainsHtml | AssertionType::IsRefusal) =>
            {
                AssertionSubject::Reply
            }
            AssertionShape::Text if self == AssertionType::FinishReason => AssertionSubject::Reply,
            AssertionShape::Text
            | AssertionShape::TextList
            | AssertionShape::AnyValue
            | AssertionShape::Pattern
            | AssertionShape::OptionalSchema
            | AssertionShape::PathTest
            | AssertionShape::OptionalThreshold
            | AssertionShape::References
            | AssertionShape::Elements
            | AssertionShape::Words => AssertionSubject::Text,
        }
    }
}
