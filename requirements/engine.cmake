# For the build of llama-cpp-python, included at the head of each of its projects (CMAKE_PROJECT_INCLUDE).
# llama.cpp's library of its own programs (their arguments, downloads, chat templates) is left out: the Python
# package installs it and never loads it, and it is more than half of the compiler's work.
set(LLAMA_BUILD_COMMON OFF)
# COUNTERLENS_PROCESSOR is set where the build stays on this machine: it is compiled for this processor, without AMX,
# since GCC 12 drops stores that the instruction for its tiles needs. The value, a digest of the processor's features,
# only tells the build apart from those for other processors in a cache of finished builds.
if(COUNTERLENS_PROCESSOR)
  set(GGML_NATIVE ON CACHE BOOL "compile for this processor" FORCE)
  include(CheckCXXCompilerFlag)
  check_cxx_compiler_flag(-mno-amx-tile COUNTERLENS_HAS_AMX_FLAGS)
  if(COUNTERLENS_HAS_AMX_FLAGS AND CMAKE_CURRENT_SOURCE_DIR STREQUAL CMAKE_SOURCE_DIR)
    add_compile_options(-mno-amx-tile -mno-amx-int8 -mno-amx-bf16)
  endif()
endif()
# The arithmetic is ggml's, which keeps its flags. What prepares it is as quick with fewer optimisations, and compiles
# in a quarter less time. Other flags than the usual ones, such as those of another compiler, are left alone.
if(PROJECT_NAME STREQUAL "llama.cpp")
  set(COUNTERLENS_GGML_FLAGS "${CMAKE_CXX_FLAGS_RELEASE}")
  string(REPLACE "-O3" "-O1" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
elseif(PROJECT_NAME STREQUAL "ggml" AND DEFINED COUNTERLENS_GGML_FLAGS)
  set(CMAKE_CXX_FLAGS_RELEASE "${COUNTERLENS_GGML_FLAGS}")
endif()
