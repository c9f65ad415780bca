// SPDX-License-Identifier: BSD-3-Clause
#include "tls/inbox.h"

#include "common/frames.h"
#include "tls/link.h"
#include "tls/module.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace plexus::tls {

Inbox::Inbox(Module& module, Link& link, Engine& engine)
  : module_(module)
  , link_(link)
  , engine_(engine) {}

void Inbox::deliver(plexus_view block) {
    const std::span bytes(static_cast<const std::byte*>(block.data), block.size);
    if (comings_.empty()) {
        take(bytes);
        return;
    }
    auto coming = std::make_unique<Coming>();
    coming->block.assign(bytes.begin(), bytes.end());
    coming->is_there = true;
    comings_.push_back(std::move(coming));
}

std::int32_t Inbox::place(plexus_view head, std::size_t rest, void** where, void** token) {
    if (head.size > kMostBlock || rest > kMostBlock - head.size) {
        link_.break_off("a block of " + std::to_string(rest) + " bytes is larger than any of this method");
        return PLEXUS_LINK_LOST;
    }
    auto coming = std::make_unique<Coming>();
    coming->block = module_.blocks().take();
    coming->block.resize(head.size + rest);
    if (head.size > 0) std::memcpy(coming->block.data(), head.data, head.size);
    *where = coming->block.data() + head.size;
    *token = coming.get();
    comings_.push_back(std::move(coming));
    return PLEXUS_OK;
}

void Inbox::placed(void* token, std::int32_t status) {
    const auto at = std::find_if(comings_.begin(), comings_.end(),
                                 [token](const auto& each) { return each.get() == token; });
    if (at == comings_.end()) return;
    if (status != PLEXUS_OK) { // the inner link is lost, and says so next
        comings_.erase(at);
        return;
    }
    (*at)->is_there = true;
    while (!comings_.empty() && comings_.front()->is_there) {
        const std::unique_ptr<Coming> coming = std::move(comings_.front());
        comings_.pop_front();
        if (!link_.is_over()) take(coming->block);
        module_.blocks().give_back(std::move(coming->block));
    }
}

void Inbox::take(std::span<const std::byte> block) {
    if (link_.is_open()) {
        open(block);
    } else {
        link_.shake(block);
    }
}

bool Inbox::open_whole(std::span<const std::byte> block, std::span<std::byte> message) {
    engine_.arrived(block);
    const std::optional<std::size_t> size = engine_.read(message);
    return size == message.size() && engine_.is_read_up();
}

void Inbox::open(std::span<const std::byte> block) {
    engine_.arrived(block);
    for (bool is_empty = false; !is_empty;)
        if (link_.is_over() || !go_on(is_empty)) return;
    if (!engine_.is_read_up()) return link_.break_off("a block ends within a record");
    if (landing_.left > 0) tell_arriving(link_);
}

// Reads what one record still holds. False: the link is broken.
bool Inbox::go_on(bool& is_empty) {
    const std::span<std::byte> room = module_.room();
    std::optional<std::size_t> size;
    if (landing_.left == 0) {
        size = engine_.read(room);
        if (size && *size > 0) return begin(room.first(*size));
    } else {
        const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(landing_.left, room.size()));
        const Lock hold(link_.border());
        if (link_.is_over()) return false;
        size = engine_.read(landing_.where != nullptr ? std::span(landing_.where, most) : room.first(most));
    }
    if (!size) {
        link_.break_off("what the peer sent can't be read: " + engine_.why());
        return false;
    }
    is_empty = *size == 0;
    if (is_empty) return true;
    landing_.left -= *size;
    if (landing_.where != nullptr) landing_.where += *size;
    if (landing_.left == 0) finish_landing();
    return true;
}

bool Inbox::begin(std::span<const std::byte> record) {
    std::uint64_t word = 0;
    if (record.size() >= sizeof word) std::memcpy(&word, record.data(), sizeof word);
    word = module::wire_order(word);
    const std::uint64_t size = word & module::kFrameMost;
    const auto head = static_cast<std::size_t>(word >> 56);
    if (record.size() < sizeof word || head > PLEXUS_HEAD_MAX || head > size ||
        size > module_.limits().most ||
        record.size() != std::min<std::uint64_t>(sizeof word + size, Engine::kRecord)) {
        link_.break_off("the peer sent a message that makes no sense");
        return false;
    }
    const std::span<const std::byte> message = record.subspan(sizeof word);
    if (size <= module_.limits().eager) {
        link_.hand_over({message.data(), message.size()});
        return true;
    }
    landing_.left = size - message.size();
    void* where = nullptr;
    const auto rest = static_cast<std::size_t>(size) - head;
    const std::int32_t status = link_.ask_place({message.data(), head}, rest, &where, &landing_.token);
    landing_.where = status == PLEXUS_OK ? static_cast<std::byte*>(where) : nullptr;
    if (landing_.where == nullptr) return true;
    {
        const Lock hold(link_.border());
        if (link_.is_over()) return false;
        if (message.size() > head) std::memcpy(where, message.data() + head, message.size() - head);
    }
    landing_.where += message.size() - head;
    if (landing_.left == 0) finish_landing();
    return true;
}

void Inbox::finish_landing() {
    if (std::exchange(landing_.where, nullptr) != nullptr) link_.tell_placed(landing_.token, PLEXUS_OK);
}

void Inbox::end() {
    if (std::exchange(landing_.where, nullptr) != nullptr)
        link_.tell_placed(landing_.token, PLEXUS_LINK_LOST);
}

} // namespace plexus::tls
