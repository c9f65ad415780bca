// SPDX-License-Identifier: BSD-3-Clause
// The grammar of method lists.
#include "method/list.h"
#include "support/catch.h"

#include <random>

namespace list_test {

using namespace plexus;
using namespace plexus::method;

namespace {

std::string refusal(std::string_view text) {
    const auto list = parse_list(text);
    return list ? "accepted" : list.failure().why;
}

std::vector<std::string> order(std::string_view list, const std::vector<std::string>& available) {
    return names_of(apply_list(parse_list(list).value(), available));
}

using Names = std::vector<std::string>;

} // namespace

TEST_CASE("a list is an order with parameters and exclusions") {
    const auto list = parse_list("shm, ucx?tls=rc&net = ib0 ,^libfabric,tcp").value();
    CHECK(list == std::vector<ListItem>{{"shm", {}, false},
                                        {"ucx", {{"net", "ib0"}, {"tls", "rc"}}, false},
                                        {"libfabric", {}, true},
                                        {"tcp", {}, false}});
    CHECK(names_of(list) == Names{"shm", "ucx", "^libfabric", "tcp"});
    CHECK(parse_list("").value().empty());
    CHECK(parse_list("  ").value().empty());
}

TEST_CASE("values may hold anything, with % for what means something in a list") {
    const auto list = parse_list("a?x=1=2?3&y=%2C%26%25&z=&w=4 MiB").value();
    CHECK(list[0].parameters == Parameters{{"x", "1=2?3"}, {"y", ",&%"}, {"z", ""}, {"w", "4 MiB"}});
}

TEST_CASE("a list that is no list is refused with the piece that is wrong") {
    CHECK(refusal("tcp,,shm").starts_with("\"\" names no method"));
    CHECK(refusal("tcp,").starts_with("\"\" names no method"));
    CHECK(refusal("TCP").starts_with("\"TCP\" names no method"));
    CHECK(refusal("a b").starts_with("\"a b\" names no method"));
    CHECK(refusal("^").starts_with("\"^\" names no method"));
    CHECK(refusal("?x=1").starts_with("\"?x=1\" names no method"));
    CHECK(refusal(std::string(31, 'a')) == "accepted");
    CHECK(refusal(std::string(32, 'a')).find("names no method") != std::string::npos);
    CHECK(refusal("tcp?").find("key=value") != std::string::npos);
    CHECK(refusal("tcp?nodelay").find("\"nodelay\" in the parameters of tcp") != std::string::npos);
    CHECK(refusal("tcp?a=1&").find("key=value") != std::string::npos);
    CHECK(refusal("tcp?=1").find("key=value") != std::string::npos);
    CHECK(refusal("tcp?a=1&a=2") == "tcp is given a twice: leave one out");
    CHECK(refusal("tcp, ^tcp") == "the list names tcp twice: leave one out");
    CHECK(refusal("^tcp?a=1").find("takes no parameters") != std::string::npos);
    CHECK(to_text(parse_list("a?x=1%0A2%ff").value()) == "a?x=1%0A2%FF"); // a prescription is printable
    for (const char* bad : {"a?x=%", "a?x=%2", "a?x=%zz", "a?x=5%"})
        CHECK(refusal(bad).find("%25") != std::string::npos);
}

TEST_CASE("a list is written so that reading it gives the same list") {
    std::mt19937 random(7);
    for (int round = 0; round < 500; ++round) {
        std::vector<ListItem> list;
        for (unsigned i = 0; i < random() % 5; ++i) {
            ListItem item{std::string(1, static_cast<char>('a' + i)), {}, random() % 3 == 0};
            for (unsigned p = 0; !item.excluded && p < random() % 4; ++p) {
                std::string value;
                for (unsigned c = 0; c < random() % 6; ++c) value += static_cast<char>(random() % 256);
                item.parameters[std::string(p + 1, 'k')] = value;
            }
            list.push_back(std::move(item));
        }
        CAPTURE(to_text(list));
        const auto again = parse_list(to_text(list));
        REQUIRE(again);
        CHECK(*again == list);
    }
}

TEST_CASE("a list that names methods gives those that are there, in its order") {
    CHECK(order("tcp, shm", {"local", "shm", "tcp"}) == Names{"tcp", "shm"});
    CHECK(order("ucx, tcp", {"local", "shm", "tcp"}) == Names{"tcp"});
    CHECK(order("shm, ^local, tcp", {"local", "shm", "tcp"}) == Names{"shm", "tcp"});
    CHECK(apply_list(parse_list("tcp?a=1").value(), {"tcp"})[0].parameters == Parameters{{"a", "1"}});
}

TEST_CASE("a list that only excludes leaves the others in their order") {
    CHECK(order("^shm", {"local", "shm", "tcp"}) == Names{"local", "tcp"});
    CHECK(order("^shm, ^ucx", {"tcp", "shm"}) == Names{"tcp"});
    CHECK(order("", {"b", "a"}) == Names{"b", "a"});
}

TEST_CASE("a list may name single rows of a method that has several") {
    const Names rows{"local", "fabric:one", "fabric:two", "tcp"};
    CHECK(order("fabric, tcp", rows) == Names{"fabric:one", "fabric:two", "tcp"});
    CHECK(order("fabric:two, tcp, fabric:one", rows) == Names{"fabric:two", "tcp", "fabric:one"});
    CHECK(order("fabric:two, fabric", rows) == Names{"fabric:two", "fabric:one"});
    CHECK(order("^fabric:one, ^tcp", rows) == Names{"local", "fabric:two"});
    CHECK(order("fabric, ^fabric:one", rows) == Names{"fabric:two"});
    CHECK(order("fab", rows).empty());
    CHECK(apply_list(parse_list("fabric?a=1").value(), rows)[1].parameters == Parameters{{"a", "1"}});
    CHECK(parse_list("fabric:two?a=1").value()[0].method == "fabric:two");
    for (const char* bad : {"fabric:", ":two", "fabric:two:three", "fabric:TWO"})
        CHECK(refusal(bad).find("names no method") != std::string::npos);
}

TEST_CASE("a method's name begins with a letter, its row's with a digit too") {
    for (const char* bad : {"9tcp", "_tcp", "tcp, 2nd"})
        CHECK(refusal(bad).find("names no method") != std::string::npos);
    CHECK(refusal("tcp?1st=2").find("key=value") != std::string::npos);
    CHECK(parse_list("fabric:2").value()[0].method == "fabric:2");
}

TEST_CASE("the methods of a list of rows are told apart from the rows") {
    CHECK(names_of(without_rows(parse_list("f:two, tcp, f:one, ^f:three, ^shm").value())) ==
          Names{"f", "tcp", "^shm"});
    // One row that is excluded leaves the method.
    CHECK(names_of(without_rows(parse_list("^f:three, tcp").value())) == Names{"tcp"});
    CHECK(method_of("f:two") == "f");
    CHECK(method_of("f") == "f");
}

} // namespace list_test
