// SPDX-License-Identifier: BSD-3-Clause
// Calls by multicast, and how the members of a group come to use it: all must ask for it, sit in one IP
// network and one subnet of the map, and hear each other in a probe. If the choice is automatic, member 0
// measures it against what the group does without it, and sends the outcome to all.
#include "group/multicast_path.h"

#include "group/multicast_call.h"
#include "group/run_here.h"
#include "plexus/eco/group.h"
#include "topology/refuse.h"

#include <algorithm>
#include <fmt/format.h>
#include <sstream>
#include <thread>

namespace plexus::eco::detail {
namespace {

using Wish = MulticastOffer::Wish;

/// How long a member listens for the probes of all others, and how many each sends.
constexpr std::chrono::milliseconds kListen{200};
constexpr int kProbes = 2;
/// A measurement ends with the first size that takes longer.
constexpr std::chrono::milliseconds kLongMeasure{20};
constexpr int kRepeats = 5;
/// Of its own time multicast has to win so much: a tie is no reason to use it.
constexpr double kWins = 0.9;
constexpr std::uint64_t kBytesInMegabit = 125'000;
constexpr std::uint32_t kFirstSize = 1024;

std::string setting(const std::vector<SettingReport>& all, std::string_view key) {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const SettingReport& each) { return each.key == key; });
    return found == all.end() ? std::string() : found->value;
}

/// What member 0 decides, and sends to all. Plain data.
struct Decision {
    multicast::Key key{};
    std::uint64_t bytes_per_second = 0;
};

Decision decide(const Context& context) {
    Decision out;
    crypto::fill_random(out.key.data(), out.key.size());
    out.bytes_per_second = std::stoull(setting(context.settings(), "eco.multicast_rate")) * kBytesInMegabit;
    return out;
}

/// A call of this member as the root. It does not end while it is read, also if its reader throws.
class Reading {
  public:
    Reading(CallTable& calls, std::uint32_t number, std::uint32_t digest)
      : calls_(calls) {
        const Lock hold(calls_.mutex);
        Execution* const call = calls_.find(number);
        if (call == nullptr || call->by_multicast.window == nullptr || digest != call->planned->digest)
            return;
        ++call->writers;
        call_ = call;
    }
    ~Reading() {
        if (call_ == nullptr) return;
        const Lock hold(calls_.mutex);
        --call_->writers;
    }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

    /// False: there is no such call now.
    explicit operator bool() const noexcept { return call_ != nullptr; }
    std::span<std::byte> data() const noexcept {
        return {call_->space[static_cast<std::size_t>(Space::receive)], call_->by_multicast.bytes};
    }

  private:
    CallTable& calls_;
    Execution* call_ = nullptr;
};

} // namespace

std::string offer_text(const Context& context) {
    const std::vector<SettingReport> all = context.settings();
    const std::string wish = setting(all, "eco.multicast");
    if (wish != "on" && wish != "auto") return "0";
    const std::string chosen = setting(all, "eco.multicast_interface");
    const auto address = multicast::parse_address(chosen);
    if (!chosen.empty() && !address)
        refuse(
            Status::bad_config,
            "eco.multicast_interface is \"{}\", which is no IPv4 address. Set it to one of this host's, such "
            "as 192.168.1.5, or leave it empty",
            chosen);
    const multicast::Interface at =
        multicast::find_interface(address.value_or(0)).value_or(multicast::Interface());
    const Wish said = wish == "auto" ? Wish::automatic : Wish::on;
    return fmt::format("{} {} {} {} {}", static_cast<unsigned>(said), chosen.empty() ? 0 : 1, at.address,
                       at.mask, at.mtu);
}

MulticastOffer parse_offer(std::string_view text) {
    std::istringstream in{std::string(text)};
    unsigned wish = 0;
    MulticastOffer out;
    in >> wish >> out.chosen >> out.interface.address >> out.interface.mask >> out.interface.mtu;
    if (!in || wish > static_cast<unsigned>(Wish::automatic)) return {};
    out.wish = static_cast<Wish>(wish);
    return out;
}

MulticastPath::MulticastPath(GroupState& group)
  : group_(group)
  , members_(group.members())
  , calls_(group.calls()) {}

