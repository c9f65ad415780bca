// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/errors.h"

#include <array>
#include <cstdlib>
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

namespace plexus::libfabric {

bool passes(long code) noexcept {
    const long error = std::labs(code);
    return error == FI_EAGAIN || error == FI_ENOMEM || error == FI_EINTR;
}

std::string text_of_error(long code) { return fi_strerror(static_cast<int>(std::labs(code))); }

message_link::Outcome outcome_of(int error, std::string& why) {
    if (error == 0) return PLEXUS_POSTED;
    if (passes(error)) return PLEXUS_AGAIN;
    why = text_of_error(error);
    return PLEXUS_LINK_LOST;
}

std::string text_of_failure(fid_cq* queue, const fi_cq_err_entry& failure) {
    std::array<char, 256> room{};
    const char* const detail =
        fi_cq_strerror(queue, failure.prov_errno, failure.err_data, room.data(), room.size());
    std::string text = text_of_error(failure.err);
    if (detail != nullptr && *detail != 0 && text != detail) text += std::string(" (") + detail + ")";
    return text;
}

} // namespace plexus::libfabric
