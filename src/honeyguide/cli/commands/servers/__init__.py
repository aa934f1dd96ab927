"""Commands that serve other programs until they are stopped."""