/// From what all members know: the same on each. Empty: nothing is against it so far.
std::string MulticastPath::why_not(bool by_loopback) const {
    const MulticastOffer& first = members_[0].facts.multicast;
    for (Rank member = 0; member < members_.size(); ++member) {
        const MulticastOffer& offer = members_[member].facts.multicast;
        if (offer.wish == Wish::off)
            return fmt::format("eco.multicast is off on member {}. Set it to on or auto on all members",
                               members_.name(member));
        if (by_loopback) continue;
        if (offer.interface.address == 0)
            return fmt::format(
                "member {} has no {}. Set eco.multicast_interface there to the IPv4 address of "
                "an interface that is up",
                members_.name(member),
                offer.chosen ? "interface of the address that eco.multicast_interface says"
                             : "interface that does multicast");
        if (offer.interface.network() != first.interface.network() ||
            offer.interface.mask != first.interface.mask)
            return fmt::format("members {} and {} are in different IP networks, at {} and at {}. Set "
                               "eco.multicast_interface on each member to an address in a network of all",
                               members_.name(0), members_.name(member),
                               multicast::to_string(first.interface.address),
                               multicast::to_string(offer.interface.address));
    }
    return group_.planner().one_subnet(members_.options().tolerance)
               ? ""
               : "its members are in several subnets of the map. Split the group into one for each subnet";
}

void MulticastPath::make() {
    if (members_.size() < 2) return;
    const bool by_loopback = members_.on_one_host() &&
                             std::none_of(members_.all().begin(), members_.all().end(),
                                          [](const Member& each) { return each.facts.multicast.chosen; });
    if (std::string why = why_not(by_loopback); !why.empty())
        return group_.planner().refuse_multicast(std::move(why));
    const multicast::Interface at =
        by_loopback ? multicast::find_interface(multicast::kLoopback).value_or(multicast::Interface())
                    : members_[members_.me()].facts.multicast.interface;

    const Group self = Group(group_.shared_from_this()).with(Algorithm::messages()).with(no_deadline);
    Decision decision;
    if (members_.me() == 0) decision = decide(members_.context());
    self.broadcast(std::span(&decision, 1), 0);
    const multicast::Place place = multicast::place_of(decision.key);
    std::string why;
    auto socket = multicast::Socket::open(place, at, why);
    const std::uint32_t payload = multicast::payload_bytes(at);
    // Of the receive buffer half: what came for a later call needs room.
    const std::uint32_t room = socket ? socket->room_for(payload + multicast::kOverhead) / 2 : 0;
    std::array<std::uint32_t, 3> agreed{socket ? 1u : 0u, payload, std::max<std::uint32_t>(1, room)};
    self.all_reduce(std::span(agreed), Min{}); // and all have opened theirs
    if (agreed[0] == 0) {
        if (why.empty()) why = "another member has no socket for it. See the text of the same call there";
        return group_.planner().refuse_multicast(fmt::format("at {} {}", multicast::to_string(place), why));
    }
    auto channel = std::make_unique<multicast::Channel>(
        std::move(*socket), decision.key, members_.id(), members_.me(),
        multicast::Agreement{agreed[1], agreed[2], decision.bytes_per_second});
    const std::uint8_t hears = hear_all(*channel) ? 1 : 0;
    if (self.all_reduce(hears, Min{}) == 0)
        return group_.planner().refuse_multicast(
            fmt::format("at {} not every member heard every other one in a probe. Let these UDP packets pass "
                        "switches and firewalls, or set eco.multicast_interface to another network",
                        multicast::to_string(place)));
    channel_ = std::move(channel);
    group_.planner().learn_multicast(0);
    const auto is_automatic = [](const Member& each) { return each.facts.multicast.wish == Wish::automatic; };
    if (!std::all_of(members_.all().begin(), members_.all().end(), is_automatic)) return;
    group_.planner().learn_multicast(measure(self));
}

bool MulticastPath::hear_all(multicast::Channel& channel) const {
    for (int i = 0; i < kProbes; ++i) (void)channel.send({}, {});
    std::vector<bool> heard(members_.size(), false);
    Rank missing = members_.size();
    const auto end = Clock::now() + kListen;
    while (missing > 0 && Clock::now() < end) {
        multicast::Budget budget;
        const auto sender = channel.receive_probe(budget);
        if (!sender) {
            channel.sleep(std::chrono::milliseconds(1));
        } else if (*sender < members_.size() && !heard[*sender]) {
            heard[*sender] = true;
            --missing;
        }
    }
    return missing == 0;
}

