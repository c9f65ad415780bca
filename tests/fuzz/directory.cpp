// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: what a directory and its clients read from a socket. Before the key is proved: the
// three records of the handshake, where any changed byte must be refused. After it: frames, which have one
// form.
#include "bootstrap/handshake.h"
#include "bootstrap/records.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

using namespace plexus;
using namespace plexus::bootstrap;

/// Ends the run: the fuzzer keeps the input. Unlike assert(), in every build.
void require(bool holds) {
    if (!holds) std::abort();
}

template <std::size_t Size>
std::span<const std::byte, Size> whole(const Bytes& bytes) {
    return std::span<const std::byte, Size>(bytes.data(), Size);
}

/// `good` with the fuzzer's bytes in place of some of its own.
Bytes changed(Bytes good, std::span<const std::byte> by) {
    if (by.empty()) return good;
    const std::size_t at = std::to_integer<std::size_t>(by[0]) % good.size();
    by = by.subspan(1);
    std::copy_n(by.begin(), std::min(by.size(), good.size() - at),
                good.begin() + static_cast<std::ptrdiff_t>(at));
    return good;
}

/// Does a handshake in which one record is changed: it must end there.
void open_with(std::size_t which, std::span<const std::byte> by) {
    static const Key key = random_key();
    static const ContextId who{{7}};
    ClientHandshake client(key, who);
    ServerHandshake server(key);
    const Bytes hello = which == 0 ? changed(client.hello(), by) : client.hello();
    const Bytes answer = server.take_hello(whole<kHelloBytes>(hello));
    require(answer.empty() == (hello != client.hello()));
    if (answer.empty()) return;
    const Bytes heard = which == 1 ? changed(answer, by) : answer;
    const Bytes confirm = client.take_answer(whole<kAnswerBytes>(heard));
    require(confirm.empty() == (heard != answer));
    if (confirm.empty()) return;
    const Bytes last = which == 2 ? changed(confirm, by) : confirm;
    require(server.take_confirm(whole<kConfirmBytes>(last)) == (last == confirm));
}

void read_frame(std::span<const std::byte> bytes) {
    if (bytes.size() >= kLengthBytes) (void)decode_length(bytes.first<kLengthBytes>());
    const auto frame = decode(bytes);
    if (!frame) return;
    require(frame->name.size() <= kLongestName && frame->value.size() <= kLongestValue);
    require(frame->timeout <= kLongestTimeout);
    const Bytes again = encode(*frame);
    const auto length = decode_length(std::span<const std::byte, kLengthBytes>(again.data(), kLengthBytes));
    require(length && *length == bytes.size() && again.size() == kLengthBytes + bytes.size());
    // A timeout without end comes back shorter, everything else as it was.
    const auto second = decode(std::span(again).subspan(kLengthBytes));
    require(second && second->kind == frame->kind && second->request == frame->request &&
            second->name == frame->name && second->value == frame->value &&
            second->timeout == frame->timeout && second->status == frame->status);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    if (bytes.empty()) return 0;
    const std::size_t what = std::to_integer<std::size_t>(bytes[0]) % 8;
    if (what < 3) {
        open_with(what, bytes.subspan(1));
    } else {
        read_frame(bytes.subspan(1));
    }
    return 0;
}
