// SPDX-License-Identifier: BSD-3-Clause
// What is said when the method can't be opened as it was asked to be.
#include "support/catch.h"
#include "support/log_guard.h"
#include "ucx.h"

#include "ucx/descriptor.h"
#include "ucx/library.h"
#include "ucx/trace.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace opening_test {

using namespace plexus::testing;
using Catch::Matchers::Contains;

TEST_CASE("a transport that does not exist is named, and the nearest are offered") {
    const auto expected = expect_warning("");
    CHECK_THAT(open_error({{"tls", "tpc"}}, PLEXUS_BAD_CONFIG),
               Contains("\"tpc\"") && Contains("did you mean tcp"));
    CHECK_THAT(open_error({{"tls", "tcp, possix"}}, PLEXUS_BAD_CONFIG), Contains("posix"));
    CHECK_THAT(open_error({{"tls", "zzzzzzzz"}}, PLEXUS_BAD_CONFIG),
               Contains("no transport of UCX") && !Contains("did you mean"));
}

TEST_CASE("a device that does not exist is named") {
    const auto expected = expect_warning("");
    const std::string error = open_error({{"tls", "tcp"}, {"net_devices", "loo"}}, PLEXUS_UNSUPPORTED);
    CHECK_THAT(error, Contains("loo") && Contains("No such device"));
    CHECK_THAT(open_error({{"tls", "tcp"}, {"net_devices", "lo, loo"}}, PLEXUS_BAD_CONFIG),
               Contains("\"loo\"") && Contains("did you mean lo"));
}

TEST_CASE("all devices may be asked for") {
    CHECK(open_error({{"tls", "tcp"}, {"net_devices", "all"}}, PLEXUS_OK) == "opened");
}

TEST_CASE("a size that is out of range is refused with its key") {
    const auto expected = expect_warning("");
    CHECK_THAT(open_error({{"tls", "tcp"}, {"eager", "63"}}, PLEXUS_BAD_CONFIG), Contains("eager"));
    CHECK_THAT(open_error({{"tls", "tcp"}, {"eager", "257 KiB"}}, PLEXUS_BAD_CONFIG), Contains("eager"));
    CHECK(open_error({{"tls", "tcp"}, {"eager", "64"}}, PLEXUS_OK) == "opened");
}

TEST_CASE("large messages between processes of a host go by cross-memory attach") {
    plexus::ucx::Options options;
    options.tls = {"posix", "cma", "self"};
    const plexus::ucx::TraceUse use;
    const plexus::ucx::Trace said; // UCX remarks on the names that it does not know
    plexus::ucx::Library here;
    plexus::ucx::Library there;
    std::string why;
    REQUIRE(here.open(options, why) == PLEXUS_OK);
    REQUIRE(there.open(options, why) == PLEXUS_OK);
    const auto& resources = here.resources();
    if (std::none_of(resources.begin(), resources.end(),
                     [](const plexus::ucx::Resource& each) { return each.transport == "cma"; }))
        SKIP_TEST("the kernel permits no cross-memory attach");
    CHECK(here.ends_by_force());
    ucp_ep_params_t wanted{};
    wanted.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
    wanted.address = reinterpret_cast<const ucp_address_t*>(there.address().data());
    wanted.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    ucp_ep_h endpoint = nullptr;
    REQUIRE(::ucp_ep_create(here.worker(), &wanted, &endpoint) == UCS_OK);
    char* text = nullptr;
    std::size_t size = 0;
    std::FILE* const out = ::open_memstream(&text, &size);
    REQUIRE(out != nullptr);
    ::ucp_ep_print_info(endpoint, out);
    std::fclose(out);
    const std::string lanes(text, size);
    std::free(text);
    CHECK_THAT(lanes, Contains("cma/memory"));
    ucp_request_param_t how{};
    how.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    how.flags = UCP_EP_CLOSE_FLAG_FORCE;
    const ucs_status_ptr_t closing = ::ucp_ep_close_nbx(endpoint, &how);
    while (UCS_PTR_IS_PTR(closing) && ::ucp_request_check_status(closing) == UCS_INPROGRESS)
        ::ucp_worker_progress(here.worker());
    if (UCS_PTR_IS_PTR(closing)) ::ucp_request_free(closing);
}

