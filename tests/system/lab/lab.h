// SPDX-License-Identifier: BSD-3-Clause
// `plexus lab` with small networks for tests, and whether this machine allows it at all.
#pragma once

#include "support/catch.h"
#include "support/tmpdir.h"
#include "system/launcher/command.h"

#include <cstdlib>
#include <string>

namespace plexus::testing {

inline const std::string kOneSwitch = R"(
[[segment]]
name = "net"
rate = "20 Mb/s"
delay = "5 ms"
hosts = ["h1", "h2"]
)";

inline const std::string kFastSwitch = R"(
[[segment]]
name = "net"
rate = "1 Gb/s"
delay = "100 us"
hosts = ["h1", "h2"]
)";

inline const std::string kOneWire = R"(
[[segment]]
name = "net"
kind = "shared"
rate = "10 Mb/s"
hosts = ["h1", "h2", "h3", "h4"]
)";

/// A network's file, for as long as the object lives.
class NetworkFile {
  public:
    explicit NetworkFile(const std::string& text)
      : path_(folder_.file("net.toml", text).string()) {}
    const std::string& path() const noexcept { return path_; }

  private:
    TmpDir folder_;
    std::string path_;
};

inline std::string helper() {
    const char* path = std::getenv("TESTED_HELPER");
    return path == nullptr ? "TESTED_HELPER is not set" : path;
}

/// `plexus lab FILE OPTIONS -- PROGRAM`.
inline Words lab_words(const NetworkFile& network, Words options, const Words& program) {
    options.insert(options.begin(), {"lab", network.path()});
    options.emplace_back("--");
    options.insert(options.end(), program.begin(), program.end());
    return options;
}

/// Why this machine has no labs; empty if it has.
inline const std::string& why_no_labs() {
    static const std::string why = [] {
        const NetworkFile network(kOneSwitch);
        Command lab(lab_words(network, {"--quiet"}, {"true"}));
        return lab.wait() == 77 ? "this machine allows no labs: " + lab.err() : std::string();
    }();
    return why;
}

} // namespace plexus::testing

#define NEEDS_LABS()                                                                                         \
    do {                                                                                                     \
        if (!::plexus::testing::why_no_labs().empty()) SKIP_TEST(::plexus::testing::why_no_labs());          \
    } while (false)
