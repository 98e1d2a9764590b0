"""What scripts share: the files of the tree, and what test programs report."""
