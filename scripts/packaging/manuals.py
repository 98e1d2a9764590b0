"""Manual pages, from what the programs themselves print for --help."""

import gzip
import subprocess
from datetime import datetime, timezone

# Section and what each is, in a line.
PAGES = {
    "multus-daemon": (8, "gives containers several network interfaces: the daemon of a node"),
    "multus-shim": (8, "CNI plugin that hands its calls to multus-daemon"),
    "multus": (8, "CNI plugin that attaches several networks without a daemon"),
    "passthru": (8, "CNI plugin that does nothing, for chains that need a first member"),
    "multusctl": (1, "sees, explains, lints and checks Multus"),
    "cni-node": (8, "puts CNI plugins, configurations and objects on a node"),
    "kube-watch": (8, "runs a program when a Kubernetes object or a file changes"),
}
PLUGINS = {"multus-shim", "multus", "passthru"}
ABOUT_PLUGINS = """A container runtime starts this program as the CNI specification says: the command in the environment (CNI_COMMAND),
the configuration on standard input, the result on standard output."""


def escaped(text):
    lines = text.replace("\\", "\\e").replace("-", "\\-").splitlines()
    return "\n".join("\\&" + line if line.startswith((".", "'")) else line for line in lines)


def help_of(program):
    """Go's programs print it to standard error, and so do ours that stand for them."""
    done = subprocess.run([program, "--help"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return (done.stdout or done.stderr).replace(str(program), program.name)


def page(program, version, date):
    """The bytes of the compressed page of a program that runs here."""
    name = program.name
    section, about = PAGES[name]
    if name == "multusctl":
        text = subprocess.run([program, "man"], check=True, capture_output=True, text=True).stdout
    else:
        day = datetime.fromtimestamp(date, timezone.utc).strftime("%Y-%m-%d")
        body = [f'.TH {name.upper()} {section} "{day}" "multus-cpp {version}"', ".SH NAME", f"{escaped(name)} \\- {escaped(about)}"]
        if name in PLUGINS:
            body += [".SH DESCRIPTION", escaped(ABOUT_PLUGINS)]
        body += [".SH USAGE", ".nf", escaped(help_of(program)), ".fi", ".SH SEE ALSO",
                 "docs/reference.md in the source has every key, flag and variable."]
        text = "\n".join(body) + "\n"
    return gzip.compress(text.encode(), 9, mtime=0)


def path_of(name):
    section, _ = PAGES[name]
    return f"/usr/share/man/man{section}/{name}.{section}.gz"
