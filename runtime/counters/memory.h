// SPDX-License-Identifier: BSD-3-Clause
// Memory that a process shares under a descriptor: other processes of its user open it by
// /proc/PID/fd/N, and the system frees it when the last of them has ended, however that was. Its size is
// sealed, so that nobody can pull it away from under a reader.
#pragma once

#include "base/result.h"
#include "base/sealed_memory.h"
#include "base/unique_fd.h"
#include "counters/layout.h"

#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace plexus::counters {

class Memory {
  public:
    /// All zero; nobody but this user may open it. @error runtime_lost what the system says
    static Result<Memory> create(std::size_t words);
    /// Another's, of which the header alone is mapped. @error not_found it is no such memory, or is gone
    /// @error runtime_lost this process has no descriptor or no memory left for it
    static Result<Memory> open(const std::string& path);

    Header& header() const noexcept { return *mapped_.at<Header>(0); }
    /// Of memory that was made here.
    Word& word(std::size_t index) const noexcept { return mapped_.at<Word>(0)[index]; }
    /// A copy of all of it. What is written meanwhile is there or not, word by word.
    /// @error peer_lost what the system says
    Result<std::vector<std::uint64_t>> copy() const;
    /// Whether it is what stat(2) names so.
    bool is(dev_t device, ino_t number) const noexcept;

  private:
    Memory(UniqueFd fd, SealedMemory mapped, std::size_t words) noexcept
      : fd_(std::move(fd))
      , mapped_(std::move(mapped))
      , words_(words) {}

    UniqueFd fd_;
    SealedMemory mapped_; ///< all words, or the header
    std::size_t words_;
};

} // namespace plexus::counters
