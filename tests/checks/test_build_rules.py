"""The rules of cmake/: links held to the layers."""

from small_tree import ROOT, run

PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(small VERSION 0.1 LANGUAGES C CXX)
list(APPEND CMAKE_MODULE_PATH ${CMAKE_SOURCE_DIR}/cmake)
include(compiler)
include(layers)
include(mnet)
include(check_links)
enable_testing()
add_subdirectory(src/base)
add_subdirectory(src/json)
mnet_check_links()
"""


def small_project(tree, base="", json="DEPS base", after=""):
    tree.copy("cmake/compiler.cmake", "cmake/layers.cmake", "cmake/mnet.cmake", "cmake/check_links.cmake",
              "tests/test_main.cc")
    tree.write("CMakeLists.txt", PROJECT)
    tree.write("src/base/CMakeLists.txt", f"mnet_library(base SOURCES base.cc {base})\n{after}\n")
    tree.write("src/base/base.cc", "int base_of_all() { return 0; }\n")
    tree.write("src/json/CMakeLists.txt", f"mnet_library(json SOURCES json.cc {json})\n")
    tree.write("src/json/json.cc", "int json_of_all() { return 0; }\n")
    return run("cmake", "-S", tree.path, "-B", tree.path / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
               "-DCMAKE_C_COMPILER=clang-19", "-DCMAKE_CXX_COMPILER=clang++-19")


def test_a_library_may_link_what_the_table_names(tree):
    done = small_project(tree)

    assert done.returncode == 0, done.stdout


def test_a_dependency_upwards_is_refused(tree):
    done = small_project(tree, base="DEPS json")

    assert done.returncode != 0
    assert "base may not use json" in done.stdout


def test_a_link_past_the_helper_is_refused_too(tree):
    done = small_project(tree, json="", after="target_link_libraries(mnet_base PRIVATE mnet::json)")

    assert done.returncode != 0
    assert "mnet_base links json" in done.stdout


def test_a_source_that_no_list_names_is_refused(tree):
    tree.write("src/json/forgotten_test.cc", "int forgotten() { return 0; }\n")

    done = small_project(tree)

    assert done.returncode != 0
    assert "json/forgotten_test.cc is not built" in done.stdout


def test_an_old_gcc_is_refused_with_the_reason(tree):
    tree.write("CMakeLists.txt", f"""
cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES NONE)
set(CMAKE_CXX_COMPILER_ID GNU)
set(CMAKE_CXX_COMPILER_VERSION 12.2.0)
include({ROOT}/cmake/compiler.cmake)
""")

    done = run("cmake", "-S", tree.path, "-B", tree.path / "build")

    assert done.returncode != 0
    assert "miscompiles co_await" in " ".join(done.stdout.split())
