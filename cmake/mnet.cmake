# mnet_library(<folder> SOURCES ... DEPS ... [LIBS ...] [TESTS ...] [NETNS_TESTS ...] [TEST_DEPS ...] [TEST_LIBS ...])
#   One folder of src/, one library mnet::<folder>, and <folder>_test from the tests beside the code. NETNS_TESTS make a
#   second program, <folder>_netns_test, which ctest runs in a network and mount namespace of its own (label netns).
#   A dependency that cmake/layers.cmake does not allow is an error, and so is a .cc that no list names.
# mnet_program(<name> SOURCES ... DEPS ... [LIBS ...] [STATIC | ALSO_STATIC])
#   One program in bin/. STATIC: it runs on the host and must run on any distribution. ALSO_STATIC: images and packages have
#   its libraries, and static/ has a second one for the tarball.
# mnet_tool(<name> SOURCES ... DEPS ... [LIBS ...])
#   A program that only tests and benchmarks use, in tools/.
# mnet_fuzz(<name> DEPS ... [SOURCES ...] [LIBS ...])
#   fuzz/<name>_fuzz from fuzz/<name>_fuzz.cc; its seeds lie in fuzz/corpus/<name>/.

find_package(GTest REQUIRED)
include(GoogleTest)

# Where there are fuzz targets, libraries tell them which branches an input takes; other programs take no notice
# (docs/decisions/0038-fuzz-targets-link-the-asan-libraries.md).
add_library(mnet_library_flags INTERFACE)
target_link_libraries(mnet_library_flags INTERFACE mnet_flags)
if(MNET_FUZZ AND MNET_SANITIZE)
  target_compile_options(mnet_library_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# With sanitizers, two thirds of the time that a test takes to compile go into optimizing what its macros expand to.
add_library(mnet_test_flags INTERFACE)
target_link_libraries(mnet_test_flags INTERFACE mnet_flags)
if(MNET_SANITIZE)
  target_compile_options(mnet_test_flags INTERFACE -O0)
endif()

# Precompiled headers are made once and shared: the standard library, the same with Asio, the same with GoogleTest.
function(_mnet_pch name flags)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${name}.cc CONTENT "// Carries the precompiled header ${name}.\n")
  add_library(${name} OBJECT ${CMAKE_BINARY_DIR}/${name}.cc)
  target_link_libraries(${name} PRIVATE ${flags} ${ARGN})
endfunction()
set(_std_headers <algorithm> <chrono> <cstdint> <expected> <filesystem> <functional> <map> <memory> <optional> <span>
  <string> <string_view> <utility> <variant> <vector>)
set(_asio_headers ${_std_headers} <boost/asio.hpp>)
_mnet_pch(mnet_pch_std mnet_library_flags)
target_precompile_headers(mnet_pch_std PRIVATE ${_std_headers})
_mnet_pch(mnet_pch_asio mnet_library_flags)
target_precompile_headers(mnet_pch_asio PRIVATE ${_asio_headers})
_mnet_pch(mnet_pch_test mnet_test_flags GTest::gmock)
target_precompile_headers(mnet_pch_test PRIVATE ${_asio_headers} <gmock/gmock.h> <gtest/gtest.h>)

add_library(mnet_test_main STATIC ${CMAKE_SOURCE_DIR}/tests/test_main.cc)
target_link_libraries(mnet_test_main PUBLIC GTest::gmock PRIVATE mnet_flags)
# The only file that is told where the tree lies: a path in every test's command line would cost every test its place
# in the compiler cache as soon as the clone lies elsewhere.
target_compile_definitions(mnet_test_main PRIVATE MNET_SOURCE_DIR="${CMAKE_SOURCE_DIR}")

# What `cmake --build --target <that>` builds: the programs users run, the test programs, the fuzz targets.
add_custom_target(programs)
add_custom_target(test_programs)
add_custom_target(fuzz_programs)

function(_mnet_test name)
  cmake_parse_arguments(arg "" "LABEL" "SOURCES;LIBS;RUNNER" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  add_dependencies(test_programs ${name})
  target_link_libraries(${name} PRIVATE ${arg_LIBS} mnet_test_main mnet_test_flags)
  target_precompile_headers(${name} REUSE_FROM mnet_pch_test)
  target_compile_definitions(${name} PRIVATE MNET_TEST_DATA="tests/data")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${arg_RUNNER} $<TARGET_FILE:${name}> --gtest_output=xml:${CMAKE_BINARY_DIR}/reports/)
  set_tests_properties(${name} PROPERTIES LABELS ${arg_LABEL} TIMEOUT 300)
endfunction()

