"""`ronda audit`: logs come in, a judgement of their politeness goes out."""
