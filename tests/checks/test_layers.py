import pytest


@pytest.fixture
def layered(tree):
    tree.write("cmake/layers.cmake", """
set(MNET_LAYERS base json sys http)
set(MNET_MAY_USE_base "")
set(MNET_MAY_USE_json base)
set(MNET_MAY_USE_sys base)
set(MNET_MAY_USE_http ${MNET_MAY_USE_sys} sys)
""")
    for folder in ("base", "json", "sys", "http"):
        tree.write(f"src/{folder}/{folder}.h", "#pragma once\n")
    return tree


@pytest.mark.parametrize("file, included", [
    ("src/http/http.cc", "base/base.h"),
    ("src/http/http.cc", "sys/sys.h"),
    ("src/http/http.cc", "http/http.h"),
    ("src/sys/file_test.cc", "json/json.h"),
    ("src/sys/file_test.cc", "tests/test_dir.h"),
])
def test_accepts_what_the_table_allows(layered, file, included):
    layered.write(file, f'#include "{included}"\n')

    done = layered.check("checks/layers")

    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("file, included, complaint", [
    ("src/base/text.cc", "http/http.h", "points upwards: http is built on base"),
    ("src/base/text_test.cc", "sys/sys.h", "points upwards: sys is built on base"),
    ("src/sys/file.cc", "json/json.h", "is not allowed: sys may use base"),
    ("src/sys/file.cc", "sys.h", "names no folder"),
    ("src/sys/file.cc", "tests/test_dir.h", "is not a layer"),
])
def test_refuses_an_include_that_the_table_does_not_allow(layered, file, included, complaint):
    layered.write(file, f'// a comment\n#  include "{included}"\n')

    done = layered.check("checks/layers")

    assert done.returncode == 1
    assert f'{file}:2: "{included}" {complaint}' in done.stdout


def test_refuses_a_table_that_points_upwards(layered):
    layered.write("cmake/layers.cmake", "set(MNET_LAYERS base json)\nset(MNET_MAY_USE_base json)\n")

    done = layered.check("checks/layers")

    assert done.returncode == 1
    assert "base may use json, which stands above it" in done.stdout


def test_refuses_a_folder_that_the_table_does_not_know(layered):
    layered.write("src/helpers/helpers.h", "#pragma once\n")

    done = layered.check("checks/layers")

    assert done.returncode == 1
    assert "src/helpers: not in cmake/layers.cmake" in done.stdout


def test_refuses_a_folder_of_more_than_sixty_files(layered):
    for number in range(59):
        layered.write(f"src/base/word{number}.h", "#pragma once\n")
    assert layered.check("checks/layers").returncode == 0
    layered.write("src/base/room/word.h", "#pragma once\n")
    assert layered.check("checks/layers").returncode == 0
    layered.write("src/base/one_more.h", "#pragma once\n")

    done = layered.check("checks/layers")

    assert done.returncode == 1
    assert "src/base: 61 files, more than 60" in done.stdout
