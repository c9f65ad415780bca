// SPDX-License-Identifier: BSD-3-Clause
#include "tools/lab/interface.h"

#include "tools/lab/address.h"
#include "tools/lab/refusal.h"

#include <arpa/inet.h>
#include <cstring>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace plexus::tools::lab {
namespace {

constexpr int kDeviceQueueFrames = 1000; // as of a network card

ifreq request_for(const std::string& name) {
    ifreq request{};
    name.copy(request.ifr_name, IFNAMSIZ - 1);
    return request;
}

sockaddr ip_address(std::uint32_t ip) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_addr.s_addr = htonl(ip);
    sockaddr out;
    std::memcpy(&out, &in, sizeof out);
    return out;
}

class Asker {
  public:
    Asker()
      : socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
        if (!socket_) cannot("no socket to set up a network interface");
    }
    template <class Request>
    void ask(unsigned long what, Request& request, const std::string& sentence) const {
        if (::ioctl(socket_.get(), what, &request) != 0) cannot(sentence);
    }
    template <class Request>
    void try_to_ask(unsigned long what, Request& request) const {
        [[maybe_unused]] const int ignored = ::ioctl(socket_.get(), what, &request);
    }
    void take_up(const std::string& name) const {
        ifreq request = request_for(name);
        ask(SIOCGIFFLAGS, request, "the interface " + name + " cannot be asked for its state");
        request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
        ask(SIOCSIFFLAGS, request, "the interface " + name + " cannot be taken up");
    }

  private:
    UniqueFd socket_;
};

} // namespace

UniqueFd make_tap(const std::string& name) {
    UniqueFd tap(::open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK));
    if (!tap) cannot("/dev/net/tun cannot be opened");
    ifreq request = request_for(name);
    request.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
    if (::ioctl(tap.get(), TUNSETIFF, &request) != 0) cannot("a TAP device cannot be made");
    // If this fails, frames come with computed check sums, which is only slower.
    [[maybe_unused]] const int ignored = ::ioctl(tap.get(), TUNSETOFFLOAD, TUN_F_CSUM);
    return tap;
}

void configure(const std::string& name, std::uint32_t number, std::uint32_t mtu) {
    const Asker asker;
    ifreq request = request_for(name);
    request.ifr_hwaddr.sa_family = ARPHRD_ETHER;
    const EthernetAddress ethernet = ethernet_of(number);
    std::memcpy(request.ifr_hwaddr.sa_data, ethernet.data(), ethernet.size());
    asker.ask(SIOCSIFHWADDR, request, "an Ethernet address cannot be set");
    request = request_for(name);
    request.ifr_mtu = static_cast<int>(mtu);
    asker.ask(SIOCSIFMTU, request, "an mtu cannot be set");
    request = request_for(name);
    request.ifr_qlen = kDeviceQueueFrames;
    asker.try_to_ask(SIOCSIFTXQLEN, request); // fails in a user namespace: then the queue has 500
    request = request_for(name);
    request.ifr_addr = ip_address(ip_of(number));
    asker.ask(SIOCSIFADDR, request, "an address cannot be set");
    request = request_for(name);
    request.ifr_netmask = ip_address(kNetMask);
    asker.ask(SIOCSIFNETMASK, request, "a net mask cannot be set");
    asker.take_up(name);
}

void take_up_loopback() { Asker().take_up("lo"); }

void add_neighbour(const std::string& name, std::uint32_t number) {
    arpreq request{};
    request.arp_pa = ip_address(ip_of(number));
    request.arp_ha.sa_family = ARPHRD_ETHER;
    const EthernetAddress ethernet = ethernet_of(number);
    std::memcpy(request.arp_ha.sa_data, ethernet.data(), ethernet.size());
    request.arp_flags = ATF_PERM | ATF_COM;
    name.copy(request.arp_dev, sizeof request.arp_dev - 1);
    Asker().ask(SIOCSARP, request, "the address of a neighbour cannot be set");
}

} // namespace plexus::tools::lab
