"""What scripts share: the files of the tree, what test programs report, what was clean before."""
