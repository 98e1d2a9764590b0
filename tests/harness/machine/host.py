"""A "host" for one test, made of namespaces.

Its links, firewall, processes and folders are its own: the machine's are never touched, and all of it
is gone when the host is closed, or when the test program dies. Paths below are paths inside the host
unless a name says otherwise.
"""

import concurrent.futures
import contextlib
import ctypes
import json
import os
import subprocess
from pathlib import Path

from harness.machine.wait import PATIENCE, until

REFERENCE_PLUGINS = Path("/usr/lib/cni")
PLUGIN_DIR = "/opt/cni/bin"
PROGRAMS = "/run/programs"
TOOLS = "/run/tools"  # what only tests and benchmarks use


def children_of(pid):
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def in_network_of(pid, function):
    """What function() yields in the network namespace of that process."""
    return in_network(f"/proc/{pid}/ns/net", function)


def in_network(path, function):
    """What function() yields in the network namespace that a file stands for."""
    def enter():
        libc = ctypes.CDLL(None, use_errno=True)
        with open(path, encoding="ascii") as namespace:
            assert libc.setns(namespace.fileno(), 0) == 0, os.strerror(ctypes.get_errno())
        return function()
    with concurrent.futures.ThreadPoolExecutor(1) as thread:  # stays in that namespace, and ends
        return thread.submit(enter).result()


class Process:
    """A program that runs inside a host. `pid` is the machine's view of it."""

    def __init__(self, popen, what):
        self._popen = popen  # nsenter, which waits for the program and ends the same way
        self.what = what
        found = until(lambda: children_of(popen.pid) or popen.poll() is not None, f"start of {what}")
        self.pid = found[0] if isinstance(found, list) else None

    def signal(self, number):
        if self.pid is not None and self._popen.poll() is None:
            with contextlib.suppress(ProcessLookupError):  # it may end at this very moment
                os.kill(self.pid, number)

    @property
    def running(self):
        return self._popen.poll() is None

    def wait(self, timeout=PATIENCE):
        """The exit status, negative for a signal."""
        try:
            return self._popen.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.what} still runs after {timeout:g} s") from None

    @property
    def stdin(self):
        return self._popen.stdin

    @property
    def stdout(self):
        return self._popen.stdout

    def descriptors(self):
        """What each open descriptor is, for example 'socket', 'anon_inode:[eventpoll]' or a path."""
        found = {}
        folder = f"/proc/{self.pid}/fd"
        for fd in os.listdir(folder):
            try:
                found[int(fd)] = os.readlink(f"{folder}/{fd}").split(":[")[0]
            except FileNotFoundError:
                pass  # closed while we looked
        return found


class Pod:
    """A network namespace of the host, as a container runtime makes one."""

    def __init__(self, host, name):
        self.host = host
        self.name = name
        self.netns = f"/var/run/netns/{name}"

    def ip(self, *words):
        """What `ip` says of this namespace, read as JSON."""
        out = self.host.run("ip", "-j", "-n", self.name, *words).stdout
        return json.loads(out) if out.strip() else []

    def links(self):
        return {link["ifname"] for link in self.ip("link") if link["ifname"] != "lo"}

    def addresses(self, ifname, family="inet"):
        """Addresses with prefix length, link-local ones left out."""
        return [
            f"{info['local']}/{info['prefixlen']}"
            for link in self.ip("addr", "show", "dev", ifname)
            for info in link["addr_info"]
            if info["family"] == family and info["scope"] != "link"
        ]

    def routes(self, *words):
        return self.ip("route", *words)

    def defaults(self, family=4):
        """Interface and gateway of each next hop of the main table's default routes; None for one without a gateway."""
        routes = self.ip(f"-{family}", "route", "show", "default")
        ways = [way for route in routes for way in route.get("nexthops", [route])]
        return [(way["dev"], way.get("gateway")) for way in ways]

    def mac(self, ifname):
        return self.ip("link", "show", "dev", ifname)[0]["address"]

    def run(self, *argv, **options):
        return self.host.run("ip", "netns", "exec", self.name, *argv, **options)

    def remove(self):
        self.host.run("ip", "netns", "del", self.name)
        self.host.pods.remove(self)


