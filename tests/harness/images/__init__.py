"""Container images: of busybox, and those that scripts/image makes."""
