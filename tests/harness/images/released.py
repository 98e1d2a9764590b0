"""What scripts/release makes of the programs under test: the multus image as it is published, and the manifests that pin it."""

import importlib.util
import sys
from importlib.machinery import SourceFileLoader

from harness.cluster.control_plane import ROOT

SCRIPTS = ROOT / "scripts"


def script():
    """scripts/release as a module."""
    sys.path.insert(0, str(SCRIPTS))
    loader = SourceFileLoader("release", str(SCRIPTS / "release"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def make(programs, out):
    """In the folder `out`, for this machine alone."""
    release = script()
    release.BUILDS, release.IMAGES = {"amd64": programs.parent}, ["multus"]
    made = release.Release(["amd64"], "localhost/multus", out)
    made.write_images()
    made.write_manifests()
