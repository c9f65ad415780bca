// SPDX-License-Identifier: BSD-3-Clause
// Those that have said hello and have not proved the job's key yet, oldest first, and which of them makes
// room for another: the oldest of the source with the most, if that source has more than the newcomer's would
// have. So a source that repeats hellos evicts its own only, and members with one hello each wait for each
// other. Not thread-safe.
#pragma once

#include "base/connection_counts.h"
#include "message_link/wire.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <list>
#include <memory>
#include <string_view>
#include <utility>

namespace plexus::message_link {

/// Where a hello is from: the port whose descriptor is in it. The job's key signs that, so a hello that is
/// repeated counts for the member that said it first.
inline ConnectionCounts::Source source_of(ByteView descriptor) {
    const std::size_t hash =
        std::hash<std::string_view>{}({reinterpret_cast<const char*>(descriptor.data()), descriptor.size()});
    ConnectionCounts::Source source{};
    std::memcpy(source.data(), &hash, sizeof hash);
    return source;
}

template <class Each>
class Unproven {
  public:
    struct Member {
        ConnectionCounts::Source from;
        Each what;
        const ConnectionCounts::Source& source() const noexcept { return from; }
        bool is_silent() const noexcept { return true; }
    };

    std::size_t size() const noexcept { return all_.size(); }
    bool empty() const noexcept { return all_.empty(); }
    const Each& front() const noexcept { return all_.front()->what; }

    void add(const ConnectionCounts::Source& from, Each what) {
        all_.push_back(std::make_unique<Member>(Member{from, std::move(what)}));
        counts_.add(from);
    }
    Each take_front() { return take(all_.begin()); }
    /// The first that `is_it` holds for, if there is one.
    template <class IsIt>
    void remove(IsIt is_it) {
        const auto found =
            std::find_if(all_.begin(), all_.end(), [&](const auto& each) { return is_it(each->what); });
        if (found != all_.end()) take(found);
    }
    /// Who makes room for one from `source`; null: nobody. Some are here.
    Each* eviction_victim(const ConnectionCounts::Source& source) {
        Member* const first = counts_.eviction_victim(all_);
        return counts_.count(first->from) > counts_.count(source) + 1 ? &first->what : nullptr;
    }

  private:
    using List = std::list<std::unique_ptr<Member>>;

    Each take(typename List::iterator at) {
        const std::unique_ptr<Member> member = std::move(*at);
        all_.erase(at);
        counts_.remove(member->from);
        return std::move(member->what);
    }

    List all_;
    ConnectionCounts counts_;
};

} // namespace plexus::message_link
