//! What a subject can touch: tools, peers, clock, MCP.
