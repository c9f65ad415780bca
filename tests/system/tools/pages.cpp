// SPDX-License-Identifier: BSD-3-Clause
#include "system/tools/pages.h"

#include "support/catch.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace plexus::testing {
namespace {

Words as_job(const Words& program) {
    Words words{"run", "-n", "1", "--no-prefix", "--"};
    words.insert(words.end(), program.begin(), program.end());
    return words;
}

} // namespace

std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

void check_alone(std::string text) {
    for (const std::string own : {"http://www.w3.org/2000/svg", "href=\"#"}) // a name, and places in the page
        for (std::size_t at = 0; (at = text.find(own)) != text.npos;) text.erase(at, own.size());
    for (const char* link : {"http:", "https:", " src=", "@import", "href=", "fetch(", "url(\"", "//cdn"})
        CHECK(text.find(link) == std::string::npos);
}

bool is_there(const std::string& program) {
    return std::system(("command -v " + program + " > /dev/null 2>&1").c_str()) == 0;
}

std::string output_of(const Words& program) {
    Command job(as_job(program));
    CHECK(job.wait(60s) == 0);
    INFO(job.err());
    return job.out();
}

std::string root_of_xml(const std::string& path) {
    return output_of({"python3", "-c",
                      "import sys, xml.dom.minidom as x; print(x.parse(sys.argv[1]).documentElement.tagName)",
                      path});
}

std::optional<std::string> find_browser() {
    const std::string browser = is_there("chromium") ? "chromium" : "chromium-browser";
    if (!is_there(browser) || Command(as_job({browser, "--version"})).wait(60s) != 0) return std::nullopt;
    return browser;
}

std::string page_in_browser(const std::string& browser, const TmpDir& folder, const std::string& address) {
    return output_of({browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                      "--user-data-dir=" + (folder / "browser").string(), "--virtual-time-budget=3000",
                      "--dump-dom", "file://" + address});
}

} // namespace plexus::testing
