// SPDX-License-Identifier: BSD-3-Clause
#include "message_link/opening.h"

#include <algorithm>

namespace plexus::message_link {
namespace {

template <std::size_t N>
void fill(std::array<std::uint8_t, N>& record, const std::vector<std::uint8_t>& from) {
    std::copy_n(from.begin(), std::min(N, from.size()), record.begin());
}

template <class Message>
std::optional<Message> read(const plexus_host& host, Kind kind, ByteView message) {
    const auto said = signed_part(host, kind, message);
    return said ? Message::read(*said) : std::nullopt;
}

template <class Message>
Bytes signed_message(const plexus_host& host, Kind kind, const Message& message) {
    Bytes out = message.write();
    sign(host, kind, out);
    return out;
}

} // namespace

Opening::Opening(const plexus_host& host, const plexus_id& peer)
  : host_(&host)
  , handshake_(module::Handshake::connecting(host, peer)) {}

Opening::Opening(const plexus_host& host)
  : host_(&host)
  , handshake_(module::Handshake::accepting(host)) {}

Bytes Opening::hello(const End& mine, ByteView descriptor) {
    Hello hello;
    hello.end = mine;
    hello.descriptor.assign(descriptor.begin(), descriptor.end());
    fill(hello.record, handshake_.take_outgoing());
    return signed_message(*host_, Kind::hello, hello);
}

Opening::Verdict Opening::take_hello(ByteView message, Hello& hello) {
    auto said = read<Hello>(*host_, Kind::hello, message);
    if (!said) return {PLEXUS_AGAIN, "it does not hold the job's key, or does not speak this protocol"};
    hello = std::move(*said);
    switch (handshake_.feed(hello.record)) {
    case PLEXUS_AGAIN:
        return {};
    case PLEXUS_WRONG_PEER:
        return {PLEXUS_WRONG_PEER, "it looks for another context"};
    default:
        return {PLEXUS_AGAIN, "it does not hold the job's key, or runs another release of Plexus"};
    }
}

Bytes Opening::answer(const End& mine, bool sees) {
    Answer answer;
    answer.end = mine;
    answer.sees = sees;
    fill(answer.record, handshake_.take_outgoing());
    return signed_message(*host_, Kind::answer, answer);
}

Opening::Verdict Opening::take_answer(ByteView message, Answer& answer) {
    const auto said = read<Answer>(*host_, Kind::answer, message);
    if (!said) return {PLEXUS_AGAIN, ""};
    answer = *said;
    switch (handshake_.feed(answer.record)) {
    case PLEXUS_OK:
        return {};
    case PLEXUS_WRONG_PEER:
        return {PLEXUS_WRONG_PEER, "another context answered"};
    case PLEXUS_UNSUPPORTED:
        return {PLEXUS_LINK_LOST, "the peer runs another release of Plexus"};
    default:
        return {PLEXUS_DENIED, "the peer does not hold this job's key"};
    }
}

Bytes Opening::confirm(bool sees) {
    Confirm confirm;
    confirm.sees = sees;
    fill(confirm.record, handshake_.take_outgoing());
    return signed_message(*host_, Kind::confirm, confirm);
}

Opening::Verdict Opening::take_confirm(ByteView message, Confirm& confirm) {
    const auto said = read<Confirm>(*host_, Kind::confirm, message);
    if (!said || handshake_.feed(said->record) != PLEXUS_OK) return {PLEXUS_AGAIN, ""};
    confirm = *said;
    return {};
}

} // namespace plexus::message_link
