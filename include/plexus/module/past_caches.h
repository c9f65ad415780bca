// SPDX-License-Identifier: BSD-3-Clause
// Copying past the caches, for modules.
#pragma once

#include "plexus/past_caches.h"
