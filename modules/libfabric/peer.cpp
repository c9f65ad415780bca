// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/peer.h"

#include "libfabric/endpoint.h"

#include <sys/mman.h>

namespace plexus::libfabric {
namespace {

// The provider keeps a file in /dev/shm for each endpoint, named by its process first, and a
// process that was killed leaves it. Only after the process has ended.
void remove_left_over(const Address& address, const PageAddress& page_address) {
    if (address.reach != Reach::host) return;
    const std::string file = shared_file_of(address.name);
    if (file.rfind("/" + std::to_string(page_address.process) + ":", 0) == 0)
        (void)::shm_unlink(file.c_str());
}

} // namespace

FabricPeer::FabricPeer(message_link::Link& its_link, Endpoint& endpoint, Address its_address,
                       const PageAddress& page_address)
  : Peer(its_link)
  , endpoint_(endpoint)
  , address_(std::move(its_address))
  , page_address_(page_address) {}

FabricPeer::~FabricPeer() {
    if (page.process_ended()) remove_left_over(address_, page_address_);
    endpoint_.forget(*this);
}

} // namespace plexus::libfabric
