// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: a receiver of shm whose peer writes what it likes into the ring, the area, the counters
// and the socket, between any two looks. Messages are read from the peer's memory (of this process, so that
// it is there), where that fails they come in parts by the socket, or are lost. Every view must be readable,
// every placement be ended once, and what is no record must end in a reason.
//
// The input is a list of commands: a byte that says what, then its operands.
#include "shm/receiver.h"
#include "shm/socket.h"

#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace {

using namespace plexus::shm;
using plexus::SealedMemory;
using plexus::UniqueFd;

constexpr std::uint32_t kLines = 64;
constexpr std::size_t kAreaBytes = 1 << 12;
constexpr std::size_t kThere = (1 << 20) + 100; // more than is read in one go
constexpr std::size_t kMostSmall = 1 << 14;
constexpr std::size_t kMostPlaced = kThere + kMostSmall;
constexpr int kMostLarge = 8; // of the placements above kMostSmall, so that a run is short

void require(bool holds) {
    if (!holds) std::abort();
}

/// Takes operands off the front of the input; zeros behind its end.
struct Input {
    const std::uint8_t* data;
    std::size_t size;

    template <class T>
    T take() {
        T value{};
        const std::size_t part = size < sizeof value ? size : sizeof value;
        std::memcpy(&value, data, part);
        data += part;
        size -= part;
        return value;
    }
};

