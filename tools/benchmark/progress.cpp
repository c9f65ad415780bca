// SPDX-License-Identifier: BSD-3-Clause
#include "tools/benchmark/progress.h"

#include <csignal>
#include <unistd.h>
#include <utility>

namespace plexus::tools::benchmark {

namespace {

void write_text(const std::string& text) {
    // Nothing depends on what a full terminal does not show.
    if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

constexpr char kStuck[] = "plexus bench: no round has ended for a minute, so it ends here: the messages do "
                          "not come, or take too long. "
                          "PLEXUS_LOG=debug shows what the runtime does meanwhile.\n";

extern "C" void stuck(int) {
    if (::write(STDERR_FILENO, kStuck, sizeof kStuck - 1) < 0) ::_exit(3);
    ::_exit(3);
}

} // namespace

Progress::Progress(unsigned patience_seconds)
  : patience_seconds_(patience_seconds)
  , shows_(::isatty(STDERR_FILENO) == 1) {
    std::signal(SIGTTOU, SIG_IGN); // a job's processes are in the background, and may write all the same
    std::signal(SIGALRM, stuck);
    ::alarm(patience_seconds_);
}

Progress::~Progress() {
    ::alarm(0);
    clear();
}

void Progress::show(const std::string& what) {
    ::alarm(patience_seconds_);
    if (!shows_) return;
    write_text("\r\x1b[K" + what);
    shown_ = true;
}

void Progress::clear() {
    if (std::exchange(shown_, false)) write_text("\r\x1b[K");
}

} // namespace plexus::tools::benchmark
