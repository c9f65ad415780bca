// SPDX-License-Identifier: BSD-3-Clause
#include "context/closing_actions.h"

#include "base/log.h"

#include <utility>

namespace plexus::detail {

void ClosingActions::add(std::function<void()> action) {
    const Lock hold(mutex_);
    actions_.push_back(std::move(action));
}

void ClosingActions::run() noexcept {
    std::vector<std::function<void()>> due;
    {
        const Lock hold(mutex_);
        due.swap(actions_);
    }
    for (; !due.empty(); due.pop_back()) {
        try {
            due.back()();
        } catch (...) { log::error("context", "an action of at_close() threw"); }
    }
}

} // namespace plexus::detail
