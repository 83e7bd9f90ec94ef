"""Carries a visit along its way: take, ask, judge, record."""
