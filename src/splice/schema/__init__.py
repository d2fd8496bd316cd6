"""Python types as JSON Schema, and back. Knows no protocol."""
