"""Files and folders of the person: `paths` is the only door to them."""
