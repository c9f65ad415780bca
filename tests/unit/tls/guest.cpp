// SPDX-License-Identifier: BSD-3-Clause
#include "guest.h"

#include "common/frames.h"
#include "stream_link/descriptor.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace plexus::testing {

std::uint16_t port_of(BareHost& host) {
    const Bytes bytes = host.descriptor();
    if (bytes.at(0) != std::byte{0}) throw std::runtime_error("it runs over another method");
    return stream_link::Descriptor::decode({bytes.data() + 1, bytes.size() - 1}).value().port;
}

Plain::Plain(BareHost& host)
  : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_of(host));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
        throw std::runtime_error("no connection");
}

void Plain::send(const void* bytes, std::size_t size) {
    if (::send(socket_.get(), bytes, size, MSG_NOSIGNAL) != static_cast<ssize_t>(size))
        throw std::runtime_error("not sent");
}

std::size_t Plain::receive(void* bytes, std::size_t size) {
    const ssize_t got = ::recv(socket_.get(), bytes, size, MSG_DONTWAIT);
    return got > 0 ? static_cast<std::size_t>(got) : 0;
}

bool Plain::is_closed() const {
    pollfd item{socket_.get(), POLLRDHUP, 0};
    return ::poll(&item, 1, 0) > 0 && (item.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

Guest::Guest(const plexus_passport& passport, BareHost& host, std::uint64_t most)
  : self_(method_of(passport), {{}, {1, 2, 3}, {{"listen", "127.0.0.1"}}})
  , options_(*tls::read_options(self_.table()))
  , credentials_(self_.table(), options_)
  , plain_(host)
  , wanted_(host.id())
  , most_(most) {
    if (const std::string why = credentials_.load(); !why.empty()) throw std::runtime_error(why);
    engine_ = std::make_unique<tls::Engine>(credentials_.make_session(true), std::uint64_t{1} << 30);
}

void Guest::shake_only(BareHost& host) {
    tls::Block out;
    auto step = engine_->shake({}, out);
    send(out);
    const bool is_over = pump({&host}, 5s, [&] {
        std::byte record[tls::kMostRecord];
        if (plain_.receive(record, tls::kRecordHead) != tls::kRecordHead) return false;
        const std::size_t size = tls::record_size(std::span(record).first(tls::kRecordHead)).value();
        if (plain_.receive(record + tls::kRecordHead, size - tls::kRecordHead) != size - tls::kRecordHead)
            throw std::runtime_error("half a record");
        out.clear();
        step = engine_->shake(std::span(record).first(size), out);
        if (!out.empty()) send(out);
        return step != tls::Engine::Step::going;
    });
    if (!is_over || step != tls::Engine::Step::done) throw std::runtime_error("no session");
}

std::int32_t Guest::step(BareHost& host, tls::Greeting& greeting) {
    if (const auto words = greeting.take_outgoing(); !words.empty()) plain_.send(words.data(), words.size());
    host.poll();
    const auto room = greeting.room();
    const std::size_t got = plain_.receive(room.data(), room.size());
    return got == 0 ? PLEXUS_AGAIN : greeting.took(got);
}

void Guest::greet(BareHost& host) {
    tls::Greeting greeting(self_.table(), std::move(engine_), wanted_, most_);
    std::int32_t verdict = PLEXUS_AGAIN;
    if (!eventually(5s, [&] { return (verdict = step(host, greeting)) != PLEXUS_AGAIN; }) ||
        verdict != PLEXUS_OK)
        throw std::runtime_error("it is no member: " + greeting.why());
    const auto words = greeting.take_outgoing();
    plain_.send(words.data(), words.size());
    engine_ = greeting.take_engine();
    if (!pump({&host}, 5s, [&] { return host.incoming_count() == 1; })) throw std::runtime_error("no link");
}

tls::Block Guest::sealed(std::span<const std::byte> plain) {
    tls::Block block;
    if (!engine_->write(plain, block)) throw std::runtime_error(engine_->why());
    return block;
}

tls::Block Guest::sealed_message(std::size_t size) {
    std::vector<std::byte> plain(module::kFrameWord + size, std::byte{5});
    module::write_frame_word(plain.data(), size, std::min<std::size_t>(size, PLEXUS_HEAD_MAX));
    return sealed(plain);
}

} // namespace plexus::testing
