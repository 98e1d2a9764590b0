"""thin_entrypoint as a process of a host, with a service account as the kubelet mounts one."""

import json
import os
import re
import shutil
import signal

from harness.machine.host import PROGRAMS
from harness.machine.wait import until

ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
CONF_DIR = "/etc/cni/net.d"
KUBECONFIG = f"{CONF_DIR}/multus.d/multus.kubeconfig"
PEM = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
ENVIRONMENT = {"KUBERNETES_SERVICE_HOST": "10.96.0.1", "KUBERNETES_SERVICE_PORT": "443"}


class ServiceAccount:
    """A projected volume: files are links into `..data`, which is swapped as a whole."""

    def __init__(self, host, token="first", ca=PEM):
        self.folder = host.path(ACCOUNT)
        self.versions = 0
        self.place(token, ca)

    def place(self, token, ca=PEM):
        """None leaves a file out."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.versions += 1
        version = f"..version{self.versions}"
        old = os.readlink(self.folder / "..data") if (self.folder / "..data").is_symlink() else None
        (self.folder / version).mkdir()
        for name, content in (("token", token), ("ca.crt", ca)):
            if content is not None:
                (self.folder / version / name).write_text(content)
            if not (self.folder / name).is_symlink():
                (self.folder / name).symlink_to(f"..data/{name}")
        (self.folder / "..data_tmp").symlink_to(version)
        (self.folder / "..data_tmp").rename(self.folder / "..data")
        if old:
            shutil.rmtree(self.folder / old)

    def empty(self):
        for entry in self.folder.iterdir():
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()

    def remove(self):
        shutil.rmtree(self.folder)

    def cut_data(self):
        """As a careless writer leaves it between two versions: links that lead nowhere."""
        (self.folder / "..data").unlink()


class ThinEntrypoint:
    def __init__(self, host, *flags, env=None, command=None, name="thin"):
        """`command`: the program and the flags that are always there."""
        self.host = host
        self.out, self.err = host.path(f"/srv/{name}.out"), host.path(f"/srv/{name}.err")
        self.out.parent.mkdir(exist_ok=True)
        argv = words(*flags) if command is None else [*command, *flags]
        with open(self.out, "wb") as out, open(self.err, "wb") as err:
            self.process = host.spawn(*argv, env={**ENVIRONMENT, **(env or {})}, stdout=out, stderr=err)

    @property
    def is_installed(self):
        return bool(re.search(r"multus config file .*is (created|copied)\.", self.out.read_text()))

    def wait_installed(self):
        def installed():
            assert self.process.running, f"ended with {self.process.wait()}: {self.err.read_text()}"
            return self.is_installed
        until(installed, lambda: f"installed; stderr: {self.err.read_text()}")
        return self

    def wait_complaint(self, pattern, count=1):
        until(lambda: len(re.findall(pattern, self.err.read_text())) >= count,
              lambda: f"{pattern!r} in {self.err.read_text()!r}")

    def stop(self, how=signal.SIGTERM, **patience):
        self.process.signal(how)
        return self.process.wait(**patience)


def words(*flags):
    """The program and the flags that fit our hosts; further flags of the same name win."""
    return [f"{PROGRAMS}/thin_entrypoint", "--cni-bin-dir=/opt/cni/bin", f"--cni-conf-dir={CONF_DIR}",
            f"--multus-autoconfig-dir={CONF_DIR}", "--multus-cni-conf-dir=/etc/cni/multus/net.d",
            f"--multus-bin-file={PROGRAMS}/multus", *flags]


def run(host, *flags, env=None):
    """For calls that end by themselves."""
    return host.run(*words(*flags), env={**ENVIRONMENT, **(env or {})}, check=False)


def generated(host):
    """The generated configuration as a plugin gets it on stdin, and the name of its file."""
    found = _generated(host)
    assert found, host.files_below(CONF_DIR)
    return found


def _generated(host):
    """None while there is not exactly one: a list takes the place of a single plugin in two steps."""
    found = [path for path in host.path(CONF_DIR).iterdir() if path.name.startswith("00-multus.conf")]
    try:
        conf = json.loads(found[0].read_text()) if len(found) == 1 else None
    except FileNotFoundError:
        return None
    if conf is None:
        return None
    if "plugins" in conf:
        (plugin,) = conf.pop("plugins")
        conf = {**conf, **plugin}
    return conf, found[0].name


def wait_generated(host, is_right):
    """Until is_right(configuration, name of its file)."""
    def fits():
        found = _generated(host)
        return found and is_right(*found)
    until(fits, "generated anew")


def token_in(host):
    """The token of the kubeconfig, which must be whole; None if there is no file."""
    try:
        text = host.path(KUBECONFIG).read_text()
    except FileNotFoundError:
        return None
    assert text.endswith("current-context: multus-context\n"), text
    return re.search(r'^    token: "(.*)"$', text, re.MULTILINE).group(1)
