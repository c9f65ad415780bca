// SPDX-License-Identifier: BSD-3-Clause
// Bytes below the frames, on a plain socket that has gone through the real handshake: a message that never
// ends, a reader that never reads. Lengths that lie are in unit/tcp/stream.cpp and unit/common/frames.cpp;
// what may be wrong in the memory of shm's rings is in unit/shm and in the fuzz targets: a ring has one
// writer and one reader, who meet nowhere else.
#include "hostile/scene.h"

#include "common/frames.h"
#include "plexus/module/handshake.h"
#include "stream_link/descriptor.h"
#include "wire/table.h"

#include <asio/ip/tcp.hpp>
#include <poll.h>
#include <sys/socket.h>

namespace stream_test {

using namespace plexus;
using namespace plexus::testing;
using namespace plexus::testing::hostile;

namespace {

/// A socket of the member's. Every wait on it is bounded.
class RawLink {
  public:
    explicit RawLink(Member& member) {
        const auto there = stream_link::Descriptor::decode(
            {member.victim().descriptor.data(), member.victim().descriptor.size()});
        const asio::ip::tcp::endpoint endpoint(there.value().addresses.at(0), there->port);
        socket_.reset(::socket(endpoint.data()->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
        if (::connect(socket_.get(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0)
            throw std::runtime_error("a plain socket can't connect");
    }
    bool shake_hands(Member& member, bool finish = true) {
        plexus_id whom{};
        std::memcpy(whom.bytes, member.victim().id().bytes.data(), sizeof whom.bytes);
        auto shake = module::Handshake::connecting(member.host().table(), whom);
        const std::vector<std::uint8_t> hello = shake.take_outgoing();
        if (!write(std::as_bytes(std::span(hello)))) return false;
        std::vector<std::uint8_t> answer(shake.wanted_bytes());
        if (!read(answer) || shake.feed(answer) != PLEXUS_OK) return false;
        const std::vector<std::uint8_t> confirm = shake.take_outgoing();
        return !finish || write(std::as_bytes(std::span(confirm)));
    }
    /// Writes all of it, or as much as is taken before nothing was for two seconds.
    bool write(std::span<const std::byte> bytes) {
        while (!bytes.empty()) {
            const ssize_t sent =
                ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            if (sent < 0 && errno != EAGAIN) return false;
            if (sent < 0 && !ready(POLLOUT, 2000)) return false;
            if (sent > 0) bytes = bytes.subspan(static_cast<std::size_t>(sent));
        }
        return true;
    }
    bool word(std::uint64_t size, std::uint8_t head) {
        std::array<std::byte, 8> bytes;
        for (std::size_t i = 0; i < 7; ++i) bytes[i] = static_cast<std::byte>(size >> (8 * i));
        bytes[7] = static_cast<std::byte>(head);
        return write(bytes);
    }
    /// A whole message.
    bool message(const wire::Bytes& frame) {
        wire::Bytes bytes(module::kFrameWord);
        module::write_frame_word(bytes.data(), frame.size(), std::min<std::size_t>(frame.size(), 64));
        bytes.insert(bytes.end(), frame.begin(), frame.end());
        bytes.resize(bytes.size() + module::frame_padding(frame.size()));
        return write(bytes);
    }

  private:
    bool ready(short what, int milliseconds) {
        pollfd item{socket_.get(), what, 0};
        return ::poll(&item, 1, milliseconds * kPatience) > 0;
    }
    bool read(std::span<std::uint8_t> into) {
        while (!into.empty()) {
            if (!ready(POLLIN, 10'000)) return false;
            const ssize_t got = ::recv(socket_.get(), into.data(), into.size(), 0);
            if (got <= 0) return false;
            into = into.subspan(static_cast<std::size_t>(got));
        }
        return true;
    }
    UniqueFd socket_;
};

wire::Bytes hello_of(Member& member) {
    DescriptorTable table;
    table.push_back({"tcp", member.host().descriptor(), {}});
    const wire::Bytes encoded = wire::encode_table(table);
    wire::Hello hello;
    hello.stream = 1;
    hello.max_message = 1 << 30;
    hello.memory = 7;
    hello.table = encoded;
    return wire::encode(hello);
}

bool open_raw(RawLink& link, Member& member) {
    return link.shake_hands(member) && link.message(hello_of(member)) &&
           link.message(wire::encode(wire::Declare{kLarge, large.info().signature, large.info().name, {}}));
}

} // namespace

TEST_CASE("messages that are announced and never end take no more memory than has come of them") {
    Scene scene("tcp", [](Member& member) {
        static std::vector<std::unique_ptr<RawLink>> links; // until the process ends
        for (int i = 0; i < 100; ++i) {
            links.push_back(std::make_unique<RawLink>(member));
            if (!open_raw(*links.back(), member)) return 1;
            wire::Bytes head = member.request(kTexts, 5);
            head.resize(64);
            if (!links.back()->word(16 * kMiB - 8, 64) || !links.back()->write(head)) return 2;
            if (!links.back()->write(wire::Bytes(1000, std::byte{1}))) return 3;
        }
        return 0;
    });
    CHECK(scene.play());
    scene.check_end();
}

TEST_CASE("handshakes that a holder of the key begins and never ends keep nobody out") {
    Scene scene("tcp", [](Member& member) {
        static std::vector<std::unique_ptr<RawLink>> links;
        for (int i = 0; i < 300; ++i) {
            links.push_back(std::make_unique<RawLink>(member));
            (void)links.back()->shake_hands(member, false); // the oldest may be closed for the next
        }
        return member.heard(member.join()) ? 0 : 1;
    });
    CHECK(scene.play());
    Context fresh(by("tcp", {{"job.key_file", scene.key_file()}}));
    CHECK(within(GlobalPointer<Door>::load(fresh, scene.door().save()).call(echo, 3)) == 3);
    scene.check_end();
}

TEST_CASE("a caller that never reads gets what limits.handler_queue allows, and not all of the memory") {
    Scene scene("tcp",
                [](Member& member) {
                    static RawLink link(member);
                    if (!open_raw(link, member)) return 1;
                    // 100,000 answers of 4 KiB are 400 MB.
                    for (std::uint64_t call = 1; call <= 100'000; ++call)
                        if (!link.message(member.request(kLarge, call))) break;
                    return 0;
                },
                {{"limits.handler_queue", "8 MiB"}});
    CHECK(scene.play());
    if (!kSanitized) CHECK(scene.growth() < 64 * kMiB);
    scene.check_end();
}

} // namespace stream_test
