// SPDX-License-Identifier: BSD-3-Clause
#include "zstd/codec.h"

#include <algorithm>
#include <zstd.h>

namespace plexus::zstd {

Packer::Packer(int level)
  : context_(ZSTD_createCCtx()) {
    if (context_ == nullptr) return;
    ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(context_, ZSTD_c_checksumFlag, 1); // a damaged frame shall not pass for a message
}

Packer::~Packer() { ZSTD_freeCCtx(context_); }

std::optional<std::size_t> Packer::pack(Pieces pieces, std::size_t head, std::span<std::byte> out) {
    if (context_ == nullptr) return std::nullopt;
    // The usual message: a head, and one piece with the rest.
    if (pieces.size() == 2 && pieces[0].size == head) {
        const std::size_t done =
            ZSTD_compress2(context_, out.data(), out.size(), pieces[1].data, pieces[1].size);
        return ZSTD_isError(done) ? std::nullopt : std::optional(done);
    }
    return pack_pieces(pieces, head, out);
}

std::optional<std::size_t> Packer::pack_pieces(Pieces pieces, std::size_t head, std::span<std::byte> out) {
    ZSTD_CCtx_reset(context_, ZSTD_reset_session_only);
    ZSTD_CCtx_setPledgedSrcSize(context_, size_of(pieces) - head);
    ZSTD_outBuffer packed{out.data(), out.size(), 0};
    for (const plexus_view& piece : pieces) {
        const std::size_t skipped = std::min(head, piece.size);
        head -= skipped;
        ZSTD_inBuffer in{static_cast<const std::byte*>(piece.data) + skipped, piece.size - skipped, 0};
        while (in.pos < in.size) {
            const std::size_t left = ZSTD_compressStream2(context_, &packed, &in, ZSTD_e_continue);
            if (ZSTD_isError(left) || (packed.pos == packed.size && in.pos < in.size)) return std::nullopt;
        }
    }
    ZSTD_inBuffer nothing{nullptr, 0, 0};
    const std::size_t left = ZSTD_compressStream2(context_, &packed, &nothing, ZSTD_e_end);
    return left == 0 ? std::optional(packed.pos) : std::nullopt; // more, or an error: it does not fit
}

Unpacker::Unpacker()
  : context_(ZSTD_createDCtx()) {}

Unpacker::~Unpacker() { ZSTD_freeDCtx(context_); }

const char* Unpacker::fault_of(std::span<const std::byte> packed, std::uint64_t bytes) noexcept {
    const unsigned long long held = ZSTD_getFrameContentSize(packed.data(), packed.size());
    if (held == ZSTD_CONTENTSIZE_ERROR) return "it is no zstd frame";
    if (held == ZSTD_CONTENTSIZE_UNKNOWN) return "its zstd frame does not say how many bytes it holds";
    if (held != bytes) return "its zstd frame holds another number of bytes than it claims";
    if (ZSTD_findFrameCompressedSize(packed.data(), packed.size()) != packed.size())
        return "its zstd frame ends elsewhere than the message";
    return nullptr;
}

const char* Unpacker::unpack(std::span<const std::byte> packed, std::span<std::byte> out) noexcept {
    if (context_ == nullptr) return "there is no memory to unpack it";
    if (const char* fault = fault_of(packed, out.size())) return fault;
    const std::size_t done =
        ZSTD_decompressDCtx(context_, out.data(), out.size(), packed.data(), packed.size());
    if (ZSTD_isError(done)) return ZSTD_getErrorName(done); // a constant of the library
    return done == out.size() ? nullptr : "its zstd frame ended early";
}

} // namespace plexus::zstd
