"""Models: a provider is one method, `stream`, and says what a model says as events."""
