// SPDX-License-Identifier: BSD-3-Clause
// The directory that a context serves, and a member that publishes, withdraws and asks without measure.
#include "bootstrap/directory.h"
#include "bootstrap/key.h"
#include "support/process.h"
#include "unit/context/contexts.h"
#include "unit/context/key_file.h"

#include <atomic>
#include <cereal/types/string.hpp>
#include <csignal>

namespace directory_test {

using namespace plexus;
using namespace plexus::testing;

struct Hall {};
constexpr Request<int(Hall&, int)> echo{"directory.echo"};

std::string text_of(const std::vector<std::byte>& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

/// A context that serves a directory with one name, in a process of its own, and says where.
struct Served {
    Served()
      : process([this](Channel& channel) {
          const auto expected = expect_warning("");
          Hall hall;
          {
              Context context(by("tcp", {{"job.key_file", key.path()},
                                         {"listen", "plexus://127.0.0.1:0"},
                                         {"progress.close_timeout", "1 s"}}));
              context.on(echo, [](Hall&, int x) { return x; });
              const auto bound = context.bind(hall);
              context.publish("hall", bound.pointer());
              channel.put(bytes_of(context.url()));
              channel.take(std::chrono::minutes(5));
          }
          return 0;
      }) {
        const auto said = process.channel().take(std::chrono::seconds(20));
        if (!said) throw std::runtime_error("the victim did not start");
        url = text_of(*said);
    }
    std::shared_ptr<bootstrap::Directory> joined(std::uint8_t who) const {
        ContextId id;
        id.bytes.fill(who);
        return bootstrap::join(url, bootstrap::key_from_file(key.path()).value(), id,
                               Clock::now() + std::chrono::seconds(20))
            .value();
    }
    KeyFile key;
    Process process;
    std::string url;
};

TEST_CASE("a member gets no name that another has, withdraws none, and fills no more than its share") {
    Served victim;
    Process member([&](Channel& channel) {
        const auto expected = expect_warning("");
        const auto directory = victim.joined(1);
        if (directory->publish("hall", bytes_of("mine")).status() != Status::busy) return 1;
        directory->unpublish("hall");
        if (!directory->publish("squatted", bytes_of("mine"))) return 2;
        // Values of 64 KiB until the directory is full, which it says.
        const std::vector<std::byte> value(bootstrap::kLongestValue, std::byte{1});
        Status status = Status::ok;
        for (int i = 0; status == Status::ok && i < 5000; ++i)
            status = directory->publish("name " + std::to_string(i), value).status();
        if (status != Status::too_large) return 3;
        // It may wait for 16,384 names; the others are refused at once.
        std::atomic<int> refused{0};
        for (int i = 0; i < 20'000; ++i)
            directory->lookup("never " + std::to_string(i), Clock::now() + std::chrono::minutes(10),
                              [&](const Result<bootstrap::Bytes>& found) {
                                  refused += found.status() == Status::busy ? 1 : 0;
                              });
        if (!eventually(std::chrono::seconds(30), [&] { return refused == 20'000 - 16'384; })) return 4;
        channel.put(bytes_of("done"));
        channel.take(std::chrono::minutes(5));
        return 0;
    });
    Options options = by("tcp", {{"job.key_file", victim.key.path()}});
    Context third = Context::attach(victim.url, options);
    const auto call = [&] {
        const auto hall = within(third.lookup<Hall>("hall"));
        return within(hall.call(echo, 7)) == 7;
    };
    bool done = false;
    CHECK(eventually(std::chrono::seconds(60), [&] {
        done = done || member.channel().take(std::chrono::milliseconds(5)).has_value();
        return !call() || done;
    }));
    CHECK(done);
    CHECK(call());
    Hall own;
    const auto bound = third.bind(own);
    CHECK(refusal_of([&] { third.publish("squatted", bound.pointer()); }).status == Status::busy);
    member.kill(SIGKILL);
    // With the member its names go.
    CHECK(eventually(std::chrono::seconds(30), [&] {
        return refusal_of([&] { third.publish("squatted", bound.pointer()); }).status == Status::ok;
    }));
    victim.process.channel().put(bytes_of("end"));
    CHECK(victim.process.wait(std::chrono::seconds(30)).value_or(-1) == 0);
}

} // namespace directory_test
