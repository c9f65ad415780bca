// SPDX-License-Identifier: BSD-3-Clause
// Choosing a method: lists the table of a pointer, changes the order, chooses a method by hand and by a
// policy. After each choice a request shows that the choice is in effect.
//
//     plexus run -n 2 -- choose_method
#include <plexus/plexus.h>

#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <vector>

namespace {

struct Echo {};
inline constexpr plexus::Request<std::string(Echo&, std::string)> say{"echo.say"};

void show(const char* how, const plexus::GlobalPointer<Echo>& far) {
    const std::string answer = far.call(say, "good day").get();
    std::printf("%-24s %s (%s)\n", how, far.method().c_str(), answer.c_str());
}

/// The row with the best bandwidth of those that apply.
std::optional<std::size_t> widest(const std::vector<plexus::RowFacts>& rows) {
    std::optional<std::size_t> best;
    for (std::size_t row = 0; row < rows.size(); ++row)
        if (rows[row].applies && (!best || rows[row].bandwidth > rows[*best].bandwidth)) best = row;
    return best;
}

void choose(plexus::GlobalPointer<Echo> far) {
    for (const plexus::Descriptor& row : far.table())
        std::printf("row: %s, %zu bytes\n", row.method.c_str(), row.bytes.size());
    std::printf("explain: %s\n", far.explain().c_str());
    show("as it came", far);

    plexus::DescriptorTable table = far.table();
    table.prefer({"tcp"});
    far.set_table(table);
    show("reordered", far);

    table.prefer({"shm", "tcp"});
    far.set_table(table);
    show("back again", far);

    far.use("tcp", {{"sndbuf", "256 KiB"}});
    show("by hand", far);

    far.use(widest);
    show("by policy", far);

    far.use(plexus::automatic);
    show("automatic", far);

    try {
        far.use("carrier_pigeon");
        show("impossible", far);
    } catch (const plexus::Error& error) { std::printf("refused: %s\n", error.what()); }
    far.use(plexus::automatic);
    show("automatic again", far);
}

int run(int argc, char** argv) {
    plexus::Context here{argc, argv};
    Echo echo;
    plexus::Bound<Echo> bound;
    if (here.rank() == 0) {
        here.on(say, [](Echo&, const std::string& words) { return words + " to you"; });
        bound = here.bind(echo);
        here.publish("echo", bound.pointer());
    } else {
        choose(here.lookup<Echo>("echo").get());
    }
    here.fence().get();
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "choose_method: %s\n", error.what());
        return 1;
    }
}
