// SPDX-License-Identifier: BSD-3-Clause
// libfabric between two processes: messages of a reliable datagram endpoint, sent from any number of
// buffers in turn; fi_pingpong has one. FI_PROVIDER says by what they go. The command line is that of peer.h.
#include "tools/limits/peer.h"

#include <array>
#include <cstring>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

namespace plexus::limits {
namespace {

constexpr std::size_t kMostName = 1024;
constexpr std::size_t kLeast = 8; ///< of a receive, which may take an answer

[[noreturn]] void give_up(const char* doing, ssize_t error) {
    std::fprintf(stderr, "fabric_pingpong: %s: %s\n", doing, fi_strerror(static_cast<int>(-error)));
    std::exit(3);
}

void check(const char* doing, ssize_t result) {
    if (result < 0) give_up(doing, result);
}

/// Never taken apart: its process ends with it.
class Peer {
  public:
    explicit Peer(const Side& side)
      : bytes_(side.bytes)
      , out_(side.buffers)
      , in_(static_cast<std::uint32_t>(side.window) + 1)
      , sending_(side.window)
      , receiving_(side.window + 1) {
        out_.assign(std::max(bytes_, kLeast), std::byte{1});
        in_.assign(std::max(bytes_, kLeast), std::byte{2});
        open();
        for (fi_context2& each : receiving_) post(each);
        for (fi_context2& each : sending_) free_.push_back(&each);
        std::array<std::byte, kMostName> own{};
        std::size_t length = own.size();
        check("fi_getname", fi_getname(&endpoint_->fid, own.data(), &length));
        const std::vector<std::byte> theirs = exchange(side.channel, std::span(own).first(length));
        if (theirs.empty()) std::exit(3);
        if (fi_av_insert(addresses_, theirs.data(), 1, &there_, 0, nullptr) != 1)
            give_up("fi_av_insert", -FI_EINVAL);
    }
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;

    void send() { start(out_.next().first(bytes_)); }
    void answer() { start(out_.next().first(kLeast)); }
    void arrived(std::uint64_t messages) {
        while (taken_ < messages) progress();
    }

  private:
    void open() {
        fi_info* const wanted = fi_allocinfo();
        wanted->caps = FI_MSG;
        wanted->mode = FI_CONTEXT | FI_CONTEXT2;
        wanted->ep_attr->type = FI_EP_RDM;
        wanted->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
        wanted->domain_attr->threading = FI_THREAD_DOMAIN;
        wanted->domain_attr->data_progress = FI_PROGRESS_MANUAL;
        const char* const provider = std::getenv("FI_PROVIDER");
        const bool is_tcp = provider != nullptr && std::string(provider) == "tcp";
        fi_info* info = nullptr;
        check("fi_getinfo", fi_getinfo(FI_VERSION(1, 17), is_tcp ? "127.0.0.1" : nullptr, nullptr,
                                       is_tcp ? FI_SOURCE : 0, wanted, &info));
        check("fi_fabric", fi_fabric(info->fabric_attr, &fabric_, nullptr));
        check("fi_domain", fi_domain(fabric_, info, &domain_, nullptr));
        fi_cq_attr queue{};
        queue.format = FI_CQ_FORMAT_MSG;
        check("fi_cq_open", fi_cq_open(domain_, &queue, &queue_, nullptr));
        fi_av_attr table{};
        table.type = FI_AV_TABLE;
        check("fi_av_open", fi_av_open(domain_, &table, &addresses_, nullptr));
        check("fi_endpoint", fi_endpoint(domain_, info, &endpoint_, nullptr));
        check("fi_ep_bind", fi_ep_bind(endpoint_, &addresses_->fid, 0));
        check("fi_ep_bind", fi_ep_bind(endpoint_, &queue_->fid, FI_TRANSMIT | FI_RECV));
        check("fi_enable", fi_enable(endpoint_));
    }

    /// `call` until the provider has room.
    template <class Call>
    void until_done(const char* doing, Call call) {
        for (;;) {
            const ssize_t result = call();
            if (result == 0) return;
            if (result != -FI_EAGAIN) give_up(doing, result);
            progress();
        }
    }
    void post(fi_context2& context) {
        const auto bytes = in_.next();
        until_done("fi_recv", [&] {
            return fi_recv(endpoint_, bytes.data(), bytes.size(), nullptr, FI_ADDR_UNSPEC, &context);
        });
    }
    void start(std::span<const std::byte> bytes) {
        while (free_.empty()) progress();
        void* const context = free_.back();
        free_.pop_back();
        until_done("fi_send",
                   [&] { return fi_send(endpoint_, bytes.data(), bytes.size(), nullptr, there_, context); });
    }
    void progress() {
        fi_cq_msg_entry done{};
        const ssize_t count = fi_cq_read(queue_, &done, 1);
        if (count == -FI_EAGAIN) return;
        check("fi_cq_read", count);
        if ((done.flags & FI_RECV) == 0) {
            free_.push_back(done.op_context);
            return;
        }
        ++taken_;
        post(*static_cast<fi_context2*>(done.op_context));
    }

    const std::size_t bytes_;
    Buffers out_;
    Buffers in_;
    fid_fabric* fabric_ = nullptr;
    fid_domain* domain_ = nullptr;
    fid_cq* queue_ = nullptr;
    fid_av* addresses_ = nullptr;
    fid_ep* endpoint_ = nullptr;
    fi_addr_t there_ = FI_ADDR_UNSPEC;
    std::vector<fi_context2> sending_;
    std::vector<fi_context2> receiving_;
    std::vector<void*> free_; ///< of `sending_`
    std::uint64_t taken_ = 0;
};

} // namespace
} // namespace plexus::limits

int main(int argc, char** argv) {
    using namespace plexus::limits;
    return run_pair<Peer>(Trial("fabric_pingpong", argc, argv));
}
