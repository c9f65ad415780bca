// SPDX-License-Identifier: BSD-3-Clause
// A forwarder, and contexts whose pointers lead through it: their own tables name it before any other way.
#pragma once

#include "plexus/forward.h"
#include "unit/context/contexts.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace plexus::testing {

/// A context that relays; where it listens any port will do.
inline Options gate_options(const std::string& name, Values more = {}) {
    more.emplace("listen", "plexus://127.0.0.1:0");
    more.emplace("forward.allow", "all");
    more.emplace("name", name);
    return by("tcp, forward", std::move(more));
}

/// A context that others reach by these forwarders alone.
inline Options behind(const std::string& urls, Values more = {}) {
    more.emplace("method.forward.via", urls);
    return by("forward, tcp", std::move(more));
}

/// What a target notes of the numbers that one sender sends.
struct Ledger {
    std::atomic<std::uint64_t> next{0}; ///< the number that is due; the test reads it
    std::atomic<std::uint64_t> wrong{0};
    std::atomic<std::uint64_t> bytes{0};
};
constexpr Request<void(Ledger&, std::uint64_t, std::span<const std::byte>)> note{"forward.note"};
constexpr Request<std::uint64_t(Ledger&, std::uint64_t)> twice{"forward.twice"};
constexpr Request<std::vector<std::byte>(Ledger&, std::vector<std::byte>)> echo{"forward.echo"};

/// A target with its ledger.
class Target {
  public:
    explicit Target(Options options)
      : context_(std::move(options)) {
        context_.on(note, [](Ledger& it, std::uint64_t number, std::span<const std::byte> load) {
            if (number != it.next) ++it.wrong;
            it.next = number + 1;
            it.bytes += load.size();
        });
        context_.on(twice, [](Ledger&, std::uint64_t number) { return 2 * number; });
        context_.on(echo, [](Ledger&, std::vector<std::byte> load) { return load; });
        bound_ = context_.bind(ledger_);
    }
    Context& context() noexcept { return context_; }
    Ledger& ledger() noexcept { return ledger_; }
    GlobalPointer<Ledger> pointer() const { return bound_.pointer(); }

  private:
    Ledger ledger_;
    Context context_;
    Bound<Ledger> bound_;
};

} // namespace plexus::testing
