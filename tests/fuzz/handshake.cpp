// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: both sides of the handshake over records that somebody between them changed, who may hold
// the key or not. Who does not hold it gets no further than a changed bit; who does never makes one side take
// it for another context than it names.
#include "plexus/module/handshake.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string_view>
#include <vector>

namespace {

using plexus::module::Handshake;
using Record = std::vector<std::uint8_t>;

void require(bool holds) {
    if (!holds) std::abort();
}

/// A host with a key and bytes that are the same in every run.
struct Host {
    Host(std::uint8_t who, std::uint8_t key_byte)
      : key{key_byte}
      , state(who) {
        table.self = this;
        std::memset(table.id.bytes, who, sizeof table.id.bytes);
        table.random = [](void* self, void* data, std::size_t size) {
            auto& host = *static_cast<Host*>(self);
            for (std::size_t i = 0; i < size; ++i) {
                host.state = host.state * 6364136223846793005U + 1442695040888963407U;
                static_cast<std::uint8_t*>(data)[i] = static_cast<std::uint8_t>(host.state >> 56);
            }
        };
        table.hmac = [](void* self, plexus_view text, std::uint8_t proof[32]) -> std::int32_t {
            const auto& host = *static_cast<const Host*>(self);
            unsigned size = 0;
            const auto* made = ::HMAC(::EVP_sha256(), host.key, sizeof host.key,
                                      static_cast<const unsigned char*>(text.data), text.size, proof, &size);
            return made != nullptr ? PLEXUS_OK : PLEXUS_UNSUPPORTED;
        };
    }
    plexus_host table{};
    std::uint8_t key[16];
    std::uint64_t state;
};

class Input {
  public:
    Input(const std::uint8_t* data, std::size_t size)
      : data_(data)
      , size_(size) {}
    std::uint8_t next() { return at_ < size_ ? data_[at_++] : std::uint8_t{0}; }
    bool at_end() const { return at_ >= size_; }

  private:
    const std::uint8_t* data_;
    std::size_t size_;
    std::size_t at_ = 0;
};

/// Changes some bytes, as the input says. True if any differs afterwards.
bool change(Input& in, Record& record) {
    const Record before = record;
    for (unsigned edits = in.next() % 8; edits > 0 && !in.at_end(); --edits) {
        const std::size_t at = in.next() % record.size();
        record[at] = static_cast<std::uint8_t>(record[at] ^ in.next());
    }
    return record != before;
}

void prove_again(const Host& host, std::string_view purpose, const Record& before, Record& record) {
    Record text(purpose.begin(), purpose.end());
    text.push_back(0);
    text.insert(text.end(), before.begin(), before.end());
    text.insert(text.end(), record.begin(), record.end() - 32);
    require(host.table.hmac(host.table.self, {text.data(), text.size()}, &*(record.end() - 32)) == PLEXUS_OK);
}

/// A whole exchange with changes on the way. `member`: who makes them holds the key, and proves again.
void exchange(Input& in, bool member) {
    Host a(1, 7);
    Host b(2, 7);
    auto near = Handshake::connecting(a.table, b.table.id, 5);
    auto far = Handshake::accepting(b.table, 6);

    const Record said = near.take_outgoing();
    Record hello = said;
    if (change(in, hello) && member) prove_again(a, "plexus hello", {}, hello);
    const bool hello_changed = hello != said;
    const std::int32_t heard = far.feed(hello);
    Record answer = far.take_outgoing();
    if (!hello_changed) require(heard == PLEXUS_AGAIN);
    if (hello_changed && !member) require(heard == PLEXUS_DENIED && answer.empty());
    if (heard == PLEXUS_AGAIN) require(std::memcmp(hello.data() + 24, b.table.id.bytes, 16) == 0);
    if (answer.empty()) return;

    const Record given = answer;
    if ((change(in, answer) || hello_changed) && member) prove_again(b, "plexus answer", said, answer);
    const bool answer_changed = answer != given;
    const std::int32_t answered = near.feed(answer);
    Record confirm = near.take_outgoing();
    if (!hello_changed && !answer_changed) require(answered == PLEXUS_OK);
    if (answered == PLEXUS_OK) {
        require(answer[0] == 0 && std::memcmp(answer.data() + 3, b.table.id.bytes, 16) == 0);
        require(near.peer_version() == Handshake::kVersion);
        require(member || (!answer_changed && !hello_changed));
    }
    if (confirm.empty()) return require(answered != PLEXUS_OK);
    require(answered == PLEXUS_OK);

    const bool confirm_changed = change(in, confirm);
    const std::int32_t verdict = far.feed(confirm);
    const bool untouched = !hello_changed && !answer_changed && !confirm_changed;
    if (untouched)
        require(verdict == PLEXUS_OK && far.peer_max_message() == 5 && near.peer_max_message() == 6);
    if (verdict == PLEXUS_OK) require(untouched && far.peer().bytes[0] == 1);
    require(far.wanted_bytes() == 0 || heard != PLEXUS_AGAIN);
}

/// Records of any content and length, to both sides, without a proof.
void noise(Input& in) {
    Host a(1, 7);
    Host b(2, 8);
    auto near = Handshake::connecting(a.table, b.table.id);
    auto far = Handshake::accepting(b.table);
    for (Handshake* side : {&near, &far}) {
        (void)side->take_outgoing();
        Record record(in.next() % 4 == 0 ? in.next() : side->wanted_bytes());
        for (std::uint8_t& byte : record) byte = in.next();
        const std::int32_t verdict = side->feed(record);
        require(verdict == PLEXUS_DENIED || verdict == PLEXUS_BAD_ARGUMENT);
        require(side->take_outgoing().empty());
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Input in(data, size);
    switch (in.next() % 3) {
    case 0:
        exchange(in, false);
        break;
    case 1:
        exchange(in, true);
        break;
    default:
        noise(in);
    }
    return 0;
}
