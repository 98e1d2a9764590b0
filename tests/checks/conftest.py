"""Tests of the checks. A check that cannot fail is useless: each is run on trees that it must refuse."""

import importlib.util
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from small_tree import SCRIPTS, Tree  # noqa: E402

sys.path.insert(0, str(SCRIPTS))


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path)


@pytest.fixture
def load():
    """Loads a script, named as below scripts/, as a module."""
    def load(name):
        loader = SourceFileLoader(Path(name).name.replace("-", "_"), str(SCRIPTS / name))
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
        sys.modules[loader.name] = module
        loader.exec_module(module)
        return module
    return load
