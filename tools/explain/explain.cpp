// SPDX-License-Identifier: BSD-3-Clause
// `plexus explain`: by which method requests would travel from here to the context behind a URL, a saved
// table or a saved pointer, and why not by the other methods. Nothing is sent to that context; only a
// URL's directory is asked.
#include "tools/common/command_line.h"
#include "tools/common/json.h"
#include "tools/common/table_file.h"
#include "tools/common/text_table.h"
#include "tools/verb.h"

#include "plexus/error.h"
#include "plexus/pointer.h"

#include <chrono>
#include <cstdio>
#include <fmt/format.h>

namespace plexus::tools {
namespace {

/// Stands for objects whose type does not matter here.
struct Anything {};

constexpr char kExplainFooter[] =
    "URL is plexus://host:port, where a context serves a directory; NAME one of the names\n"
    "published there (default: the serving context itself). A table is what plexus info\n"
    "--table writes, a pointer what GlobalPointer::save() gives.";

/// The name under which a context that serves a directory publishes itself.
constexpr const char* kServer = "plexus.server";

struct ExplainOptions {
    std::string url;
    std::string name = kServer;
    std::string table;
    std::string pointer;
};

DescriptorTable pointer_in(Context& here, const std::string& path, const std::vector<std::byte>& bytes) {
    try {
        return GlobalPointer<Anything>::load(here, bytes).table();
    } catch (const Error& error) {
        throw Error(error.status(), fmt::format("{} holds no saved pointer: {}", path, error.what()));
    }
}

DescriptorTable table_in(Context& here, const std::string& path) {
    const std::vector<std::byte> bytes = read_file(path);
    const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    std::string why;
    if (auto table = read_table(text, &why)) return *table;
    // A saved pointer contains its table, and is no text.
    if (text.find('\0') != text.npos) return pointer_in(here, path, bytes);
    throw Error(Status::bad_archive, fmt::format("{} holds no table: {}", path, why));
}

DescriptorTable published(Context& here, const ExplainOptions& options) {
    constexpr std::chrono::seconds kPatience{5};
    auto found = here.lookup<Anything>(options.name);
    if (!found.wait_for(kPatience))
        throw Error(Status::not_found, fmt::format("nobody has published \"{}\" at {} within {} s",
                                                   options.name, options.url, kPatience.count()));
    return found.get().table();
}

void print(const Choice& choice, const std::string& what) {
    std::printf("From here to %s: %s\n\n", what.c_str(),
                choice.row ? choice.trail[*choice.row].method.c_str() : "no method applies");
    TextTable table({"row", "method", "applies", "because"}, 4);
    for (const Verdict& each : choice.trail)
        table.add({std::to_string(table.rows() + 1), each.method, each.applies ? "yes" : "no", each.because});
    table.print(stdout);
}

std::string to_json(const Choice& choice, const std::string& what) {
    std::vector<std::string> rows;
    for (const Verdict& each : choice.trail)
        rows.push_back(json::Object()
                           .add("method", each.method)
                           .add("applies", each.applies)
                           .add("because", each.because)
                           .text());
    json::Object out;
    out.add("to", what);
    if (choice.row) {
        out.add("method", choice.trail[*choice.row].method).add("row", *choice.row + 1);
    } else {
        out.raw("method", "null").raw("row", "null");
    }
    return out.raw("rows", json::list(rows)).text();
}

} // namespace

int explain(int count, char** arguments) {
    CommandLine line("explain",
                     "Says by which method requests would travel from here, and why not by the others.",
                     "URL | --table FILE | --pointer FILE [OPTIONS]", kExplainFooter);
    ExplainOptions options;
    line.app()
        .add_option("url", options.url, "Where a context serves a directory: plexus://host:port")
        ->type_name("URL");
    line.app().add_option("--name", options.name, "With a URL: whom to explain")->type_name("NAME");
    line.app().add_option("--table", options.table, "A saved descriptor table")->type_name("FILE");
    line.app().add_option("--pointer", options.pointer, "A saved pointer")->type_name("FILE");
    if (!line.parse(count, arguments)) return kOk;
    if (!options.url.empty() + !options.table.empty() + !options.pointer.empty() != 1)
        usage_error("explain", "one of URL, --table and --pointer says what to explain");
    if (options.url.empty() && line.app().count("--name") > 0)
        usage_error("explain", "--name goes with a URL");

    Options more;
    more.url = options.url;
    Context here = line.start(std::move(more));
    DescriptorTable table;
    std::string what;
    if (!options.table.empty()) {
        table = table_in(here, options.table);
        what = "the owner of the table in " + options.table;
    } else if (!options.pointer.empty()) {
        table = pointer_in(here, options.pointer, read_file(options.pointer));
        what = "the owner of the pointer in " + options.pointer;
    } else {
        table = published(here, options);
        what = options.name == kServer ? options.url : fmt::format("{} at {}", options.name, options.url);
    }
    const Choice choice = here.explain(table);
    if (line.json()) {
        std::printf("%s\n", to_json(choice, what).c_str());
    } else {
        print(choice, what);
    }
    return choice.row ? kOk : kNo;
}

} // namespace plexus::tools
