# For the build of llama-cpp-python, included at the head of each of its projects (CMAKE_PROJECT_INCLUDE).
# llama.cpp's library of its own programs (their arguments, downloads, chat templates) is left out: the Python
# package installs it and never loads it, and it is more than half of the compiler's work.
set(LLAMA_BUILD_COMMON OFF)
# The arithmetic is ggml's. What prepares it is as quick with fewer optimisations, and compiles in a quarter less time.
if(PROJECT_NAME STREQUAL "llama.cpp")
  set(CMAKE_CXX_FLAGS_RELEASE "-O1 -DNDEBUG")
elseif(PROJECT_NAME STREQUAL "ggml")
  set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")
endif()
