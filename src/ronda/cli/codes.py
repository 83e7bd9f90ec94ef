"""The exit codes of the command line."""

BROKEN = 1  # something is broken
NOTHING = 1  # what was asked for is not there
UNUSABLE = 2  # an input, an option or an output cannot be used
INTERRUPTED = 130  # as shells have it for Ctrl-C
