"""A site on disk: bodies come in as they are, a tree to be read offline comes out."""

from ronda.store.mirror.saving import Mirror

__all__ = ["Mirror"]
