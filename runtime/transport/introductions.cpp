// SPDX-License-Identifier: BSD-3-Clause
#include "transport/introductions.h"

namespace plexus::transport {

bool Introductions::add(std::uint16_t request) {
    if (knows(request)) return false;
    if (request >= requests_.size()) requests_.resize(request + std::size_t{1});
    requests_[request] = true;
    return true;
}

bool Introductions::add_table(std::uint64_t name) {
    if (!tables_.insert(name).second) return false;
    order_.push_back(name);
    if (order_.size() > kMostTables) {
        tables_.erase(order_.front());
        order_.pop_front();
    }
    return true;
}

void Introductions::clear() {
    requests_.clear();
    tables_.clear();
    order_.clear();
}

} // namespace plexus::transport
