// SPDX-License-Identifier: BSD-3-Clause
// What a refused call says.
#pragma once

#include "support/catch.h"

#include "plexus/error.h"

#include <string>

namespace plexus::testing {

/// The sentence of the bad_argument that `work` throws; "taken" where it throws nothing.
template <class Work>
std::string words_of(const Work& work) {
    try {
        work();
    } catch (const Error& error) {
        CHECK(error.status() == Status::bad_argument);
        return error.what();
    }
    return "taken";
}

} // namespace plexus::testing