/// The same on all members: member 0 says what it measured.
std::uint32_t MulticastPath::measure(const Group& self) const {
    if (group_.memory().there()) return 0; // blocking calls go through it
    std::uint32_t faster = 0;
    bool last_won = false;
    bool goes_on = true;
    for (std::uint32_t size = 0; size < kMulticastClasses; ++size) {
        if (goes_on) {
            std::vector<std::byte> data(std::size_t{kFirstSize} << 2 * size);
            const auto time_of = [&](const Algorithm& algorithm) {
                Clock::duration least = Clock::duration::max();
                for (int i = 0; i < kRepeats; ++i) {
                    self.barrier();
                    const auto start = Clock::now();
                    self.with(algorithm).broadcast(std::span(data), 0);
                    self.barrier(); // the root may be through long before the others
                    least = std::min(least, Clock::now() - start);
                }
                return least;
            };
            const Clock::duration without = time_of(Algorithm());
            const Clock::duration with = time_of(Algorithm::multicast());
            std::array<std::uint8_t, 2> found{static_cast<double>(with.count()) <
                                              kWins * static_cast<double>(without.count())};
            found[1] = with < kLongMeasure && without < kLongMeasure;
            self.broadcast(std::span(found), 0);
            last_won = found[0] != 0;
            goes_on = found[1] != 0;
        }
        if (last_won) faster |= 1u << size;
    }
    return faster;
}

void MulticastPath::run(std::shared_ptr<const PlannedCall> planned, const CollectiveArgs& args,
                        Clock::time_point deadline) {
    const std::span<std::byte> data(args.receive, args.receive_elements * args.element_bytes);
    const std::uint64_t count = channel_->count_of(data.size());
    if (count > UINT32_MAX / 2)
        refuse(Status::too_large,
               "a broadcast of {} bytes has {} datagrams and is too large for multicast. Send it in several "
               "calls, or by Algorithm::messages()",
               data.size(), count);
    std::unique_ptr<Execution> fresh = calls_.make(0);
    const Rank root = planned->signature.root;
    fresh->planned = std::move(planned);
    fresh->wait.deadline = deadline;
    fresh->space[static_cast<std::size_t>(Space::receive)] = args.receive;
    fresh->by_multicast.bytes = data.size();
    if (members_.me() == root)
        fresh->by_multicast.window = std::make_unique<multicast::SendWindow>(
            members_.size(), members_.me(), static_cast<std::uint32_t>(count), channel_->agreed().window);
    Execution& call = group_.enter(std::move(fresh));
    run_here(group_, call, [&] {
        return members_.me() == root ? send_by_multicast(group_, *channel_, call, data)
                                     : receive_by_multicast(group_, *channel_, call, data, root);
    });
}

void MulticastPath::hear_confirmed(std::uint32_t number, std::uint32_t digest, Rank member,
                                   std::uint32_t below) {
    Consequence what;
    {
        const Lock hold(calls_.mutex);
        Execution* const call = calls_.find(number);
        if (call == nullptr || call->by_multicast.window == nullptr)
            return; // it has failed, or the member lies
        if (digest != call->planned->digest) {
            what = Consequence::differs(member, number);
        } else if (!call->by_multicast.window->confirm(member, below)) {
            what = Consequence::breaks(
                Status::bad_argument,
                fmt::format(
                    "member {} says that it has {} datagrams of {}, which can't be. Run the same version "
                    "of Plexus on all members",
                    members_.name(member), below, call->planned->signature.text()));
        } else {
            what = calls_.resume(*call);
            call->wait.parked = true; // so break_up() sets `ready`
        }
    }
    group_.act(std::move(what));
}

std::vector<std::byte> MulticastPath::repair(std::uint32_t number, std::uint32_t digest,
                                             std::span<const std::uint32_t> ranges) {
    const Reading call(calls_, number, digest);
    if (!call) return {};
    const std::span<std::byte> data = call.data();
    const std::uint64_t count = channel_->count_of(data.size());
    std::vector<std::byte> out(1);
    bool fits = true; // what an honest member asks for does
    for (std::size_t i = 0; fits && i + 1 < ranges.size(); i += 2)
        for (std::uint64_t at = ranges[i]; fits && at < std::uint64_t{ranges[i]} + ranges[i + 1]; ++at) {
            const auto part = channel_->part(data, at);
            fits = at < count && out.size() + part.size() <= 1 + kRepairBytes + channel_->agreed().payload;
            if (fits) out.insert(out.end(), part.begin(), part.end());
        }
    return out;
}

} // namespace plexus::eco::detail
