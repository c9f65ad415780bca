// SPDX-License-Identifier: BSD-3-Clause
// Port: what its provider tells of completions and errors.
#include "libfabric/port.h"

#include <algorithm>
#include <rdma/fi_errno.h>

namespace plexus::libfabric {

std::size_t Port::poll(Completion* out, std::size_t most) {
    const module::Lock hold(mutex_);
    if (!to_post_.empty() || !to_free_.empty()) post_all();
    if (kept_.empty()) return read_queue(out, most);
    const std::size_t count = std::min(most, kept_.size());
    const auto end = kept_.begin() + static_cast<std::ptrdiff_t>(count);
    std::move(kept_.begin(), end, out);
    kept_.erase(kept_.begin(), end);
    return count;
}

std::size_t Port::read_queue(Completion* out, std::size_t most) {
    if (endpoint_ == nullptr) return 0;
    std::array<fi_cq_msg_entry, kBatch> entries;
    const ssize_t got = fi_cq_read(queue_.get(), entries.data(), std::min(most, kBatch));
    if (got == -FI_EAVAIL) return read_error(out[0]) ? 1 : 0;
    if (got < 0 && !passes(got)) fail("its completions were read", got);
    if (got <= 0) return 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(got); ++i) {
        out[i].op = entries[i].op_context == nullptr ? nullptr : &Op::of(entries[i].op_context);
        out[i].size = entries[i].len;
        out[i].error.clear();
        count_off(out[i].op);
    }
    return static_cast<std::size_t>(got);
}

void Port::count_off(const Op* op) {
    if (op == nullptr) return;
    if (op->what == Op::What::receive) {
        --posted_;
    } else {
        outstanding_.fetch_sub(1, std::memory_order_relaxed);
    }
    if (op->what == Op::What::fetch) --reading_;
}

bool Port::read_error(Completion& out) {
    fi_cq_err_entry entry{};
    const ssize_t got = fi_cq_readerr(queue_.get(), &entry, 0);
    if (got < 0 && !passes(got)) fail("an error of an operation was read", got);
    if (got != 1) return false;
    std::array<char, 256> room{};
    const char* const detail =
        fi_cq_strerror(queue_.get(), entry.prov_errno, entry.err_data, room.data(), room.size());
    out.op = entry.op_context == nullptr ? nullptr : &Op::of(entry.op_context);
    out.size = 0;
    out.error = text_of_error(entry.err);
    if (detail != nullptr && *detail != 0 && out.error != detail)
        out.error += std::string(" (") + detail + ")";
    count_off(out.op);
    return true;
}

bool Port::keep_news() {
    std::array<Completion, kBatch> news;
    const std::size_t count = read_queue(news.data(), news.size());
    kept_.insert(kept_.end(), news.begin(), news.begin() + static_cast<std::ptrdiff_t>(count));
    return count > 0;
}

bool Port::look() {
    const module::Lock hold(mutex_);
    return !kept_.empty() || keep_news();
}

std::size_t Port::fetches_over(const Link& link) {
    const module::Lock hold(mutex_);
    (void)keep_news();
    return static_cast<std::size_t>(std::count_if(kept_.begin(), kept_.end(), [&](const Completion& one) {
        return one.op != nullptr && one.op->what == Op::What::fetch && one.op->link == &link;
    }));
}

bool Port::may_sleep() {
    const module::Lock hold(mutex_);
    if (endpoint_ == nullptr) return true;
    std::array<fid*, 1> all{&queue_->fid};
    const int error = fi_trywait(fabric_.get(), all.data(), 1);
    if (error != 0 && !passes(error)) fail("it was asked whether one may sleep", error);
    return error == 0;
}

} // namespace plexus::libfabric
