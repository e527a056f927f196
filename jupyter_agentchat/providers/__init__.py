"""One folder per agent; none imports another. `base` is the seam, `registry` finds them."""
