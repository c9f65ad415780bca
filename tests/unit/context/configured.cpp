// SPDX-License-Identifier: BSD-3-Clause
// What a context makes of its configuration: who wins, what is only warned of, and its name.
#include "contexts.h"
#include "support/tmpdir.h"

#include <algorithm>
#include <cstdlib>

namespace configured_test {

using namespace plexus;
using namespace plexus::testing;

std::string value_and_origin(const Context& context, std::string_view key) {
    for (const SettingReport& setting : context.settings())
        if (setting.key == key) return setting.value + " by " + setting.origin;
    return "unknown";
}

/// A variable for the time of a test.
class Variable {
  public:
    Variable(const char* name, const char* value)
      : name_(name) {
        ::setenv(name, value, 1);
    }
    ~Variable() { ::unsetenv(name_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

  private:
    const char* name_;
};

TEST_CASE("operators override what a program suggests, but not what it sets") {
    const TmpDir folder;
    Options options;
    options.file = folder.file("site.toml", "limits.calls = 77\nlimits.retain = \"2 MiB\"\n");
    options.set = {{"limits.retain", "1 MiB"}};
    options.defaults = {{"methods", "local, shm"},
                        {"limits.calls", "11"},
                        {"limits.retain", "3 MiB"},
                        {"handlers.threads", "5"},
                        {"progress.spin", "7 us"}};
    const Variable variable("PLEXUS_HANDLERS_THREADS", "3");
    const char* arguments[] = {"program", "--plexus-progress.spin=9 us"};
    const Context context(2, arguments, options);
    CHECK(value_and_origin(context, "limits.calls") == "77 by " + options.file + ":1");
    CHECK(value_and_origin(context, "limits.retain") == "1 MiB by program");
    CHECK(value_and_origin(context, "handlers.threads") == "3 by PLEXUS_HANDLERS_THREADS");
    CHECK(value_and_origin(context, "progress.spin") == "9 us by --plexus-progress.spin");
    CHECK(value_and_origin(context, "methods") == "local, shm by default of the program");
    CHECK(context.lanes().size() == 2);
}

TEST_CASE("a mistake in what a program suggests stops the start and says whose it is") {
    Options options = by("shm");
    options.defaults = {{"limits.cals", "1"}};
    Refusal refusal = refusal_of([&] { return Context(options).id(); });
    CHECK(refusal.status == Status::bad_config);
    CHECK(refusal.says("default of the program"));
    CHECK(refusal.says("limits.calls"));
    options = by("shm");
    options.set.erase("methods");
    options.defaults = {{"methods", "shn, tcp"}};
    refusal = refusal_of([&] { return Context(options).id(); });
    CHECK(refusal.status == Status::bad_config);
    CHECK(refusal.says("\"shm\""));
}

TEST_CASE("another program's variable is warned of, and a slip of ours stops the start") {
    {
        const auto warning = expect_warning("PLEXUS_WEATHER: no setting has this name");
        const Variable variable("PLEXUS_WEATHER", "sunny");
        CHECK(Context(by("shm")).size() >= 1);
        CHECK(warning.count() == 1);
    }
    const Variable variable("PLEXUS_METODS", "shm");
    CHECK(refusal_of([] { return Context(by("shm")).id(); }).says("PLEXUS_METHODS"));
}

TEST_CASE("a context knows its name, and has none unless somebody gives one") {
    CHECK(Context(by("shm", {{"name", "solver"}})).name() == "solver");
    CHECK(Context(by("shm")).name().empty());
}

TEST_CASE("where a directory is served for other hosts, methods listen for them") {
    const auto listens = [](Values more) {
        return value_and_origin(Context(by("tcp", std::move(more))), "method.tcp.listen");
    };
    CHECK(listens({{"listen", "plexus://0.0.0.0:0"}}) == "all by listen (program)");
    CHECK(listens({{"listen", "plexus://127.0.0.1:0"}}) == "loopback by default");
    CHECK(listens({{"listen", "plexus://0.0.0.0:0"}, {"method.tcp.listen", "loopback"}}) ==
          "loopback by program");
}

} // namespace configured_test
