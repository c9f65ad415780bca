// SPDX-License-Identifier: BSD-3-Clause
#include "tools/lab/refusal.h"

#include "plexus/error.h"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>

namespace plexus::tools::lab {
namespace {

constexpr char kNeeds[] =
    "a lab needs a Linux kernel with /dev/net/tun, which this user may open, and either "
    "root's rights (CAP_SYS_ADMIN and CAP_NET_ADMIN) or user namespaces";

bool means_forbidden(int error) {
    for (const int one : {EPERM, EACCES, ENOENT, ENODEV, ENXIO, ENOSYS, EINVAL, ENOSPC, EUSERS, EOPNOTSUPP})
        if (error == one) return true;
    return false;
}

} // namespace

void cannot(const std::string& what) { cannot(what, errno); }

void cannot(const std::string& what, int error) {
    const std::string sentence = fmt::format("{}: {}", what, std::strerror(error));
    if (means_forbidden(error)) throw NotAllowed(fmt::format("{}; {}", sentence, kNeeds));
    throw Error(Status::runtime_lost, sentence);
}

} // namespace plexus::tools::lab