function(mnet_library folder)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS;LIBS;TESTS;NETNS_TESTS;TEST_DEPS;TEST_LIBS" ${ARGN})
  foreach(dep IN LISTS arg_DEPS)
    if(NOT dep IN_LIST MNET_MAY_USE_${folder})
      message(FATAL_ERROR "${folder} may not use ${dep}: cmake/layers.cmake lists what it may (${MNET_MAY_USE_${folder}})")
    endif()
  endforeach()
  file(GLOB sources RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS *.cc)
  foreach(source IN LISTS sources)
    if(NOT source IN_LIST arg_SOURCES AND NOT source IN_LIST arg_TESTS AND NOT source IN_LIST arg_NETNS_TESTS)
      message(FATAL_ERROR "${folder}/${source} is not built: list it in ${folder}/CMakeLists.txt, or remove it")
    endif()
  endforeach()
  list(TRANSFORM arg_DEPS PREPEND mnet::)

  add_library(mnet_${folder} STATIC ${arg_SOURCES})
  add_library(mnet::${folder} ALIAS mnet_${folder})
  target_include_directories(mnet_${folder} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(mnet_${folder} PUBLIC ${arg_DEPS} ${arg_LIBS} PRIVATE mnet_library_flags)

  set(may_use ${MNET_MAY_USE_${folder}} ${folder})
  if("aio" IN_LIST may_use)
    target_precompile_headers(mnet_${folder} REUSE_FROM mnet_pch_asio)
  else()
    target_precompile_headers(mnet_${folder} REUSE_FROM mnet_pch_std)
  endif()

  list(TRANSFORM arg_TEST_DEPS PREPEND mnet::)
  set(test_libs mnet::${folder} ${arg_TEST_DEPS} ${arg_TEST_LIBS})
  if(arg_TESTS)
    _mnet_test(${folder}_test LABEL unit SOURCES ${arg_TESTS} LIBS ${test_libs})
  endif()
  if(arg_NETNS_TESTS)
    _mnet_test(${folder}_netns_test LABEL netns SOURCES ${arg_NETNS_TESTS} LIBS ${test_libs}
      RUNNER ${CMAKE_SOURCE_DIR}/scripts/launchers/in-netns)
  endif()
endfunction()

function(mnet_program name)
  cmake_parse_arguments(arg "STATIC;ALSO_STATIC" "" "SOURCES;DEPS;LIBS" ${ARGN})
  list(TRANSFORM arg_DEPS PREPEND mnet::)
  set(made ${name})
  if(MNET_STATIC AND arg_ALSO_STATIC)
    list(APPEND made ${name}-static)
  endif()
  foreach(target IN LISTS made)
    add_executable(${target} ${arg_SOURCES})
    add_dependencies(programs ${target})
    target_link_libraries(${target} PRIVATE ${arg_DEPS} ${arg_LIBS} mnet_flags)
    if(MNET_STATIC AND (arg_STATIC OR NOT target STREQUAL name))
      target_link_options(${target} PRIVATE -static-pie)
    else()
      # The library of C++ is inside all the same (0063).
      target_link_options(${target} PRIVATE -pie $<$<CONFIG:Release>:-static-libstdc++ -static-libgcc -Wl,-z,pack-relative-relocs>)
    endif()
    if(NOT target STREQUAL name)
      set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/static)
    endif()
    if(CMAKE_BUILD_TYPE STREQUAL "Release")
      _mnet_strip(${target} ${name})
    endif()
  endforeach()
endfunction()

# The symbols go to .debug/<name>.debug beside the program, where debuggers look; the build-id joins the two.
function(_mnet_strip target name)
  set(debug $<TARGET_FILE_DIR:${target}>/.debug)
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E make_directory ${debug}
    COMMAND ${CMAKE_OBJCOPY} --only-keep-debug $<TARGET_FILE:${target}> ${debug}/${name}.debug
    COMMAND ${CMAKE_OBJCOPY} --strip-all --remove-section=.comment --add-gnu-debuglink=${debug}/${name}.debug
            $<TARGET_FILE:${target}>
    VERBATIM)
endfunction()

function(mnet_tool name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS;LIBS" ${ARGN})
  list(TRANSFORM arg_DEPS PREPEND mnet::)
  add_executable(${name} ${arg_SOURCES})
  add_dependencies(test_programs ${name})
  target_link_libraries(${name} PRIVATE ${arg_DEPS} ${arg_LIBS} mnet_flags)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tools)
endfunction()

function(mnet_fuzz name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS;LIBS" ${ARGN})
  list(TRANSFORM arg_DEPS PREPEND mnet::)
  add_executable(${name}_fuzz ${name}_fuzz.cc ${arg_SOURCES})
  add_dependencies(fuzz_programs ${name}_fuzz)
  target_link_libraries(${name}_fuzz PRIVATE ${arg_DEPS} ${arg_LIBS} mnet_library_flags)
  target_link_options(${name}_fuzz PRIVATE -fsanitize=fuzzer)
  set_target_properties(${name}_fuzz PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
endfunction()
