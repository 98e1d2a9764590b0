# mnet_library(<folder> SOURCES ... DEPS ... [LIBS ...] [TESTS ...] [TEST_DEPS ...])
#   One folder of src/, one library mnet::<folder>, and <folder>_test from the tests beside the code.
#   A dependency that cmake/layers.cmake does not allow is an error.
# mnet_program(<name> SOURCES ... DEPS ... [STATIC])
#   One program in bin/. STATIC: it runs on the host and must run on any distribution.

find_package(GTest REQUIRED)
include(GoogleTest)

# Precompiled headers are made once and shared: the standard library, the same with Asio, the same with GoogleTest.
function(_mnet_pch name)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${name}.cc CONTENT "// Carries the precompiled header ${name}.\n")
  add_library(${name} OBJECT ${CMAKE_BINARY_DIR}/${name}.cc)
  target_link_libraries(${name} PRIVATE mnet_flags ${ARGN})
endfunction()
set(_std_headers <algorithm> <chrono> <cstdint> <expected> <filesystem> <functional> <map> <memory> <optional> <span>
  <string> <string_view> <utility> <variant> <vector>)
set(_asio_headers ${_std_headers} <boost/asio.hpp>)
_mnet_pch(mnet_pch_std)
target_precompile_headers(mnet_pch_std PRIVATE ${_std_headers})
_mnet_pch(mnet_pch_asio)
target_precompile_headers(mnet_pch_asio PRIVATE ${_asio_headers})
_mnet_pch(mnet_pch_test GTest::gmock)
target_precompile_headers(mnet_pch_test PRIVATE ${_asio_headers} <gmock/gmock.h> <gtest/gtest.h>)

add_library(mnet_test_main STATIC ${CMAKE_SOURCE_DIR}/tests/test_main.cc)
target_link_libraries(mnet_test_main PUBLIC GTest::gmock PRIVATE mnet_flags)

function(mnet_library folder)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS;LIBS;TESTS;TEST_DEPS;TEST_SOURCES" ${ARGN})
  foreach(dep IN LISTS arg_DEPS)
    if(NOT dep IN_LIST MNET_MAY_USE_${folder})
      message(FATAL_ERROR "${folder} may not use ${dep}: cmake/layers.cmake lists what it may (${MNET_MAY_USE_${folder}})")
    endif()
  endforeach()
  list(TRANSFORM arg_DEPS PREPEND mnet::)

  add_library(mnet_${folder} STATIC ${arg_SOURCES})
  add_library(mnet::${folder} ALIAS mnet_${folder})
  file(GLOB headers CONFIGURE_DEPENDS *.h)
  target_sources(mnet_${folder} PUBLIC FILE_SET HEADERS BASE_DIRS ${CMAKE_SOURCE_DIR}/src FILES ${headers})
  set_target_properties(mnet_${folder} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
  target_include_directories(mnet_${folder} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(mnet_${folder} PUBLIC ${arg_DEPS} ${arg_LIBS} PRIVATE mnet_flags)

  set(may_use ${MNET_MAY_USE_${folder}} ${folder})
  if("aio" IN_LIST may_use)
    target_precompile_headers(mnet_${folder} REUSE_FROM mnet_pch_asio)
  else()
    target_precompile_headers(mnet_${folder} REUSE_FROM mnet_pch_std)
  endif()

  if(arg_TESTS)
    list(TRANSFORM arg_TEST_DEPS PREPEND mnet::)
    add_executable(${folder}_test ${arg_TESTS})
    target_link_libraries(${folder}_test PRIVATE mnet::${folder} ${arg_TEST_DEPS} mnet_test_main mnet_flags)
    target_precompile_headers(${folder}_test REUSE_FROM mnet_pch_test)
    target_compile_definitions(${folder}_test PRIVATE MNET_TEST_DATA="${CMAKE_SOURCE_DIR}/tests/data")
    set_target_properties(${folder}_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    add_test(NAME ${folder}_test COMMAND ${folder}_test --gtest_output=xml:${CMAKE_BINARY_DIR}/reports/)
    set_tests_properties(${folder}_test PROPERTIES LABELS unit TIMEOUT 300)
  endif()
endfunction()

function(mnet_program name)
  cmake_parse_arguments(arg "STATIC" "" "SOURCES;DEPS;LIBS" ${ARGN})
  list(TRANSFORM arg_DEPS PREPEND mnet::)
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_DEPS} ${arg_LIBS} mnet_flags)
  if(MNET_STATIC AND arg_STATIC)
    target_link_options(${name} PRIVATE -static-pie)
  endif()
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    # The symbols go to <name>.debug beside the program; the build-id joins the two.
    add_custom_command(TARGET ${name} POST_BUILD
      COMMAND ${CMAKE_OBJCOPY} --only-keep-debug $<TARGET_FILE:${name}> $<TARGET_FILE:${name}>.debug
      COMMAND ${CMAKE_OBJCOPY} --strip-all --remove-section=.comment --add-gnu-debuglink=$<TARGET_FILE:${name}>.debug $<TARGET_FILE:${name}>
      VERBATIM)
  endif()
endfunction()
