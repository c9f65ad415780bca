// SPDX-License-Identifier: BSD-3-Clause
#include "common/system_text.h"

#include <array>
#include <cerrno>
#include <cstring>

namespace plexus::module {

std::string system_text(int error) {
    std::array<char, 128> text{};
    return ::strerror_r(error, text.data(), text.size()); // GNU's, which gives the text
}

bool is_shortage(int error) noexcept {
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

} // namespace plexus::module
