// SPDX-License-Identifier: BSD-3-Clause
// The order of what arrives on a link, by the numbers of its messages. Pure values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace plexus::message_link {

/// Numbers are modulo 2^16. `Item`: what is kept of a message that came too early.
template <class Item>
class ReceiveOrder {
  public:
    enum class Place : std::uint8_t { next, early, wrong };

    Place place(std::uint16_t number) const noexcept {
        if (number == expected_) return early_.count(number) == 0 ? Place::next : Place::wrong;
        const bool ahead = static_cast<std::uint16_t>(number - expected_) < 0x8000;
        return ahead && early_.size() < kMostEarly && early_.count(number) == 0 ? Place::early : Place::wrong;
    }
    /// The message of the next number has come.
    void pass() noexcept { ++expected_; }
    /// Keeps one that came too early, or the next one while it may not be handed over.
    void keep(std::uint16_t number, Item item) { early_.emplace(number, item); }
    /// The kept one that is next, passed; nothing: it has not come.
    std::optional<Item> take() {
        const auto found = early_.find(expected_);
        if (found == early_.end()) return std::nullopt;
        const Item item = found->second;
        early_.erase(found);
        ++expected_;
        return item;
    }
    /// Calls `drop` with each that is kept, and forgets them.
    template <class Drop>
    void clear(Drop&& drop) {
        for (const auto& each : early_) drop(each.second);
        early_.clear();
    }
    bool has_early() const noexcept { return !early_.empty(); }

  private:
    static constexpr std::size_t kMostEarly = 16384;
    std::uint16_t expected_ = 0;
    std::map<std::uint16_t, Item> early_;
};

} // namespace plexus::message_link
