// SPDX-License-Identifier: BSD-3-Clause
#include "common/frames.h"

namespace plexus::module {

std::size_t FrameReader::take(const Owner& owner, std::span<const std::byte> bytes, std::uint32_t& budget) {
    std::size_t at = 0;
    const auto left = [&] { return bytes.size() - at; };
    while (corrupt_ == nullptr && !owner.given_up.load(std::memory_order_relaxed)) {
        if (landing_left_ > 0) {
            const std::size_t here = std::min(left(), landing_left_);
            {
                const Lock hold(owner.border);
                if (owner.given_up.load(std::memory_order_relaxed)) break;
                std::memcpy(landing_, bytes.data() + at, here);
            }
            at += here;
            landed(owner, here, budget);
            if (landing_left_ > 0) break;
        }
        if (skip_ > 0) {
            const auto here = static_cast<std::size_t>(std::min<std::uint64_t>(left(), skip_));
            at += here;
            skip_ -= here;
            if (skip_ > 0) break;
        }
        Word word{};
        if (budget == 0 || left() < kFrameWord || !read_word(bytes.data() + at, word)) break;
        if (word.size <= limits_.eager) {
            if (left() < frame_bytes(word.size)) break;
            owner.host.deliver(owner.cookie,
                               {bytes.data() + at + kFrameWord, static_cast<std::size_t>(word.size)});
            at += static_cast<std::size_t>(frame_bytes(word.size));
            --budget;
        } else {
            if (left() < kFrameWord + word.head) break;
            begin_large(owner, word, bytes.data() + at + kFrameWord);
            at += kFrameWord + word.head;
        }
    }
    return at;
}

void FrameReader::landed(const Owner& owner, std::size_t bytes, std::uint32_t& budget) {
    landing_ += bytes;
    landing_left_ -= bytes;
    if (landing_left_ == 0) finish_landing(owner, budget);
}

void FrameReader::abandon(const Owner& owner) {
    if (landing_left_ == 0) return;
    landing_left_ = 0;
    if (!owner.given_up.load(std::memory_order_relaxed))
        owner.host.placed(owner.cookie, token_, PLEXUS_MESSAGE_LOST);
}

std::size_t FrameReader::enough(std::span<const std::byte> bytes) const noexcept {
    if (bytes.size() < kFrameWord) return kFrameWord;
    const Word word = word_at(bytes.data());
    if (fault_of(word) != nullptr) return kFrameWord; // take() says so
    return static_cast<std::size_t>(word.size <= limits_.eager ? frame_bytes(word.size)
                                                               : kFrameWord + word.head);
}

FrameReader::Word FrameReader::word_at(const std::byte* from) noexcept {
    std::uint64_t bits = 0;
    std::memcpy(&bits, from, sizeof bits);
    bits = wire_order(bits);
    return {bits & kFrameMost, static_cast<std::size_t>(bits >> 56)};
}

const char* FrameReader::fault_of(const Word& word) const noexcept {
    if (word.head > PLEXUS_HEAD_MAX || word.head > word.size)
        return "it announces a head that no message can have";
    if (limits_.most != 0 && word.size > limits_.most)
        return "it announces a message above max_message, which this side had told";
    return nullptr;
}

bool FrameReader::read_word(const std::byte* from, Word& word) {
    word = word_at(from);
    corrupt_ = fault_of(word);
    return corrupt_ == nullptr;
}

void FrameReader::begin_large(const Owner& owner, const Word& word, const std::byte* head) {
    const std::uint64_t rest = word.size - word.head;
    skip_ = frame_padding(word.size);
    void* where = nullptr;
    // A size that no address space holds can't be placed; the host has the last word on others.
    const bool taken = rest <= SIZE_MAX / 2 &&
                       owner.host.place(owner.cookie, {head, word.head}, static_cast<std::size_t>(rest),
                                        &where, &token_) == PLEXUS_OK;
    if (taken) {
        landing_ = static_cast<std::byte*>(where);
        landing_left_ = static_cast<std::size_t>(rest);
    } else {
        skip_ += rest;
    }
}

void FrameReader::finish_landing(const Owner& owner, std::uint32_t& budget) {
    if (budget > 0) --budget;
    if (!owner.given_up.load(std::memory_order_relaxed)) owner.host.placed(owner.cookie, token_, PLEXUS_OK);
}

} // namespace plexus::module
