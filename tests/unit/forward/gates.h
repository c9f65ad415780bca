// SPDX-License-Identifier: BSD-3-Clause
// Forwarders that can be killed.
#pragma once

#include "sites.h"
#include "support/process.h"
#include "unit/context/key_file.h"

#include <fstream>
#include <optional>
#include <string>
#include <unistd.h>

namespace plexus::testing {

/// A forwarder in a process of its own.
class Gate {
  public:
    /// Whose process is there and waits for listen_at().
    struct Later {};

    Gate(const KeyFile& key, const std::string& name, Values more = {})
      : Gate(key, name, std::move(more), false) {}
    Gate(const KeyFile& key, const std::string& name, Later)
      : Gate(key, name, {}, true) {}
    void listen_at(const std::string& url) { process_.channel().put(std::as_bytes(std::span(url))); }
    std::string url() { return text_from(process_.channel(), kLimit).value_or(""); }
    /// Bytes of memory that the process has in use.
    std::uint64_t resident() const {
        std::ifstream statm("/proc/" + std::to_string(process_.pid()) + "/statm");
        std::uint64_t all = 0;
        std::uint64_t pages = 0;
        statm >> all >> pages;
        return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    }
    const std::string& name() const noexcept { return name_; }
    Process& process() noexcept { return process_; }

  private:
    Gate(const KeyFile& key, const std::string& name, Values more, bool later)
      : name_(name)
      , process_([=, path = key.path()](Channel& channel) mutable {
          if (later) {
              const auto url = text_from(channel, 10 * kLimit);
              if (!url) return 1;
              more.emplace("listen", *url);
          }
          more.emplace("job.key_file", path);
          Context context(gate_options(name, std::move(more)));
          const std::string url = context.url();
          channel.put(std::as_bytes(std::span(url)));
          context.run();
          return 0;
      }) {}
    static std::optional<std::string> text_from(Channel& channel, std::chrono::milliseconds limit) {
        const auto bytes = channel.take(limit);
        if (!bytes) return std::nullopt;
        return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    }

    const std::string name_;
    Process process_;
};

} // namespace plexus::testing
