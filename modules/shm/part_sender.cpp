// SPDX-License-Identifier: BSD-3-Clause
#include "shm/part_sender.h"

#include "base/sealed_memory.h"
#include "common/pieces.h"
#include "common/system_text.h"
#include "shm/socket.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <unistd.h>

namespace plexus::shm {

namespace {

// `size` bytes of the pieces from `offset` on; they have that many. By the kernel: it answers EFAULT where
// the process would die, because the pieces are not there any more. False: errno says why.
bool write_part(int fd, const std::vector<plexus_view>& pieces, std::uint64_t offset, std::uint64_t size) {
    off_t at = 0;
    for (const plexus_view& piece : pieces) {
        std::uint64_t done = std::min<std::uint64_t>(offset, piece.size);
        offset -= done;
        while (done < piece.size && size > 0) {
            const ssize_t written = ::pwrite(fd, static_cast<const std::byte*>(piece.data) + done,
                                             std::min<std::uint64_t>(size, piece.size - done), at);
            if (written < 0) return false;
            done += static_cast<std::uint64_t>(written);
            size -= static_cast<std::uint64_t>(written);
            at += written;
        }
    }
    return true;
}

// Sends those bytes to the peer in memory of their own. Returns 0, or the error.
int send_part(int socket, const std::vector<plexus_view>& pieces, std::uint64_t offset, std::uint64_t size) {
    UniqueFd fd;
    if (!SealedMemory::create("plexus part", size, fd) || !write_part(fd.get(), pieces, offset, size))
        return errno;
    const int fds[] = {fd.get()};
    return send_packet(socket, kPartPacket, fds) ? 0 : errno;
}

// `cma = off` does not help against EFAULT: the bytes would be copied from the same addresses.
std::string text_of_loss(int reason) {
    return "a message that the peer can't read is lost: copying the message failed (" +
           module::system_text(reason) + "); " +
           (reason == EFAULT ? "keep what is sent mapped until it is delivered"
                             : "raise the process's limits, or set cma = off");
}

} // namespace

// Pairs with the store in Receiver::ask. A peer that asks for nothing that was posted gets no answer.
bool PartSender::is_asked() const noexcept {
    return !posted_.is_empty() && out_->asked.load(std::memory_order_seq_cst) != answered_;
}

void PartSender::answer() {
    answered_ = out_->asked.load(std::memory_order_seq_cst);
    if (message_ != posted_.ended()) {
        message_ = posted_.ended();
        end_ = 0;
    }
    const std::vector<plexus_view>& pieces = posted_.oldest().rest;
    const std::uint64_t whole = module::size_of(pieces);
    const std::uint64_t from = out_->wanted_from.load(std::memory_order_relaxed);
    // No receiver asks for what has come, what is lost, or what there is not.
    if (from < end_) return;
    if (from >= whole) return;
    const std::uint64_t size = std::min(whole - from, kMostPart);
    end_ = from + size;
    const int reason = send_part(socket_, pieces, from, size);
    if (reason == 0) return;
    end_ = whole;
    if (send_packet(socket_, kLostPacket)) host_.log(host_.self, PLEXUS_ERROR, text_of_loss(reason).c_str());
}

} // namespace plexus::shm
