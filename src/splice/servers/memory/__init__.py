"""The reference server that remembers a knowledge graph in a file; `splice serve memory` starts it."""
