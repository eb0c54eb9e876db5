"""The embedded user agent: plays a profile without a model."""
