"""Agreement of arguments, maximum matching, alignment: pure functions on calls, no I/O."""
