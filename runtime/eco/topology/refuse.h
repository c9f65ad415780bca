// SPDX-License-Identifier: BSD-3-Clause
// One way to say no: a status and a sentence, thrown as the public error. Any thread.
#pragma once

#include "plexus/error.h"

#include <fmt/format.h>
#include <utility>

namespace plexus::eco {

template <class... Layout>
[[noreturn]] void refuse(Status status, fmt::format_string<Layout...> sentence, Layout&&... parts) {
    throw Error(status, fmt::format(sentence, std::forward<Layout>(parts)...));
}

} // namespace plexus::eco
