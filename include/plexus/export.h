// SPDX-License-Identifier: BSD-3-Clause
// Marks what the shared library shows.
#pragma once

#define PLEXUS_API __attribute__((visibility("default")))
