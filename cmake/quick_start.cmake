# MNET_QUICK_START: whether apps/quick_start.c fits the C library that static programs get here. A program that starts
# with it (quick_start_trial.cc) must find all that a program finds.
if(MNET_STATIC AND NOT DEFINED CACHE{MNET_QUICK_START})
  try_run(_ran _compiled
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/quick_start_trial.cc ${CMAKE_SOURCE_DIR}/apps/quick_start.c
    COMPILE_DEFINITIONS -O2 -fPIE -fno-stack-protector
    LINK_OPTIONS -static-pie -fuse-ld=lld
    ARGS "one two")
  if(_compiled AND _ran EQUAL 0)
    set(MNET_QUICK_START ON CACHE BOOL "Start small static programs by apps/quick_start.c")
  else()
    message(STATUS "apps/quick_start.c does not fit this C library: static programs start as usual")
    set(MNET_QUICK_START OFF CACHE BOOL "Start small static programs by apps/quick_start.c")
  endif()
endif()

# Gives a static program that start, where it fits. Its canary is set only by it: no protector there.
function(mnet_quick_start target)
  if(MNET_QUICK_START)
    target_sources(${target} PRIVATE ${CMAKE_SOURCE_DIR}/apps/quick_start.c)
    set_source_files_properties(${CMAKE_SOURCE_DIR}/apps/quick_start.c PROPERTIES
      COMPILE_OPTIONS "-O2;-fno-stack-protector")
  endif()
endfunction()
