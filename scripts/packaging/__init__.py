"""What a release is made of, beside the images: Debian packages, tarballs, manual pages, image indexes, pinned manifests."""
