// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: what a peer of `ucx` or `libfabric` sends: headers, announcements and the messages of the
// opening, without their proofs, so that the fuzzer gets behind them. What is read is written again as it
// was, and stays within its bounds.
//
// The input: a byte that chooses the message, then the message.
#include "message_link/wire.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace {

using namespace plexus::message_link;

void require(bool holds) {
    if (!holds) std::abort();
}

bool same(ByteView a, ByteView b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

void check_end(const End& end) { require(end.slot < kNoSlot && end.window > 0); }

void read_header(ByteView bytes) {
    if (bytes.size() < kHeaderBytes) return;
    const Header header = Header::read(bytes.data());
    require(header.slot <= kNoSlot);
    std::array<std::byte, kHeaderBytes> again;
    header.write(again.data());
    require(same(again, bytes.first(kHeaderBytes)));
}

void read_announcement(ByteView bytes) {
    const auto note = Announcement::read(bytes);
    if (!note) return;
    require(note->head_size <= note->head.size() && note->count <= Announcement::kMostStretches);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < note->count; ++i) sum += note->stretches[i].size;
    require(note->count == 0 || sum == note->rest);
    std::array<std::byte, Announcement::kMostBytes> again;
    require(same(ByteView(again).first(note->write(again.data())), bytes));
}

void read_hello(ByteView bytes) {
    const auto hello = Hello::read(bytes);
    if (!hello) return;
    check_end(hello->end);
    require(hello->descriptor.size() <= kMostDescriptor && same(hello->write(), bytes));
}

void read_answer(ByteView bytes) {
    const auto answer = Answer::read(bytes);
    if (!answer) return;
    check_end(answer->end);
    require(answer->write().size() == bytes.size());
}

void read_confirm(ByteView bytes) {
    if (const auto confirm = Confirm::read(bytes)) require(confirm->write().size() == bytes.size());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    constexpr void (*kReaders[])(ByteView) = {read_header, read_announcement, read_hello, read_answer,
                                              read_confirm};
    kReaders[data[0] % std::size(kReaders)](std::as_bytes(std::span(data + 1, size - 1)));
    return 0;
}