TEST_CASE("memory is moved by UCX over shared memory, not over tcp, and not where it is told so") {
    const auto least = [](std::map<std::string, std::string> settings) {
        const auto host = std::make_unique<BareHost>(ucx(), with(std::move(settings)));
        return host->query(PLEXUS_QUERY_REMOTE_BYTES);
    };
    CHECK(least({{"tls", "shm"}}) == 32 * 1024);
    CHECK(least({{"tls", "shm"}, {"remote", "0"}}) == 0);
    CHECK(least({{"tls", "tcp"}}) == 0);
}

TEST_CASE("a variable that UCX does not take is refused in its words") {
    const auto expected = expect_warning("");
    CHECK_THAT(open_error({{"tls", "tcp"}, {"env", "UCX_RNDV_THRESH=much"}}, PLEXUS_BAD_CONFIG),
               Contains("RNDV_THRESH") && Contains("much"));
    CHECK_THAT(open_error({{"tls", "tcp"}, {"env", "UCX_FOO_BAR=1"}}, PLEXUS_BAD_CONFIG),
               Contains("UCX_FOO_BAR"));
    CHECK_THAT(open_error({{"tls", "tcp"}, {"env", "UCX_TCP_FOO=1"}}, PLEXUS_BAD_CONFIG),
               Contains("UCX_TCP_FOO"));
    CHECK(open_error({{"tls", "posix, cma, self"}, {"env", "UCX_CMA_MEMORY_INVALIDATE=n"}}, PLEXUS_OK) ==
          "opened");
    CHECK_THAT(open_error({{"tls", "tcp"}, {"env", "no variable"}}, PLEXUS_BAD_CONFIG), Contains("env"));
}

TEST_CASE("variables reach UCX without the environment") {
    const auto offered = [](const char* variables) {
        BareHost host(ucx(), with({{"tls", "tcp"}, {"env", variables}}));
        const Bytes bytes = host.descriptor();
        const auto read = plexus::ucx::Descriptor::decode({bytes.data(), bytes.size()});
        REQUIRE(read.has_value());
        return *read;
    };
    using Transports = std::vector<std::string>;
    CHECK(offered("UCX_RNDV_THRESH=64k; MAX_RNDV_RAILS=1; UCX_TCP_TX_SEG_SIZE=32k; TCP_RX_SEG_SIZE=32k")
              .transports == Transports{"tcp"});
    // These change what UCX offers, with and without the beginning of their names.
    CHECK(offered("UCX_TLS=posix").transports == Transports{"posix"});
    CHECK(offered("TLS=posix").transports == Transports{"posix"});
    CHECK_FALSE(offered("UCX_NET_DEVICES=lo").leaves_host);
    for (const char* name : {"UCX_RNDV_THRESH", "UCX_TLS", "UCX_NET_DEVICES"})
        CHECK(::getenv(name) == nullptr);
}

TEST_CASE("a child of a process that has UCX open is refused, and told why") {
    const auto expected = expect_warning("");
    BareHost host(ucx(), with({{"tls", "tcp"}}));
    const pid_t child = ::fork();
    if (child == 0) {
        const std::string error = open_error({{"tls", "tcp"}}, PLEXUS_UNSUPPORTED);
        ::_exit(error.find("forked") != std::string::npos ? 0 : 1);
    }
    REQUIRE(child > 0);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

TEST_CASE("one side with transports of its host alone does not reach one that has others") {
    BareHost here(ucx(), with({{"tls", "shm"}}));
    BareHost there(ucx(), with({{"tls", "tcp"}}));
    std::string why;
    CHECK(here.applies(there.descriptor(), &why) == PLEXUS_NO_METHOD);
    CHECK_THAT(why, Contains("only one side") && Contains("here") && Contains("there tcp"));
}

} // namespace opening_test
