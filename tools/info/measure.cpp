// SPDX-License-Identifier: BSD-3-Clause
#include "tools/info/measure.h"

#include "tools/benchmark/cores.h"
#include "tools/benchmark/progress.h"
#include "tools/common/quantity.h"
#include "tools/info/measure_report.h"
#include "tools/info/trials.h"
#include "tools/verb.h"

#include "plexus/error.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace plexus::tools {

namespace {

struct Present {
    std::vector<std::string> wanted;  ///< the entries of the list of methods
    std::vector<Subject> subjects;    ///< a row of the context's table each
    std::vector<std::string> rowless; ///< methods that reach others only: nothing reaches a trial by them
    std::vector<Measured> refused;
};

/// Asks a context that has ended when this returns, so that the context does not disturb the measurement.
Present what_is_here(const CommandLine& line) {
    const Context here = line.start();
    Present present;
    for (const SettingReport& each : here.settings())
        if (each.key == "methods") present.wanted = split_list(each.value);
    std::vector<std::string> rows;
    for (const Descriptor& row : here.table()) rows.push_back(row.method);
    const std::vector<std::string> names = names_of_rows(rows, present.wanted);
    for (const std::string& name : names)
        present.subjects.push_back(
            {name, fmt::format("{}", fmt::join(list_of({name}, names, present.wanted), ", "))});
    for (const LaneReport& lane : here.lanes())
        if (!here.table().find(lane.method))
            present.rowless.push_back(names_of_rows({lane.method}, present.wanted).front());
    for (const RefusedModule& each : here.refused())
        present.refused.push_back({each.what, false, {}, each.why});
    return present;
}

std::string where_it_runs() {
    const auto cores = benchmark::choose_cores(1);
    return cores ? fmt::format("cores {} and {}", cores->near.front(), cores->far.front())
                 : "both on one core, so that the figures say little";
}

/// The settings of this command line, for the trials.
std::vector<std::string> settings_of(const CommandLine& line) {
    std::vector<std::string> words;
    for (const auto& [key, value] : line.settings()) words.insert(words.end(), {"--set", key + "=" + value});
    const std::vector<const char*> ours = line.plexus_arguments();
    words.insert(words.end(), ours.begin() + 1, ours.end());
    return words;
}

/// An existing file may be somebody's whole configuration: it is not replaced. A new `plexus.toml` takes
/// effect for every program that starts in its folder: so the file has another name until it is whole, and
/// does not exist before there is something to write.
class NewFile {
  public:
    explicit NewFile(std::string path)
      : path_(std::move(path)) {
        if (path_.empty()) return;
        if (struct stat there{}; ::lstat(path_.c_str(), &there) == 0) exists();
        const std::string folder = std::filesystem::path(path_).parent_path().string();
        if (::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0) fail();
    }

    void write(const std::string& text) const {
        if (path_.empty()) return;
        const std::string draft = fmt::format("{}.{}.new", path_, ::getpid());
        const int fd = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        std::FILE* const file = fd < 0 ? nullptr : ::fdopen(fd, "w");
        if (file == nullptr) fail();
        const bool written = std::fputs(text.c_str(), file) >= 0;
        if (std::fclose(file) != 0 || !written) {
            const int why = errno;
            ::unlink(draft.c_str());
            errno = why;
            fail();
        }
        give_name(draft);
    }

  private:
    /// rename() would replace a file that somebody else has created meanwhile; link() does not.
    void give_name(const std::string& draft) const {
        int result = ::link(draft.c_str(), path_.c_str());
        const bool no_links = result != 0 && (errno == EPERM || errno == EOPNOTSUPP); // FAT and the like
        if (no_links) result = ::rename(draft.c_str(), path_.c_str());
        const int why = errno;
        ::unlink(draft.c_str());
        errno = why;
        if (result != 0 && why == EEXIST) exists();
        if (result != 0) fail();
    }
    [[noreturn]] void exists() const {
        throw Error(Status::busy, fmt::format("{} exists already and stays as it is: give --output another "
                                              "name, and paste from there",
                                              path_));
    }
    [[noreturn]] void fail() const {
        throw Error(Status::not_found,
                    fmt::format("{} can't be written: {}", path_, std::generic_category().message(errno)));
    }
    std::string path_;
};

} // namespace

int measure(const CommandLine& line, const std::string& output) {
    const NewFile file(output); // a path that cannot be written is reported before the work
    const Present present = what_is_here(line);
    Findings findings;
    findings.version = PLEXUS_VERSION;
    findings.where = where_it_runs();
    findings.wanted = present.wanted;
    {
        benchmark::Progress progress;
        findings.methods =
            measure_each(present.subjects, settings_of(line), [&](const std::string& method, std::size_t at) {
                progress.show(fmt::format("measuring {}, {} of {}", method, at + 1, present.subjects.size()));
            });
    }
    findings.methods.insert(findings.methods.end(), present.refused.begin(), present.refused.end());
    findings.ranges = recommend(findings.methods);
    for (Range& range : findings.ranges) // they stay, and last: others are reached by nothing else
        range.methods.insert(range.methods.end(), present.rowless.begin(), present.rowless.end());
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
