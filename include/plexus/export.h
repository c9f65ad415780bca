// SPDX-License-Identifier: BSD-3-Clause
// Marks what the shared library shows.
#pragma once

#if __cplusplus < 202002L
#error "Plexus needs C++20: pass -std=c++20 (CMake: cxx_std_20; Meson: cpp_std=c++20)"
#include "plexus/needs_cxx20" // there is no such file: compilers end here, and not after hundreds of lines
#endif

#define PLEXUS_API __attribute__((visibility("default")))
