// SPDX-License-Identifier: BSD-3-Clause
// Broadcasts by IP multicast on the loopback interface: every size, datagrams that are lost, members that
// hear nothing, and what is refused.
#include "eco/group/party.h"
#include "multicast/channel.h"

#include <barrier>
#include <chrono>

namespace multicast_test {

using namespace plexus;
using namespace plexus::eco;
using namespace plexus::testing;
using Header = multicast::PacketHeader;

namespace {

const Values kOn{{"eco.multicast", "on"}};
constexpr std::size_t kDatagram = 32768; // of data, on the loopback interface
constexpr std::size_t kSizes[] = {0, 1, kDatagram - 1, kDatagram, kDatagram + 1, std::size_t{1} << 20};

/// Drops datagrams while it lives.
struct Dropped {
    explicit Dropped(multicast::Channel::Drop drop) { multicast::Channel::drop_in_tests(drop); }
    ~Dropped() { multicast::Channel::drop_in_tests(nullptr); }
    Dropped(const Dropped&) = delete;
    Dropped& operator=(const Dropped&) = delete;
};

std::byte byte_at(std::size_t at, Rank root) { return static_cast<std::byte>(at * 31 + at / 251 + root); }

std::string broadcast(const Group& group, std::size_t bytes, Rank root) {
    std::vector<std::byte> data(bytes);
    if (group.rank() == root)
        for (std::size_t at = 0; at < bytes; ++at) data[at] = byte_at(at, root);
    group.broadcast(std::span(data), root);
    for (std::size_t at = 0; at < bytes; ++at)
        if (data[at] != byte_at(at, root))
            return "byte " + std::to_string(at) + " of " + std::to_string(bytes) + " is wrong";
    return {};
}

std::string all_sizes(const Group& all) {
    const Group group = all.with(Algorithm::multicast());
    for (const std::size_t bytes : kSizes)
        for (Rank root = 0; root < all.size(); ++root)
            if (std::string bad = broadcast(group, bytes, root); !bad.empty()) return bad;
    return {};
}

/// The text of an error with this status, or what came instead.
std::string refusal(Status status, const std::function<void()>& call) {
    try {
        call();
        return "nothing was thrown";
    } catch (const Error& error) {
        return (error.status() == status ? "" : "another status: ") + std::string(error.what());
    }
}

bool says(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// Empty: a broadcast by multicast is refused with this reason. Else what came instead.
std::string refused_for(const Group& all, std::string_view reason) {
    int value = 1;
    const std::string text = refusal(
        Status::unsupported, [&] { all.with(Algorithm::multicast()).broadcast(std::span(&value, 1)); });
    return says(text, reason) ? "" : text;
}

} // namespace

TEST_CASE("a broadcast by multicast brings every size, from every root") {
    const Rank members = GENERATE(1u, 2u, 4u);
    Party party(members, "tcp", kOn);
    CHECK(complaints(party.run(all_sizes)) == "");
}

TEST_CASE("groups that were made of a group use multicast, too") {
    Party party(4, "tcp", kOn);
    CHECK(complaints(party.run([](const Group& all) {
              const std::string bad = all_sizes(all.dup());
              return bad.empty() ? all_sizes(all.split(all.rank() % 2)) : bad;
          })) == "");
}

TEST_CASE("datagrams that are lost on some members are asked for") {
    const Dropped some([](const Header& header, std::uint32_t me) {
        return header.count > 0 && (header.sequence * 7 + header.call + me) % 3 == 0;
    });
    Party party(4, "tcp", kOn);
    CHECK(complaints(party.run(all_sizes)) == "");
}

TEST_CASE("a member that hears nothing any more gets all by requests") {
    const Dropped all_of_one(
        [](const Header& header, std::uint32_t me) { return header.count > 0 && me == 2; });
    Party party(3, "tcp", kOn);
    CHECK(complaints(party.run(all_sizes)) == "");
}

TEST_CASE("a root that has just sent much has room for what others send") {
    constexpr Rank kNext = 1;
    static std::atomic<bool> heard[3] = {}; // a datagram of the next root, by member
    for (auto& each : heard) each = false;
    const Dropped none([](const Header& header, std::uint32_t me) {
        if (header.count > 0 && header.sender == kNext) heard[me] = true;
        return false;
    });
    Party party(3, "tcp", kOn);
    CHECK(complaints(party.run([](const Group& all) -> std::string {
              const Group group = all.with(Algorithm::multicast());
              if (std::string bad = broadcast(group, std::size_t{8} << 20, 0); !bad.empty()) return bad;
              if (all.rank() == 0 && !eventually(std::chrono::seconds(20), [] { return heard[2].load(); }))
                  return "the next root has sent nothing";
              return broadcast(group, kDatagram, kNext);
          })) == "");
    CHECK(heard[0]); // else it was lost, and came by a request
}

TEST_CASE("multicast that a member does not hear when the group is made is not used") {
    const Dropped probes([](const Header& header, std::uint32_t me) { // member 1 hears itself alone
        return header.count == 0 && me == 1 && header.sender == 0;
    });
    Party party(2, "tcp", kOn);
    CHECK(complaints(
              party.run([](const Group& all) { return refused_for(all, "not every member heard"); })) == "");
}

TEST_CASE("multicast is off if a member does not ask for it, and the text says so") {
    Party party(2, "tcp");
    CHECK(complaints(party.run(
              [](const Group& all) { return refused_for(all, "eco.multicast is off on member 0"); })) == "");
}

TEST_CASE("an interface that a member does not have is named, with what can be done") {
    Values values = kOn;
    values["eco.multicast_interface"] = "1.2.3.4";
    Party party(2, "tcp", values);
    CHECK(complaints(party.run([](const Group& all) {
              return refused_for(all, "Set eco.multicast_interface there to the IPv4 address");
          })) == "");
}

TEST_CASE("multicast does not leave a subnet of the map") {
    Map map({"a", "b", "c"}, {}, {8}, "");
    const auto set = [&](std::size_t a, std::size_t b, double us) {
        map.set_both(0, a, b, cost_of(std::vector<double>{us}));
    };
    set(0, 1, 10);
    set(0, 2, 1000);
    set(1, 2, 1000);
    Values values = kOn;
    values["eco.multicast_interface"] = "127.0.0.1";
    Party party(3, "tcp", values);
    const auto options = [&](Rank rank) {
        GroupOptions out;
        out.map = std::make_shared<const Map>(map);
        out.host = std::string(1, static_cast<char>('a' + rank));
        return out;
    };
    CHECK(complaints(party.run_with(options, [](const Group& all) -> std::string {
              const std::string bad = refused_for(all, "several subnets of the map");
              return bad.empty() ? all_sizes(all.split(all.rank() == 2)) : bad;
          })) == "");
}

TEST_CASE("other operations, v forms and calls with a future do not go by multicast") {
    Party party(2, "tcp", kOn);
    CHECK(complaints(party.run([](const Group& all) -> std::string {
              const Group group = all.with(Algorithm::multicast());
              std::vector<int> data(4);
              std::string text = refusal(Status::unsupported, [&] { group.barrier(); });
              if (!says(text, "broadcasts alone")) return text;
              text = refusal(Status::unsupported, [&] { group.async().broadcast(std::span(data)).get(); });
              if (!says(text, "future")) return text;
              auto prepared = group.prepare().broadcast(std::span(data));
              text = refusal(Status::unsupported, [&] { prepared.start().get(); });
              if (!says(text, "only run()")) return text;
              prepared.run();
              return {};
          })) == "");
}

TEST_CASE("where the choice is automatic all members make the same one") {
    Party party(3, "tcp", {{"eco.multicast", "auto"}});
    CHECK(complaints(party.run([](const Group& all) -> std::string {
              for (std::size_t bytes = 1; bytes <= std::size_t{2} << 20; bytes *= 8)
                  if (std::string bad = broadcast(all, bytes, 1); !bad.empty()) return bad;
              return {};
          })) == "");
}

TEST_CASE("calls by multicast and by messages follow each other") {
    Party party(4, "tcp", kOn);
    CHECK(complaints(party.run([](const Group& all) -> std::string {
              const Group group = all.with(Algorithm::multicast());
              for (Rank turn = 0; turn < 100; ++turn) {
                  const Rank root = turn % all.size();
                  if (std::string bad = broadcast(group, std::size_t{turn} * 1000, root); !bad.empty())
                      return bad;
                  if (turn % 3 == 0 && all.all_reduce(1, std::plus<>{}) != 4) return "the sum is wrong";
              }
              return {};
          })) == "");
}

TEST_CASE("a sender keeps to its rate") {
    Values values = kOn;
    values["eco.multicast_rate"] = "8"; // a megabyte a second
    Party party(2, "tcp", values);
    CHECK(complaints(party.run([](const Group& all) -> std::string {
              const auto start = std::chrono::steady_clock::now();
              // 64 KiB leave at once, the rest takes a fifth of a second.
              if (std::string bad = broadcast(all.with(Algorithm::multicast()), 256 * 1024, 0); !bad.empty())
                  return bad;
              const bool waited = std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(100);
              return waited || all.rank() != 0 ? "" : "it was too fast"; // others may begin late
          })) == "");
}

TEST_CASE("members that call different broadcasts are told both") {
    Party party(2, "tcp", kOn);
    const auto said = party.run([](const Group& all) -> std::string {
        std::vector<int> data(all.rank() == 0 ? 10 : 20);
        return refusal(Status::bad_argument,
                       [&] { all.with(Algorithm::multicast()).broadcast(std::span(data)); });
    });
    for (const std::string& text : said) {
        CHECK(says(text, "10 x 4 bytes"));
        CHECK(says(text, "20 x 4 bytes"));
    }
}

TEST_CASE("a call by multicast ends at its deadline") {
    const Rank alone = GENERATE(0u, 1u); // the other member never calls it
    CAPTURE(alone);
    Party party(2, "tcp", kOn);
    std::atomic<bool> over{false};
    CHECK(complaints(party.run([&](const Group& all) -> std::string {
              if (all.rank() != alone) { // a member that leaves would end the call as well
                  eventually(kLimit, [&] { return over.load(); });
                  return "";
              }
              int value = 1;
              const std::string text = refusal(Status::deadline_exceeded, [&] {
                  all.with(Algorithm::multicast())
                      .with(deadline(std::chrono::milliseconds(100)))
                      .broadcast(std::span(&value, 1), 0);
              });
              over = true;
              return says(text, "waiting for member " + std::to_string(1 - alone)) ? "" : text;
          })) == "");
}

TEST_CASE("a call by multicast ends at its deadline although its datagrams keep coming") {
    const Rank limited = GENERATE(0u, 1u); // the other one has no deadline
    CAPTURE(limited);
    Party party(2, "tcp", kOn);
    std::barrier<> over(2); // nobody leaves while the other one still confirms
    CHECK(complaints(party.run([&](const Group& all) -> std::string {
              std::vector<std::byte> data(std::size_t{48} << 20); // no machine checks so many tags in 5 ms
              const Deadline ends =
                  all.rank() == limited ? deadline(std::chrono::milliseconds(5)) : no_deadline;
              const std::string text = refusal(Status::deadline_exceeded, [&] {
                  all.with(Algorithm::multicast()).with(ends).broadcast(std::span(data), 0);
              });
              over.arrive_and_wait();
              return says(text, "member " + std::to_string(limited) + " gave up") ? "" : text;
          })) == "");
}

} // namespace multicast_test
