// SPDX-License-Identifier: BSD-3-Clause
// Everything an application usually needs. Beside it: plexus/asio.h (completion tokens),
// plexus/launch.h (starting jobs), plexus/module/ (writing a method).
#pragma once

#include "plexus/export.h" // first: it refuses what is no C++20

#include "plexus/bound.h"
#include "plexus/caller.h"
#include "plexus/context.h"
#include "plexus/error.h"
#include "plexus/future.h"
#include "plexus/id.h"
#include "plexus/pointer.h"
#include "plexus/polling.h"
#include "plexus/reply.h"
#include "plexus/request.h"
#include "plexus/span.h"
#include "plexus/table.h"
#include "plexus/when.h"
