import shutil
import subprocess

import pytest
from small_tree import SCRIPTS, run

SOURCE = """
#include <cstdio>
#include <cstring>
#include <vector>
#ifndef TEXT
#define TEXT ""
#endif
int main(int argc, char** argv) {
  std::puts(TEXT);
  char text[64];
  std::vector<int> sizes(3);
  std::strcpy(text, argv[0]);
  std::puts(text);
  return sizes[argc];
}
"""
COMPILE = ["-O2", "-g1", "-fPIE", "-fstack-protector-strong", "-D_GLIBCXX_ASSERTIONS=1"]
LINK = ["-fuse-ld=lld", "-pie", "-Wl,--build-id=sha1", "-Wl,-z,relro,-z,now,-z,noexecstack"]


class Program:
    def __init__(self, folder):
        self.bin = folder / "bin"
        self.path = self.bin / "probe"
        self.debug = self.bin / ".debug" / "probe.debug"

    def make(self, compile=COMPILE, link=LINK, strip=True):
        self.debug.parent.mkdir(parents=True)
        subprocess.run(["clang++-19", "-x", "c++", "-", *compile, *link, "-o", self.path], input=SOURCE, text=True,
                       check=True)
        subprocess.run(["objcopy", "--only-keep-debug", self.path, self.debug], check=True)
        if strip:
            subprocess.run(["objcopy", "--strip-all", f"--add-gnu-debuglink={self.debug}", self.path], check=True)
        return self

    def check(self, *options):
        return run(SCRIPTS / "checks" / "elf", self.bin, *options)


@pytest.fixture
def program(tmp_path):
    return Program(tmp_path)


def without(flags, dropped, *added):
    return [flag for flag in flags if flag != dropped] + list(added)


def test_accepts_a_hardened_program(program):
    done = program.make().check()

    assert done.returncode == 0, done.stdout


def test_accepts_a_static_program_within_its_budget(program):
    done = program.make(link=without(LINK, "-pie", "-static-pie")).check("--static=probe", "--budget=probe=3000000")

    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("how, complaint", [
    ({"compile": without(COMPILE, "-fPIE", "-fno-pie"), "link": without(LINK, "-pie", "-no-pie")},
     "is not position independent"),
    ({"compile": without(COMPILE, "-fstack-protector-strong", "-fno-stack-protector")}, "without stack protector"),
    ({"compile": without(COMPILE, "-D_GLIBCXX_ASSERTIONS=1")}, "without _GLIBCXX_ASSERTIONS"),
    ({"compile": without(COMPILE, "-g1")}, "debug file without debug information"),
    ({"link": [*LINK, "-Wl,-z,norelro"]}, "has no RELRO segment"),
    ({"link": [*LINK, "-Wl,-z,lazy"]}, "binds lazily"),
    ({"link": [*LINK, "-Wl,-z,execstack"]}, "executable stack"),
    ({"link": [*LINK, "-Wl,-rpath,/somewhere"]}, "looks for libraries"),
    ({"link": [*LINK, "-Wl,--build-id=none"]}, "has build-id None"),
    ({"compile": [*COMPILE, '-DTEXT="scratch-before-write"']}, "contains the fail point scratch-before-write"),
    ({"strip": False}, "is not stripped"),
    ({"strip": False}, "names no debug file"),
])
def test_refuses_a_program_that_lacks_something(program, how, complaint):
    done = program.make(**how).check()

    assert done.returncode == 1
    assert complaint in done.stdout


def test_refuses_a_dynamic_program_where_a_static_one_is_due(program):
    done = program.make().check("--static=probe")

    assert done.returncode == 1
    assert "probe is not static" in done.stdout


def test_refuses_a_program_over_its_budget(program):
    done = program.make().check("--budget=probe=100")

    assert done.returncode == 1
    assert "its budget is 100" in done.stdout


def test_refuses_the_debug_file_of_another_build(program, tmp_path):
    program.make()
    other = Program(tmp_path / "other").make(compile=without(COMPILE, "-O2", "-O0"))
    shutil.copy(other.debug, program.debug)

    done = program.check()

    assert done.returncode == 1
    assert "its debug file" in done.stdout


def test_refuses_a_folder_without_programs(program):
    program.bin.mkdir()

    done = program.check()

    assert done.returncode == 1
    assert "no program" in done.stdout
