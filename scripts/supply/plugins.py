"""The reference CNI plugins and flannel, static, with the licences of what is linked into them. Built once from the Go
modules that third_party/ pins and kept in $XDG_CACHE_HOME/mnet/plugins (gobuild.py says how)."""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from lib import tree
from supply import gobuild

REPOSITORY = "github.com/containernetworking/plugins"
# A licence by a phrase of its text. A text without any of them fails the build: a person has to read it.
LICENCES = {
    "Apache License": "Apache-2.0",
    "Mozilla Public License": "MPL-2.0",
    "Permission is hereby granted, free of charge": "MIT",
    "either the name of": "BSD-3-Clause",
    "Redistribution and use in source and binary forms": "BSD-2-Clause",
}


@dataclass(frozen=True)
class Linked:
    """A Go module that is in the plugins, or Go's own library; `texts` are its licence files by name."""

    name: str
    version: str
    licence: str
    texts: dict


class Plugins(gobuild.Module):
    """Programs named in the blank imports of tools.go."""

    def __init__(self, folder):
        super().__init__(tree.ROOT / "third_party" / folder, REPOSITORY, gobuild.CACHE / "plugins")
        packages = re.findall(r'_ "(\S+)"', (self.folder / "tools.go").read_text())
        self.packages = {path.rpartition("/")[2]: path for path in packages}

    def package(self, name):
        return self.packages[name]

    def linked(self):
        """What is in the programs. Looked up once: the sources may be gone when the programs are still kept."""
        kept = self.home() / "licences.json"
        if not kept.exists():
            kept.write_text(json.dumps([vars(one) for one in self._look_up()]))
        return [Linked(**one) for one in json.loads(kept.read_text())]

    def _look_up(self):
        go = gobuild.find_go(self.go)

        def ask(*words):
            return subprocess.run([go, *words], cwd=self.folder, env=gobuild.environment(), check=True,
                                  capture_output=True, text=True).stdout
        form = "{{with .Module}}{{.Path}} {{.Version}} {{.Dir}}{{end}}"
        modules = set(ask("list", "-deps", "-f", form, *self.packages.values()).splitlines()) - {""}
        yield linked("go", ask("env", "GOVERSION").strip().removeprefix("go"), ask("env", "GOROOT").strip())
        for name, version, folder in sorted(line.split(" ", 2) for line in modules):
            yield linked(name, version, folder)


def linked(name, version, folder):
    texts = {path.name: path.read_text() for path in sorted(Path(folder).iterdir())
             if re.match(r"LICEN[CS]E|COPYING|NOTICE|COPYRIGHT", path.name, re.I)}
    found = {licence_of(text) for text in texts.values()} - {None}
    if not found:
        raise LookupError(f"{name} {version}: no licence that scripts/supply/plugins.py knows in {sorted(texts)}")
    return Linked(name, version, " AND ".join(sorted(found)), texts)


def licence_of(text):
    return next((licence for phrase, licence in LICENCES.items() if phrase in text), None)


MODULES = [Plugins("plugins"), Plugins("flannel")]


def programs(arch="amd64"):
    """Paths by name, built where they were not yet."""
    for module in MODULES:
        module.goarch = arch
    return {name: module.provide(name) for module in MODULES for name in module.packages}


def versions():
    """By name, of the programs."""
    return {name: module.version.removeprefix("v") for module in MODULES for name in module.packages}


def everything_linked():
    """Each module and version once; programs() must have been asked before."""
    found = {(one.name, one.version): one for module in MODULES for one in module.linked()}
    return [found[key] for key in sorted(found)]
