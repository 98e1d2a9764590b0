"""Programs of others that are built once from Go modules and kept outside the tree."""
