// SPDX-License-Identifier: BSD-3-Clause
// The program of the sites' test: rank 0 asks each other rank to count the letters of a text, and each rank
// looks at what its host's network cards carried meanwhile. Prints, a line for each fact:
//   rank 0 reaches rank 1 by tcp        rank 0 to rank 2: tcp: only within …
//   rank 1 captured 240 frames, 120 with the text
#include "plexus/plexus.h"
#include "system/lab/capture.h"

#include <cstdio>
#include <string>

namespace {

struct Desk {};
constexpr plexus::Request<std::size_t(Desk&, std::string)> count_letters{"crossing.count_letters"};
constexpr char kSecret[] = "this text may be read inside of a site only; ";

std::string name_of(std::uint32_t rank) { return "desk of rank " + std::to_string(rank); }

void ask(plexus::Context& here, std::uint32_t other) {
    auto far = here.lookup<Desk>(name_of(other)).get();
    std::string text;
    while (text.size() < 20000) text += kSecret;
    std::size_t letters = 0;
    for (int i = 0; i < 5; ++i) letters += far.call(count_letters, text).get();
    std::printf("rank 0 reaches rank %u by %s%s\n", other, far.method().c_str(),
                letters == 5 * text.size() ? "" : ", wrongly");
    try {
        far.use("tcp");
    } catch (const plexus::Error& error) { std::printf("rank 0 to rank %u: %s\n", other, error.what()); }
}

} // namespace

int main(int argc, char** argv) {
    plexus::testing::Capture capture;
    plexus::Context here(argc, argv);
    Desk desk;
    here.on(count_letters, [](Desk&, const std::string& text) { return text.size(); });
    const auto bound = here.bind(desk);
    here.publish(name_of(here.rank()), bound.pointer());
    here.fence().get();
    if (here.rank() == 0)
        for (std::uint32_t other = 1; other < here.size(); ++other) ask(here, other);
    here.fence().get();
    std::size_t frames = 0;
    std::size_t readable = 0;
    capture.each([&](std::string_view frame) {
        ++frames;
        if (frame.find(kSecret) != frame.npos) ++readable;
    });
    std::printf("rank %u captured %zu frames, %zu with the text\n", here.rank(), frames, readable);
    here.fence().get();
}
