# Compiler, warnings, hardening and sanitizers: the same rules for every target.

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  message(FATAL_ERROR "GCC ${CMAKE_CXX_COMPILER_VERSION} miscompiles co_await in conditions and beside aggregates "
                      "(double frees, bodies that never run). Use the presets: they take clang 19.")
endif()

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
# Everything is position independent and ends in a program; one flag for all, or precompiled headers do not fit.
set(CMAKE_POSITION_INDEPENDENT_CODE OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)

option(MNET_FAILPOINTS "Compile the fail points in (never in release)" ON)
option(MNET_FUZZ "Have the fuzz targets (to be built with sanitizers)" OFF)
option(MNET_BENCH "Build the benchmarks, which only a release build has otherwise" OFF)
option(MNET_COVERAGE "Count which lines run; programs add to the counts in profiles/ when they end" OFF)
option(MNET_STATIC "Link the programs that run on the host statically" OFF)
set(MNET_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize=")

# Calls and returns that an attacker bends: each machine has its own means.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  set(MNET_BRANCH_PROTECTION -mbranch-protection=standard)
else()
  set(MNET_BRANCH_PROTECTION -fcf-protection)
endif()

file(RELATIVE_PATH MNET_TREE ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR}/)
add_library(mnet_flags INTERFACE)
target_compile_options(mnet_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wformat=2 -Wimplicit-fallthrough
  -Wunused -Wcast-align -Wextra-semi -Werror
  -fPIE -fstack-protector-strong -fno-omit-frame-pointer
  # The same bytes from a clone in another folder: paths in messages and debug information start at the root of the tree
  # (scripts/launchers/ccache hands the compiler relative ones).
  -ffile-prefix-map=${CMAKE_SOURCE_DIR}/= -ffile-prefix-map=${MNET_TREE}= -ffile-compilation-dir=.
  # Precompiled headers must not carry time stamps, or ccache misses in every new clone.
  -Xclang -fno-pch-timestamp)
target_compile_definitions(mnet_flags INTERFACE
  BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_DISABLE_BOOST_DATE_TIME
  $<$<BOOL:${MNET_FAILPOINTS}>:MNET_FAILPOINTS=1>)
target_link_options(mnet_flags INTERFACE -fuse-ld=lld -Wl,--build-id=sha1 -Wl,-z,relro,-z,now,-z,noexecstack)

if(MNET_SANITIZE)
  target_compile_options(mnet_flags INTERFACE -fsanitize=${MNET_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(mnet_flags INTERFACE -fsanitize=${MNET_SANITIZE})
else()
  target_compile_definitions(mnet_flags INTERFACE _GLIBCXX_ASSERTIONS=1)
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(mnet_flags INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
      -fstack-clash-protection ${MNET_BRANCH_PROTECTION} -ffunction-sections -fdata-sections -g1)
    target_link_options(mnet_flags INTERFACE -Wl,--gc-sections,--icf=safe -Wl,-O2)
  endif()
endif()

if(MNET_COVERAGE)
  # %2m: programs merge into two files for each of them. The folder is in the program, because few of them inherit variables.
  set(MNET_COUNTING -fprofile-instr-generate=${CMAKE_BINARY_DIR}/profiles/%2m.profraw)
  target_compile_options(mnet_flags INTERFACE ${MNET_COUNTING} -fcoverage-mapping)
  target_link_options(mnet_flags INTERFACE ${MNET_COUNTING})
endif()
