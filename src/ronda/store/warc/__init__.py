"""A web archive: requests and their answers come in, a file of WARC/1.1 comes out."""

from ronda.store.warc.file import WarcFile

__all__ = ["WarcFile"]
