// SPDX-License-Identifier: BSD-3-Clause
#include "bulk/borrower.h"

#include "bulk/word.h"
#include "transport/peer.h"

#include <algorithm>

namespace plexus::bulk {
namespace {

/// A module may copy by itself, under the lock of its link: no longer than this takes.
constexpr std::uint64_t kPiece = std::uint64_t{1} << 20;
constexpr std::size_t kMostRefused = 1024; // remembered: it is only a saving

} // namespace

Borrower::Loan* Borrower::find(const transport::Channel& channel, const wire::BulkHeader& memory) {
    const auto found = std::find_if(loans_.begin(), loans_.end(), [&](const Loan& each) {
        return each.channel == &channel && each.memory.handle == memory.handle &&
               each.memory.generation == memory.generation && each.memory.key == memory.key;
    });
    return found == loans_.end() ? nullptr : &*found;
}

std::list<Borrower::Loan> Borrower::take_out(std::uint64_t call, const transport::Peer& peer) {
    std::list<Loan> out;
    const auto found = std::find_if(loans_.begin(), loans_.end(), [&](const Loan& each) {
        return each.call == call && each.peer.get() == &peer && each.state == Loan::State::asked;
    });
    if (found != loans_.end()) out.splice(out.end(), loans_, found);
    return out;
}

void Borrower::by_messages(const std::list<Loan>& loans) {
    for (const Loan& each : loans)
        for (const Transfer& transfer : each.waiting) carrier_.by_message(*each.channel, transfer);
}

bool Borrower::start(transport::Channel& by, const Transfer& transfer) {
    Loan* loan = nullptr;
    std::uint64_t call = 0;
    {
        Lock hold(mutex_);
        if (refused_.contains({&by, transfer.header.handle, transfer.header.generation})) return false;
        loan = find(by, transfer.header);
        if (loan != nullptr && loan->state != Loan::State::held) {
            loan->waiting.push_back(transfer);
            return true;
        }
        if (loan != nullptr) {
            serve(*loan);
        } else {
            Loan& made = loans_.emplace_back();
            made.call = call = next_++;
            made.peer = by.peer().shared_from_this();
            made.channel = &by;
            made.asked_by = &by;
            made.memory = transfer.header;
            made.waiting.push_back(transfer);
        }
    }
    if (loan != nullptr) {
        move(*loan, transfer);
    } else {
        ask(by, transfer, call);
    }
    return true;
}

void Borrower::ask(transport::Channel& by, const Transfer& first, std::uint64_t call) {
    wire::BulkHeader memory = first.header;
    memory.flags = 0;
    memory.call = call;
    memory.offset = memory.length = 0;
    alignas(8) std::byte head[wire::BulkHeader::kBytes];
    wire::encode(wire::Kind::borrow, memory, head);
    if (send_word(by, Word::question, head, {}, first.expires)) return;
    std::list<Loan> ended;
    {
        Lock hold(mutex_);
        ended = take_out(call, by.peer());
    }
    by_messages(ended); // which tells them why not
}

void Borrower::give_back(transport::Channel& to, std::uint32_t number) {
    alignas(8) std::byte head[wire::ReplyHeader::kBytes];
    wire::encode(wire::Kind::give_back, wire::ReplyHeader{0, number}, head);
    (void)send_word(to, Word::answer, head); // else the peer is lost, and so is the loan
}

// One more transfer, with which it stays.
void Borrower::serve(Loan& loan) {
    ++loan.moving;
    if (++loan.served >= kMostServed && !loan.stays) loan.state = Loan::State::spent;
}

std::vector<Transfer> Borrower::admit(Loan& loan) {
    std::size_t some = 0;
    while (some < loan.waiting.size() && loan.state == Loan::State::held) {
        serve(loan);
        ++some;
    }
    const auto end = loan.waiting.begin() + static_cast<std::ptrdiff_t>(some);
    std::vector<Transfer> now(loan.waiting.begin(), end);
    loan.waiting.erase(loan.waiting.begin(), end);
    return now;
}

void Borrower::take_lend(transport::Link& from, wire::View frame) {
    const auto header = wire::decode_lend(frame);
    if (!header) return;
    const bool lent = header->status == static_cast<std::uint16_t>(Status::ok);
    transport::Channel& sender = *from.channel;
    auto reach = lent ? transport::attach(sender, frame.subspan(wire::LendHeader::kBytes))
                      : Result<transport::RemoteKey>(fail(Status::unsupported, "the memory is not lent"));
    Loan* loan = nullptr;
    std::list<Loan> ended;
    std::vector<Transfer> now;
    {
        Lock hold(mutex_);
        ended = take_out(header->call, *from.peer);
        // The key is for the way that it was asked by; it comes by another where that broke.
        if (!ended.empty() && reach && ended.front().channel == &sender) {
            loan = &ended.front();
            loan->state = Loan::State::held;
            loan->number = header->number;
            loan->reach = *reach;
            loan->stays = header->stays;
            now = admit(*loan);
            loans_.splice(loans_.end(), ended);
        } else if (!ended.empty() && !lent) {
            if (refused_.size() >= kMostRefused) refused_.clear();
            const Loan& not_lent = ended.front();
            refused_.insert(
                {{not_lent.channel, not_lent.memory.handle, not_lent.memory.generation}, from.peer.get()});
        }
    }
    if (loan != nullptr) {
        for (const Transfer& each : now) move(*loan, each); // all count already: it stays until the last
        return;
    }
    if (reach) transport::detach(sender, *reach);
    if (lent) give_back(sender, header->number);
    by_messages(ended);
}

void Borrower::move(Loan& loan, const Transfer& transfer) {
    if (!carrier_.begins(*loan.peer, transfer.header.call)) return moved(loan);
    auto* const under_way = new Move;
    under_way->ended = piece_over;
    under_way->borrower = this;
    under_way->loan = &loan;
    under_way->transfer = transfer;
    for (std::uint64_t at = 0; at < transfer.header.length && !under_way->failed; at += kPiece) {
        const std::uint64_t offset = transfer.header.offset + at;
        const std::span<std::byte> piece(transfer.memory + at,
                                         std::min<std::uint64_t>(kPiece, transfer.header.length - at));
        under_way->pieces.fetch_add(1, std::memory_order_relaxed);
        const Status status = transfer.kind == wire::Kind::put
                                  ? transport::put(*loan.channel, loan.reach, offset, piece, under_way)
                                  : transport::get(*loan.channel, loan.reach, offset, piece, under_way);
        if (status != Status::posted) piece_over(under_way, status);
    }
    piece_over(under_way, Status::ok);
}

void Borrower::piece_over(transport::Completion* posted, Status status) {
    Move& move = *static_cast<Move*>(posted);
    if (status != Status::ok) move.failed.store(true, std::memory_order_relaxed);
    if (move.pieces.fetch_sub(1, std::memory_order_acq_rel) > 1) return; // [move]
    const std::unique_ptr<Move> over(&move);
    Borrower& self = *over->borrower;
    Loan& loan = *over->loan;
    if (!over->failed) {
        self.carrier_.is_over(*loan.peer, over->transfer.header.call);
    } else {
        self.carrier_.has_failed(*loan.peer, over->transfer.header.call);
        self.carrier_.by_message(*loan.channel, over->transfer);
        Lock hold(self.mutex_);
        loan.state = Loan::State::spent; // the link is gone, or will not do
    }
    self.moved(loan);
}

void Borrower::moved(Loan& loan) {
    std::list<Loan> ended; // nobody finds them there
    std::optional<Transfer> anew;
    std::uint64_t call = 0;
    {
        Lock hold(mutex_);
        if (--loan.moving > 0) return;
        const bool kept = loan.stays && loan.state == Loan::State::held;
        if (kept && loans_.size() <= kMostLoans) return;
        if (!loan.waiting.empty()) {
            anew = loan.waiting.front();
            Loan& next = loans_.emplace_back();
            next.call = call = next_++;
            next.peer = loan.peer;
            next.channel = loan.channel;
            next.asked_by = loan.channel;
            next.memory = loan.memory;
            next.waiting.swap(loan.waiting);
        }
        const auto found =
            std::find_if(loans_.begin(), loans_.end(), [&](const Loan& each) { return &each == &loan; });
        ended.splice(ended.end(), loans_, found);
    }
    give_back(ended);
    if (anew) ask(*loan.channel, *anew, call);
}

void Borrower::give_back(const std::list<Loan>& loans) {
    for (const Loan& each : loans) {
        transport::detach(*each.channel, each.reach);
        give_back(*each.channel, each.number);
    }
}

void Borrower::take_recall(transport::Link& from, wire::View frame) {
    const auto header = wire::decode_reply(frame);
    if (!header) return;
    std::list<Loan> ended;
    {
        Lock hold(mutex_);
        const auto found = std::find_if(loans_.begin(), loans_.end(), [&](const Loan& each) {
            return each.number == header->call && each.peer == from.peer && each.state == Loan::State::held;
        });
        if (found == loans_.end()) return; // it is on its way back
        found->state = Loan::State::spent;
        if (found->moving == 0) ended.splice(ended.end(), loans_, found);
    }
    give_back(ended);
}

void Borrower::asked_in_vain(const transport::Channel& via) {
    std::list<Loan> ended;
    {
        Lock hold(mutex_);
        for (auto each = loans_.begin(); each != loans_.end();) {
            const auto loan = each++;
            if (loan->state == Loan::State::asked && loan->asked_by == &via)
                ended.splice(ended.end(), loans_, loan);
        }
    }
    by_messages(ended);
}

void Borrower::asks_by(const transport::Channel& from, const transport::Channel& to) {
    Lock hold(mutex_);
    for (Loan& each : loans_)
        if (each.asked_by == &from) each.asked_by = &to;
}

bool Borrower::awaits(const transport::Channel& via) {
    Lock hold(mutex_);
    return std::any_of(loans_.begin(), loans_.end(), [&](const Loan& each) {
        return each.state == Loan::State::asked && each.asked_by == &via;
    });
}

void Borrower::peer_lost(const transport::Peer& peer) {
    // Modules end what moves before a link counts as lost: what is left here waits for an
    // answer, and its calls have been ended.
    Lock hold(mutex_);
    loans_.remove_if([&](const Loan& each) { return each.peer.get() == &peer && each.moving == 0; });
    std::erase_if(refused_, [&](const auto& each) { return each.second == &peer; });
}

} // namespace plexus::bulk
