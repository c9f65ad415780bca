// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: the descriptor of a method that works over another one (`zstd`, `tls`), whose bytes come
// in pointers from anybody. The inner method is given its own bytes and no others; what is no descriptor, or
// names another inner method, never gets there. What such a method describes of itself is understood.
#include "over/link.h"
#include "over/module.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <sys/eventfd.h>
#include <vector>

namespace {

using namespace plexus;

constexpr std::string_view kInner = "tcp";

void require(bool holds) {
    if (!holds) std::abort();
}

using Bytes = std::vector<std::uint8_t>;

/// What the inner method was given, and describes itself by.
struct Inner {
    Bytes given;
    int asked = 0;
    void take(plexus_view view) {
        const auto* bytes = static_cast<const std::uint8_t*>(view.data);
        given.assign(bytes, bytes + view.size);
        ++asked;
    }
};

Inner& inner_of(plexus_module* module) { return *reinterpret_cast<Inner*>(module); }

plexus_ops make_ops() {
    plexus_ops ops{};
    ops.size = PLEXUS_OPS_SIZE;
    ops.caps = PLEXUS_CAP_SLEEP;
    ops.destroy = [](plexus_module*) {};
    ops.wait_fd = [](plexus_module*) {
        static const int fd = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        return fd;
    };
    ops.applies = [](plexus_module* module, plexus_view descriptor, plexus_text*) {
        inner_of(module).take(descriptor);
        return std::int32_t{PLEXUS_OK};
    };
    ops.connect = [](plexus_module* module, plexus_view descriptor, const plexus_id*, void*, plexus_link**) {
        inner_of(module).take(descriptor);
        return std::int32_t{PLEXUS_LINK_LOST};
    };
    ops.describe = [](plexus_module* module, plexus_rows* rows) {
        const Bytes& own = inner_of(module).given;
        if (rows->capacity == 0 || rows->data[0].descriptor.capacity < own.size())
            return std::int32_t{PLEXUS_TOO_LARGE};
        std::copy(own.begin(), own.end(), rows->data[0].descriptor.data);
        rows->data[0].descriptor.size = own.size();
        rows->size = 1;
        return std::int32_t{PLEXUS_OK};
    };
    return ops;
}

class Method final : public over::Module {
  public:
    Method(const plexus_host& host, Inner& inner)
      : over::Module(host, std::string(kInner))
      , own_inner_(inner) {}

  private:
    std::unique_ptr<over::Link> make_link() override { return std::make_unique<over::Link>(*this); }
    std::int32_t find_inner(const plexus_host&, const plexus_ops*& ops, plexus_module*& inner) override {
        static const plexus_ops kOps = make_ops();
        ops = &kOps;
        inner = reinterpret_cast<plexus_module*>(&own_inner_);
        return PLEXUS_OK;
    }
    Inner& own_inner_;
};

/// One for all inputs: it keeps nothing of them.
struct World {
    World() { require(method.open_inner() == PLEXUS_OK); }
    plexus_host host{};
    Inner inner;
    Method method{host, inner};
};

void check_described(World& world) {
    const Bytes own = world.inner.given;
    char room[PLEXUS_DESCRIPTOR_MAX];
    plexus_row row{};
    row.descriptor = {room, sizeof room, 0};
    plexus_rows rows{&row, 1, 0};
    if (world.method.describe(rows) != PLEXUS_OK) return;
    plexus_text why{};
    require(world.method.applies({room, row.descriptor.size}, why) == PLEXUS_OK && world.inner.given == own);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static World world;
    const Bytes bytes(data, data + size); // a copy of exactly that size
    const plexus_view view{bytes.data(), bytes.size()};
    world.inner.asked = 0;
    char room[128];
    plexus_text why{room, sizeof room, 0};
    const bool applies = world.method.applies(view, why) == PLEXUS_OK;
    require(applies == (world.inner.asked == 1) && (applies || why.size > 0));
    const bool begins = size > kInner.size() && std::memcmp(data, kInner.data(), kInner.size()) == 0 &&
                        data[kInner.size()] == 0;
    require(applies == begins);

    plexus_link* link = nullptr;
    int cookie = 0;
    const std::int32_t status = world.method.connect(view, plexus_id{}, &cookie, &link);
    require(status == (applies ? PLEXUS_LINK_LOST : PLEXUS_BAD_ARGUMENT));
    require(world.inner.asked == (applies ? 2 : 0));
    if (!applies) return 0;
    require(std::equal(world.inner.given.begin(), world.inner.given.end(), bytes.begin() + kInner.size() + 1,
                       bytes.end()));
    check_described(world);
    return 0;
}
