// SPDX-License-Identifier: BSD-3-Clause
// The kernel forbids to read other processes' memory in mid-run, as where the rules of a container change.
#pragma once

#include "support/forbid_calls.h"

#include <cerrno>
#include <sys/syscall.h>

namespace plexus::testing {

/// process_vm_readv answers EPERM to this thread from here on. False: such filters are not allowed.
inline bool forbid_reading() { return forbid_calls({SYS_process_vm_readv}, EPERM); }

} // namespace plexus::testing