class Host:
    def __init__(self, programs, with_cgroups=False, disk=None, shared=()):
        """`disk`: a folder of the machine that keeps what a host keeps over a reboot; `shared`: folders of the machine
        that the host sees at the same place. A host without a disk keeps nothing."""
        self.programs = Path(programs)
        self.pods = []
        self._init = subprocess.Popen(
            ["unshare", "--net", "--mount", "--pid", "--ipc", "--fork", "--kill-child=KILL",
             "bash", str(Path(__file__).with_name("host.sh")), str(programs),
             "cgroups" if with_cgroups else "", str(disk or ""), *map(str, shared)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="/")
        if self._init.stdout.readline() != "ready\n":
            raise RuntimeError("no host: are we root, with veth, overlay and namespaces?")
        (self.pid,) = children_of(self._init.pid)
        if disk is None:
            self._install_plugins()

    def _install_plugins(self):
        folder = self.path(PLUGIN_DIR)
        folder.mkdir(parents=True)
        up = "../" * PLUGIN_DIR.count("/")  # relative links stay inside, seen from here, too
        for plugin in REFERENCE_PLUGINS.iterdir():
            (folder / plugin.name).symlink_to(f"{up}{str(plugin)[1:]}")
        (folder / "multus-shim").symlink_to(f"{up}{PROGRAMS[1:]}/multus-shim")
        for made in ("/etc/cni/net.d", "/var/lib/cni", "/run/netns"):
            self.path(made).mkdir(parents=True)

    def close(self):
        """Ends every process of the host; with the last one its namespaces go."""
        self._init.stdin.close()
        self._init.wait(PATIENCE)
        self._init.stdout.close()

    def path(self, inside):
        """Where the test program finds a path of the host. An absolute link on the way would lead back to
        the machine; the one that Debian has is resolved here."""
        assert inside.startswith("/"), inside
        if inside.startswith("/var/run/"):
            inside = inside[len("/var"):]
        return Path(f"/proc/{self.pid}/root{inside}")

    def write(self, inside, content, mode=None):
        """Writes text, bytes, or anything else as JSON; makes the folders above it."""
        if not isinstance(content, (str, bytes)):
            content = json.dumps(content)
        path = self.path(inside)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._assert_inside(inside)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        if mode is not None:
            path.chmod(mode)
        return inside

    def _assert_inside(self, inside):
        """No absolute link on the way: we would follow it to the machine's own files, and write there."""
        way = Path(inside)
        for step in [way, *way.parents]:
            place = self.path(str(step))
            if step != Path("/") and place.is_symlink():
                assert not os.readlink(place).startswith("/"), f"{step} leads out of the host"

    def _enter(self, argv):
        return ["/usr/bin/nsenter", f"--target={self.pid}", "--net", "--mount", "--pid", "--ipc", "--",
                *map(str, argv)]

    @staticmethod
    def _environment(env):
        """Only PATH is inherited; None leaves a variable out."""
        env = {"PATH": os.environ["PATH"], **(env or {})}
        return {name: value for name, value in env.items() if value is not None}

    def spawn(self, *argv, env=None, **options):
        options.setdefault("stdin", subprocess.DEVNULL)
        return Process(subprocess.Popen(self._enter(argv), env=self._environment(env), cwd="/", **options),
                       argv[0])

    def run(self, *argv, env=None, check=True, timeout=2 * PATIENCE, **options):
        if "input" not in options:
            options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("text", True)
        done = subprocess.run(self._enter(argv), env=self._environment(env), cwd="/", capture_output=True,
                              timeout=timeout, check=False, **options)
        if check and done.returncode != 0:
            raise AssertionError(f"{' '.join(map(str, argv))}: exit {done.returncode}\n"
                                 f"{done.stdout}{done.stderr}")
        return done

    def add_pod(self, name=None, make=Pod):
        pod = make(self, name or f"pod{len(self.pods)}")
        self.run("ip", "netns", "add", pod.name)
        self.pods.append(pod)
        return pod

    def add_bridge(self, name, address=None):
        """A bridge of the node itself, for example as master of macvlan interfaces."""
        self.run("ip", "link", "add", name, "type", "bridge")
        self.run("ip", "link", "set", name, "up")
        if address:
            self.run("ip", "addr", "add", address, "dev", name)

    def links(self):
        """Name and kind ('veth', 'bridge', ...) of every link but lo."""
        out = json.loads(self.run("ip", "-j", "-d", "link").stdout)
        return {link["ifname"]: link.get("linkinfo", {}).get("info_kind", "")
                for link in out if link["ifname"] != "lo"}

    def files_below(self, inside):
        """Regular files, sockets and links below a folder, as paths relative to it."""
        top, found = self.path(inside), []
        for folder, folders, files in os.walk(top):  # does not mind what vanishes while we look
            links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
            found += [os.path.relpath(os.path.join(folder, name), top) for name in files + links]
        return sorted(found)

    def processes(self):
        """Command lines of all processes but the first, by the machine's process id."""
        found = {}
        space = os.readlink(f"/proc/{self.pid}/ns/pid")
        for entry in os.listdir("/proc"):
            if not entry.isdigit() or int(entry) == self.pid:
                continue
            try:
                if os.readlink(f"/proc/{entry}/ns/pid") == space:
                    line = Path(f"/proc/{entry}/cmdline").read_bytes()
                    found[int(entry)] = line.replace(b"\0", b" ").decode(errors="replace").strip()
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                pass  # ended while we looked
        return found

    def mounts(self):
        lines = Path(f"/proc/{self.pid}/mountinfo").read_text().splitlines()
        return {line.split()[4] for line in lines}
