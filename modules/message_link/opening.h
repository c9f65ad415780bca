// SPDX-License-Identifier: BSD-3-Clause
// How the two ends of a link meet: hello, answer and confirm, each signed with the job's key.
// Bytes in, bytes out; the link moves them. Nothing of the peer's is believed before its proof.
// Not thread-safe.
#pragma once

#include "message_link/wire.h"

#include <string>

namespace plexus::message_link {

class Opening {
  public:
    /// What became of a message of the peer's: PLEXUS_OK, or the status and the sentence with
    /// which the link ends. PLEXUS_AGAIN: the message proves nothing and changes nothing.
    struct Verdict {
        std::int32_t status = PLEXUS_OK;
        const char* why = "";
    };

    /// The side that connects to `peer`: its hello comes first.
    Opening(const plexus_host& host, const plexus_id& peer);
    /// The side that accepts.
    explicit Opening(const plexus_host& host);

    Bytes hello(const End& mine, ByteView descriptor);
    Verdict take_answer(ByteView message, Answer& answer);
    Bytes confirm(bool sees);

    /// A stranger's: AGAIN, and it gets no answer. WRONG_PEER: send the answer, then end.
    Verdict take_hello(ByteView message, Hello& hello);
    Bytes answer(const End& mine, bool sees);
    Verdict take_confirm(ByteView message, Confirm& confirm);

    /// Who the peer proved to be.
    const plexus_id& peer() const noexcept { return handshake_.peer(); }

  private:
    const plexus_host* host_;
    module::Handshake handshake_;
};

} // namespace plexus::message_link
