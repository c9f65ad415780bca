// SPDX-License-Identifier: BSD-3-Clause
// The page of another process: which one is believed, what it shows, and when its owner is woken.
#include "support/catch.h"
#include "support/eventually.h"
#include "support/process.h"
#include "unit/libfabric/module.h"

#include "libfabric/page.h"

#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

namespace page_test {

using namespace plexus::libfabric;
using namespace plexus::testing;

namespace {

/// A page of this process, and where it is.
struct Opened {
    BareHost host{libfabric(), on_loopback({})};
    Page page;
    PageAddress address;

    Opened() {
        REQUIRE(page.open(host.table()) == 0);
        address = page.address();
    }
};

bool readable(int fd) {
    pollfd one{fd, POLLIN, 0};
    return ::poll(&one, 1, 0) > 0;
}

/// A file in memory that holds `cookie`, as a page does.
plexus::UniqueFd file_with(const PageAddress& address, std::size_t bytes, int seals) {
    plexus::UniqueFd out(::memfd_create("page of a test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    REQUIRE(out);
    REQUIRE(::ftruncate(out.get(), static_cast<off_t>(bytes)) == 0);
    const auto& cookie = address.cookie;
    REQUIRE(::pwrite(out.get(), cookie.data(), cookie.size(), 0) == static_cast<ssize_t>(cookie.size()));
    if (seals != 0) REQUIRE(::fcntl(out.get(), F_ADD_SEALS, seals) == 0);
    return out;
}

bool opens(PageAddress address, const plexus::UniqueFd& file) {
    address.page = static_cast<std::uint32_t>(file.get());
    PeerPage peer;
    return peer.open(address, true);
}

} // namespace

TEST_CASE("a page that is not what a descriptor names is not believed") {
    const Opened own;
    PeerPage peer;
    CHECK(peer.open(own.address, true));
    CHECK(peer.is_open());
    PageAddress other = own.address;
    other.cookie[15] ^= 1;
    CHECK_FALSE(PeerPage().open(other, true));
    other = own.address;
    other.ring = other.page; // no pipe
    CHECK_FALSE(PeerPage().open(other, true));
    other = own.address;
    other.process = 0;
    CHECK_FALSE(PeerPage().open(other, true));
    constexpr int kSealed = F_SEAL_SHRINK | F_SEAL_GROW;
    CHECK(opens(own.address, file_with(own.address, PageLayout::kBytes, kSealed)));
    CHECK_FALSE(opens(own.address, file_with(own.address, PageLayout::kBytes, 0)));
    CHECK_FALSE(opens(own.address, file_with(own.address, PageLayout::kBytes, F_SEAL_GROW)));
    CHECK_FALSE(opens(own.address, file_with(own.address, 2 * PageLayout::kBytes, kSealed)));
}

TEST_CASE("a process is watched without its page only where its number means the same") {
    const Opened own;
    PageAddress other = own.address;
    other.cookie[0] ^= 1;
    PeerPage same;
    CHECK_FALSE(same.open(other, true));
    CHECK(same.process_fd() >= 0);
    CHECK_FALSE(same.process_ended());
    PeerPage elsewhere;
    CHECK_FALSE(elsewhere.open(other, false));
    CHECK(elsewhere.process_fd() == -1);
}

TEST_CASE("the end of a process is seen, and told from a number that means another one") {
    const Opened own;
    Process process([](Channel& channel) {
        (void)channel.take(60s); // until the end of this process
        return 0;
    });
    PageAddress there = own.address;
    there.process = static_cast<std::uint32_t>(process.pid());
    PeerPage peer;
    (void)peer.open(there, true); // its descriptors may be those of this process
    REQUIRE(peer.process_fd() >= 0);
    CHECK_FALSE(peer.process_ended());
    process.kill(SIGKILL);
    CHECK(process.wait(10s) == 128 + SIGKILL);
    CHECK(peer.process_ended());
    for (const bool same_numbers : {true, false}) {
        PeerPage late;
        CHECK_FALSE(late.open(there, same_numbers));
        CHECK(late.is_gone() == same_numbers);
    }
}

TEST_CASE("only who sleeps is rung") {
    Opened own;
    PeerPage peer;
    REQUIRE(peer.open(own.address, true));
    peer.ring();
    CHECK_FALSE(readable(own.page.ring_fd()));
    own.page.announce_sleep(true);
    peer.ring();
    CHECK(readable(own.page.ring_fd()));
    own.page.silence();
    CHECK_FALSE(readable(own.page.ring_fd()));
    own.page.announce_sleep(false);
    peer.ring();
    CHECK_FALSE(readable(own.page.ring_fd()));
}

TEST_CASE("a peer sees the revision of each slot") {
    Opened own;
    PeerPage peer;
    REQUIRE(peer.open(own.address, true));
    own.page.revise(3);
    own.page.revise(3);
    own.page.revise(PageLayout::kRevisions + 4); // as 4
    CHECK(own.page.revision(3) == 2);
    CHECK(peer.revision(3) == 2);
    CHECK(peer.revision(4) == 1);
    CHECK(peer.revision(0) == 0);
    CHECK(peer.revision(PageLayout::kRevisions + 3) == 2);
}

} // namespace page_test