struct Target {
    Target()
      : lines(new Line[kLines]())
      , receiver(table) {
        table.size = PLEXUS_HOST_SIZE;
        table.log = [](void*, plexus_level, const char*) {};
        table.deliver = [](void* self, plexus_view message) {
            auto& target = *static_cast<Target*>(self);
            for (std::size_t i = 0; i < message.size; ++i)
                target.sum = target.sum + static_cast<const std::uint8_t*>(message.data)[i];
        };
        table.place = [](void* self, plexus_view head, std::size_t rest, void** where, void** token) {
            auto& target = *static_cast<Target*>(self);
            require(head.size <= PLEXUS_HEAD_MAX && !target.placing);
            if (rest > kMostPlaced) return std::int32_t{PLEXUS_TOO_LARGE};
            if (rest > kMostSmall && ++target.large > kMostLarge) return std::int32_t{PLEXUS_TOO_LARGE};
            target.room.reset(new std::byte[rest]); // of exactly that size
            *where = target.room.get();
            *token = &target.placing;
            target.placing = true;
            return std::int32_t{PLEXUS_OK};
        };
        table.placed = [](void* self, void* token, std::int32_t status) {
            auto& target = *static_cast<Target*>(self);
            require(token == &target.placing && target.placing);
            require(status == PLEXUS_OK || status == PLEXUS_MESSAGE_LOST);
            target.placing = false;
        };
        int ends[2];
        require(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
        mine.reset(ends[0]);
        theirs.reset(ends[1]);
        receiver.attach(in, lines.get(), kLines, doorbell(), {mine.get(), ::getpid(), -1}, spare);
        writer.attach(lines.get(), kLines, written);
    }
    /// The peer's area, which nobody writes: one for all runs.
    struct Area {
        Area()
          : memory(SealedMemory::create("fuzz area", kAreaBytes, fd)) {
            require(static_cast<bool>(memory));
        }
        UniqueFd fd;
        SealedMemory memory;
    };
    static const Area& area() {
        static const Area one;
        return one;
    }
    // One for all runs: it says only that there is something.
    static const Doorbell& doorbell() {
        static Mailbox mailbox;
        static Direction direction{};
        static Doorbell one;
        static const bool ready =
            mailbox.open() &&
            one.attach(mailbox.memory_fd(), UniqueFd(::dup(mailbox.event_fd())), 0, direction, false);
        require(ready);
        return one;
    }

    // False: the link is over.
    bool step(Input& input) {
        switch (input.take<std::uint8_t>() % 10) {
        case 0: { // a word that the reader waits for
            const auto at = input.take<std::uint8_t>();
            const auto lap = input.take<std::uint8_t>() % 4u + 1;
            const auto kind = static_cast<Kind>(input.take<std::uint8_t>() % 8);
            lines[at % kLines].word = word_of(lap, kind, input.take<std::uint16_t>());
            return true;
        }
        case 1: { // any bytes in any line
            const auto at = input.take<std::uint16_t>();
            const auto bytes = input.take<std::uint64_t>();
            std::memcpy(lines[at % kLines].body + at % 7 * 8, &bytes, sizeof bytes);
            return true;
        }
        case 2: { // a record as a writer writes it, with a body of any content
            std::array<std::byte, sizeof(FetchHead) + 4 * sizeof(FetchPiece)> body{};
            const auto kind = static_cast<Kind>(input.take<std::uint8_t>() % 8);
            const std::size_t size = input.take<std::uint8_t>() % (body.size() + 1);
            for (std::size_t i = 0; i < size; ++i)
                body[i] = static_cast<std::byte>(input.take<std::uint8_t>());
            return write(kind, body.data(), size);
        }
        case 3: { // a part of the area, near what is valid
            const AreaBody part{input.take<std::uint8_t>() * kLineBytes, input.take<std::uint16_t>(),
                                input.take<std::uint64_t>()};
            return write(input.take<std::uint8_t>() % 2 == 0 ? Kind::area : Kind::chunk, &part, sizeof part);
        }
        case 4: { // the start of a stream, or a fetch
            StreamHead head{};
            head.rest = input.take<std::uint16_t>();
            head.head_size = input.take<std::uint8_t>() % 80;
            if (input.take<std::uint8_t>() % 2 == 0) return write(Kind::stream, &head, sizeof head);
            return fetch(input, head);
        }
        case 5: { // by the socket: an area, or something else
            const auto what = input.take<std::uint8_t>();
            const int fds[] = {what % 4 == 1 ? theirs.get() : area().fd.get(), area().fd.get()};
            std::array<std::uint8_t, 5> bytes{'a', 'r', 'e', 'a', 0};
            bytes[3] = what % 8 == 2 ? 'b' : 'a';
            (void)send_packet(theirs.get(), {bytes.data(), what % 16 == 3 ? std::size_t{5} : 4},
                              {fds, what % 32 == 4 ? std::size_t{2} : std::size_t{1}});
            return true;
        }
        case 6: // the counters
            in.waiting = input.take<std::uint32_t>();
            in.consumed = input.take<std::uint64_t>();
            return true;
        case 7:
            return receive(input);
        case 8: // whether the receiver may read the peer's memory
            in.can_fetch = input.take<std::uint8_t>() % 2u;
            return true;
        default:
            return answer(input);
        }
    }

    // Of memory that is there, that is not, or that is there for the first kThere bytes.
    bool fetch(Input& input, const StreamHead& like) {
        static const std::vector<std::byte> source(kThere);
        struct {
            FetchHead head;
            FetchPiece pieces[2];
        } fetch{};
        fetch.head.rest = like.rest;
        fetch.head.head_size = like.head_size;
        fetch.head.pieces = 1;
        const auto where = input.take<std::uint8_t>() % 4;
        if (where == 2) {
            fetch.head.pieces = 2;
            fetch.head.rest = kThere + like.rest;
            fetch.pieces[0] = {reinterpret_cast<std::uintptr_t>(source.data()), kThere};
            fetch.pieces[1] = {8, like.rest};
        } else {
            fetch.pieces[0] = {where == 0 ? reinterpret_cast<std::uintptr_t>(area().memory.data()) : 8,
                               like.rest % (kAreaBytes + 1)};
        }
        return write(Kind::fetch, &fetch, sizeof fetch.head + fetch.head.pieces * sizeof(FetchPiece));
    }

    // The answer to what the receiver could not read, or a packet that looks like one: the next bytes in
    // shared memory, or that they are lost.
    bool answer(Input& input) {
        const auto what = input.take<std::uint8_t>();
        const std::size_t small = input.take<std::uint16_t>() + std::size_t{1};
        const std::size_t size = what % 8 == 1 ? kMostPart : what % 8 == 2 ? kMostPart + 1 : small;
        UniqueFd fd;
        if (what % 8 == 3) { // it could be cut short
            fd.reset(::memfd_create("fuzz part", MFD_CLOEXEC));
            require(::ftruncate(fd.get(), static_cast<off_t>(size)) == 0);
        } else {
            require(static_cast<bool>(SealedMemory::create("fuzz part", size, fd)));
        }
        const bool lost = what % 8 == 0;
        const bool odd = what % 32 >= 24; // another number of descriptors than belongs to it
        const int fds[] = {fd.get()};
        (void)send_packet(theirs.get(), lost ? kLostPacket : kPartPacket,
                          {fds, lost == odd ? std::size_t{1} : std::size_t{0}});
        return true;
    }

    bool write(Kind kind, const void* body, std::size_t size) {
        std::byte* const to = writer.reserve(size);
        if (to == nullptr) return true;
        std::memcpy(to, body, size);
        writer.publish(kind, static_cast<std::uint32_t>(size));
        return true;
    }

    bool receive(Input& input) {
        if (input.take<std::uint8_t>() % 4 == 0) {
            const auto heard = receiver.hear();
            if (heard == Receiver::Heard::nonsense) return broken();
            if (heard == Receiver::Heard::end) return false;
        }
        const std::int32_t handled = receiver.receive(this, 1 + input.take<std::uint8_t>() % 32u, gone);
        if (handled < 0) return broken();
        written = in.consumed.load();
        (void)receiver.has_news();
        return true;
    }

    bool broken() const {
        require(!receiver.error().empty());
        return false;
    }

    plexus_host table{};
    std::unique_ptr<Line[]> lines;
    Direction in{};
    UniqueFd mine, theirs;
    SpareDescriptor spare;
    std::atomic<std::uint64_t> written{0}; // what the receiver has said last, before the peer overwrote it
    RingWriter writer;
    std::atomic<bool> gone{false};
    std::unique_ptr<std::byte[]> room;
    bool placing = false;
    int large = 0;
    volatile std::uint64_t sum = 0;
    Receiver receiver;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Target target;
    Input input{data, size};
    while (input.size > 0 && target.step(input)) {}
    target.receiver.fail(&target, false);
    require(!target.placing);
    return 0;
}
