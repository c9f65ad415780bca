// SPDX-License-Identifier: BSD-3-Clause
#include "tools/measure/measure.h"

#include "tools/bench/cores.h"
#include "tools/bench/progress.h"
#include "tools/bench/wish.h"
#include "tools/measure/report.h"
#include "tools/measure/trials.h"
#include "tools/quantity.h"
#include "tools/verb.h"

#include "plexus/error.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <system_error>
#include <unistd.h>

namespace plexus::tools {

namespace {

struct Present {
    std::vector<std::string> methods; ///< with the parameters that the configuration gives them
    std::vector<Measured> refused;
};

/// Asks a context that has ended when this returns: nothing of it disturbs the measurement.
Present present_methods(const CommandLine& line) {
    const Context here = line.start();
    std::string wanted;
    for (const SettingReport& each : here.settings())
        if (each.key == "methods") wanted = each.value;
    Present present;
    for (const LaneReport& lane : here.lanes()) {
        std::string& method = present.methods.emplace_back(lane.method);
        for (const std::string& entry : split_list(wanted))
            if (bench::name_in(entry) == lane.method) method = entry;
    }
    for (const RefusedModule& each : here.refused())
        present.refused.push_back({each.what, false, {}, each.why});
    return present;
}

std::string where_it_runs() {
    const auto cores = bench::choose_cores(1);
    return cores ? fmt::format("cores {} and {}", cores->near.front(), cores->far.front())
                 : "both on one core, so that the figures say little";
}

/// All that the trials need of this command line.
std::vector<std::string> settings_of(const CommandLine& line) {
    std::vector<std::string> words;
    for (const auto& [key, value] : line.settings()) words.insert(words.end(), {"--set", key + "=" + value});
    const std::vector<const char*> ours = line.plexus_arguments();
    words.insert(words.end(), ours.begin() + 1, ours.end());
    return words;
}

/// A file that is there already may be somebody's whole configuration: it stays as it is.
class NewFile {
  public:
    explicit NewFile(std::string path)
      : path_(std::move(path)) {
        if (path_.empty()) return;
        const int fd = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno == EEXIST)
            throw Error(Status::busy,
                        fmt::format("{} exists already and stays as it is: give --output another "
                                    "name, and paste from there",
                                    path_));
        file_ = fd < 0 ? nullptr : ::fdopen(fd, "w");
        if (file_ == nullptr) fail();
    }
    ~NewFile() {
        if (file_ == nullptr) return;
        std::fclose(file_);
        ::unlink(path_.c_str()); // nothing was written
    }
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    void write(const std::string& text) {
        if (file_ == nullptr) return;
        const bool written = std::fputs(text.c_str(), file_) >= 0;
        if (std::fclose(std::exchange(file_, nullptr)) != 0 || !written) fail();
    }

  private:
    [[noreturn]] void fail() const {
        throw Error(Status::not_found,
                    fmt::format("{} can't be written: {}", path_, std::generic_category().message(errno)));
    }
    std::string path_;
    std::FILE* file_ = nullptr;
};

} // namespace

int measure(const CommandLine& line, const std::string& output) {
    NewFile file(output); // before the work, not after it
    const Present present = present_methods(line);
    Findings findings;
    findings.version = PLEXUS_VERSION;
    findings.where = where_it_runs();
    {
        bench::Progress progress;
        findings.methods =
            measure_each(present.methods, settings_of(line), [&](const std::string& method, std::size_t at) {
                progress.show(fmt::format("measuring {}, {} of {}", method, at + 1, present.methods.size()));
            });
    }
    findings.methods.insert(findings.methods.end(), present.refused.begin(), present.refused.end());
    findings.ranges = recommend(findings.methods);
    const bool found = !findings.ranges.empty();
    if (found) file.write(documented_configuration(findings));

    if (line.json()) {
        std::printf("%s\n", to_json(findings).c_str());
    } else {
        std::printf("Plexus %s, two contexts of one machine, %s\n\n", PLEXUS_VERSION, findings.where.c_str());
        table_of(findings).print(stdout);
        std::printf("\n%s, to paste into plexus.toml\n\n%s",
                    found ? "Recommended" : "Nothing could be measured", configuration(findings).c_str());
        if (found && !output.empty()) std::printf("\nWritten to %s\n", output.c_str());
    }
    return found ? kOk : kNo;
}

} // namespace plexus::tools
