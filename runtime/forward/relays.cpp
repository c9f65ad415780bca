// SPDX-License-Identifier: BSD-3-Clause
#include "forward/relays.h"

#include "base/log.h"
#include "forward/hub.h"
#include "request/executor.h"

#include <algorithm>

namespace plexus::forward {
namespace {

constexpr std::size_t kLongestReason = 4096;
constexpr auto kLookAgain = std::chrono::seconds(1); // for links that were not opened

} // namespace

std::string Relays::refusal(const ForwardRules& rules, const Neighbour* to, const ContextId& context) const {
    if (rules.allow.empty()) return fmt::format("{} relays nothing (forward.allow)", hub_.text());
    if (to == nullptr || !to->attached)
        return fmt::format("{} does not know context {}: it is not attached there (any more)", hub_.text(),
                           short_text(context));
    const auto allows = [&](std::string_view name) {
        return std::find(rules.allow.begin(), rules.allow.end(), name) != rules.allow.end();
    };
    if (!allows("all") && !allows(to->name()))
        return fmt::format("{} does not relay to {} (forward.allow)", hub_.text(), to->text());
    if (to->queued() > most_queued(rules.memory))
        return fmt::format("{} takes nothing from {} now", to->text(), hub_.text());
    if (relays_.size() >= rules.links)
        return fmt::format("{} relays {} links, and may relay no more (forward.links)", hub_.text(),
                           relays_.size());
    return {};
}

void Relays::open(const LinkName& from, const Hop& hop, const Destination& to) {
    if (hop.number < kLeastWindow)
        return hub_.say_close(from, Status::bad_argument,
                              fmt::format("a relayed link needs a window of {} bytes, and {} were asked for",
                                          kLeastWindow, hop.number));
    const auto rules = hub_.rules.get();
    if (relays_.size() >= rules->links && Clock::now() >= next_look_) end_late();
    Neighbour* const target = hub_.find(to.context);
    if (const std::string why = refusal(*rules, target, to.context); !why.empty()) {
        log::info("forward", "{} asked in vain: {}", from.neighbour->text(), why);
        return hub_.say_close(from, Status::denied, why);
    }
    const std::uint64_t share = std::max(kLeastWindow, rules->memory / rules->links / 2);
    const std::uint64_t window = std::min(hop.number, share);
    const LinkName onward{target, target->next_number(), true};
    Relay& relay = *relays_.emplace_back(std::make_unique<Relay>(*this, from, onward, window));
    hub_.bind(from, relay);
    hub_.bind(onward, relay);
    hub_.say(onward, {Kind::open, window, hop.bytes});
}

void Relays::Relay::take(const LinkName& from, const Hop& hop) {
    const std::size_t side = from == sides_[0] ? 0 : 1;
    if (hop.kind == Kind::close) {
        const wire::View why = hop.bytes.first(std::min(hop.bytes.size(), kLongestReason));
        owner_.hub_.say(sides_[1 - side], {Kind::close, hop.number, why});
        return owner_.end(*this, {}, {});
    }
    if (!count(side, hop)) {
        const std::string why = fmt::format("{} ended the link: {} broke the rules of relayed links",
                                            owner_.hub_.text(), from.neighbour->text());
        log::warn("forward", "{}", why);
        return owner_.end(*this, {true, true}, why);
    }
    Hop onward = hop;
    if (hop.kind == Kind::opened) onward.number = window_;
    if (hop.kind == Kind::data || hop.kind == Kind::more) onward.pin = request::keep_running_request();
    owner_.hub_.say(sides_[1 - side], onward);
}

// False: no honest end sends that now.
bool Relays::Relay::count(std::size_t from, const Hop& hop) {
    switch (hop.kind) {
    case Kind::opened:
        if (from != 1 || opened_ || hop.bytes.size() > kMostRecord || hop.number < kLeastWindow) return false;
        opened_ = true;
        window_ = std::min(window_, hop.number);
        return true;
    case Kind::confirm:
        if (from != 0 || !opened_ || hop.bytes.size() > kMostRecord) return false;
        return !std::exchange(confirmed_, true);
    case Kind::data:
    case Kind::more: {
        std::uint64_t& under_way = under_way_[from];
        under_way += hop.cost();
        return opened_ && under_way <= window_;
    }
    case Kind::credit: {
        std::uint64_t& under_way = under_way_[1 - from];
        // Ends give it back in quarters of the window.
        if (hop.number < window_ / 4 || !hop.bytes.empty()) return false;
        if (hop.number > under_way) return false;
        under_way -= hop.number;
        return true;
    }
    case Kind::open:
    case Kind::close:
        break;
    }
    return false;
}

void Relays::Relay::cut(const LinkName& from, const std::string& why) {
    const bool first = from == sides_[0];
    owner_.end(*this, {!first, first},
               fmt::format("{} has lost {}: {}", owner_.hub_.text(), from.neighbour->text(), why));
}

// Their ends have given up, or never meant to open them.
void Relays::end_late() {
    next_look_ = Clock::now() + kLookAgain;
    const auto began_before = Clock::now() - kOpening;
    for (std::size_t i = relays_.size(); i-- > 0;) {
        Relay& relay = *relays_[i];
        if (!relay.is_open() && relay.began < began_before)
            end(relay, {true, true},
                fmt::format("{} ended the link: it was not opened within {} s, and others need its place "
                            "(forward.links)",
                            hub_.text(), kOpening.count()));
    }
}

// `tell`: the sides that hear why.
void Relays::end(Relay& relay, const std::array<bool, 2>& tell, const std::string& why) {
    for (const std::size_t side : {0u, 1u}) {
        hub_.unbind(relay.side(side));
        if (tell[side]) hub_.say_close(relay.side(side), Status::link_lost, why);
    }
    std::erase_if(relays_, [&](const auto& each) { return each.get() == &relay; });
}

} // namespace plexus::forward
