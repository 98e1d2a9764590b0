"""install-packages with stand-ins for dpkg-query and apt-get; the machine's packages stay as they are."""

import os

import pytest
from small_tree import SCRIPTS, run

DPKG_QUERY = """#!/bin/sh
for package; do :; done
grep -qxF "$package" $STATE/installed && printf installed
"""
APT_GET = """#!/bin/sh
echo "$@" >>$STATE/apt-get.log
ls /usr/sbin/policy-rc.d >>$STATE/policy.log 2>&1
[ ! -e $STATE/broken ] || { echo "E: no such package"; exit 100; }
"""
# An empty /usr/sbin of its own, in which the installation may put what it likes.
IN_PRIVATE = "mount -t tmpfs tmpfs /usr/sbin && cp $STATE/policy-rc.d /usr/sbin 2>/dev/null; " \
             '"$@"; status=$?; ls /usr/sbin >$STATE/sbin-afterwards; exit $status'


class Machine:
    def __init__(self, folder):
        self.folder = folder
        self.stand_in("dpkg-query", DPKG_QUERY)
        self.stand_in("apt-get", APT_GET)
        self.have("")

    def stand_in(self, name, text):
        path = self.folder / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def have(self, packages):
        (self.folder / "installed").write_text("\n".join(packages.split()) + "\n")

    def install(self, *groups):
        env = {**os.environ, "STATE": str(self.folder), "PATH": f"{self.folder}/bin:{os.environ['PATH']}"}
        return run("unshare", "-m", "sh", "-c", IN_PRIVATE, "sh", SCRIPTS / "install-packages", *groups, env=env)

    def read(self, name):
        path = self.folder / name
        return path.read_text() if path.exists() else ""


@pytest.fixture
def machine(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("needs root: a mount namespace")
    return Machine(tmp_path)


def all_packages(machine):
    machine.install()
    return machine.read("apt-get.log").splitlines()[-1].split("--no-install-recommends ")[1]


def test_does_nothing_when_everything_is_there(machine):
    machine.have(all_packages(machine))
    (machine.folder / "apt-get.log").unlink()

    done = machine.install()

    assert (done.returncode, done.stdout) == (0, "")
    assert machine.read("apt-get.log") == ""


def test_installs_only_what_is_missing(machine):
    machine.have(all_packages(machine).replace("runc", ""))
    (machine.folder / "apt-get.log").unlink()

    done = machine.install()

    assert (done.returncode, done.stdout) == (0, "installing runc\n")
    assert machine.read("apt-get.log").splitlines() == ["update -q", "install -q -y --no-install-recommends runc"]


def test_installs_only_the_group_that_was_asked_for(machine):
    machine.install("lint")

    assert machine.read("apt-get.log").splitlines()[-1].endswith("--no-install-recommends clang-tidy-22")


def test_keeps_services_from_starting_and_takes_that_back(machine):
    machine.install("lint")

    assert machine.read("policy.log") == "/usr/sbin/policy-rc.d\n" * 2
    assert machine.read("sbin-afterwards") == ""


def test_takes_that_back_after_a_failure_too_and_shows_why(machine):
    (machine.folder / "broken").touch()

    done = machine.install("lint")

    assert done.returncode == 100
    assert "E: no such package" in done.stdout
    assert machine.read("sbin-afterwards") == ""


def test_leaves_the_machines_own_policy_alone(machine):
    (machine.folder / "policy-rc.d").write_text("#!/bin/sh\nexit 0\n")

    machine.install("lint")

    assert machine.read("sbin-afterwards") == "policy-rc.d\n"


def test_says_what_is_missing_when_it_is_not_root(machine):
    machine.stand_in("id", "#!/bin/sh\necho 1000\n")

    done = machine.install("lint")

    assert done.returncode == 1
    assert "only root can install them: clang-tidy-22" in done.stdout
    assert machine.read("apt-get.log") == ""


def test_knows_no_other_group(machine):
    done = machine.install("everything")

    assert done.returncode == 2
    assert "unknown group 'everything'" in done.stdout
