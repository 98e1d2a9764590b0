"""What images are made of: layers, packages and licences, the bill of materials."""
