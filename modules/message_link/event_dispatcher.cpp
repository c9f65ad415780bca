// SPDX-License-Identifier: BSD-3-Clause
#include "message_link/event_dispatcher.h"

#include <algorithm>

namespace plexus::message_link {

std::uint32_t EventDispatcher::poll(Port& port, std::uint32_t budget) {
    std::uint32_t handled = 0;
    for (;;) {
        const std::size_t most = std::min<std::size_t>(kBatch, budget - handled);
        const std::size_t count = port.poll(events_.data(), most);
        for (std::size_t i = 0; i < count; ++i) { // before a callback gives up a link that has one
            const Event& event = events_[i];
            if (event.what == Event::What::fetched || event.what == Event::What::landed)
                event.peer->link.receiver.write_is_over();
        }
        for (std::size_t i = 0; i < count; ++i) take(port, events_[i]);
        handled += static_cast<std::uint32_t>(count);
        if (count < most || handled >= budget) return handled;
    }
}

void EventDispatcher::take(Port& port, Event& event) {
    if (event.what == Event::What::arrived) return receive(port, *event.message);
    if (event.what == Event::What::unknown_failed) return suspect_reads(port, event.why);
    Link& link = event.peer->link;
    switch (event.what) {
    case Event::What::fetched:
        link.receiver.fetched(event.bytes, event.why);
        break;
    case Event::What::landed:
        link.receiver.landed(event.token, event.status);
        break;
    case Event::What::sent:
        link.sent(event);
        break;
    case Event::What::broken:
        link.lose(PLEXUS_LINK_LOST, event.why);
        break;
    case Event::What::ended:
        link.watch.exited = true;
        break;
    case Event::What::arrived:
    case Event::What::unknown_failed:
        break;
    }
    // It may be freed now.
    if (link.state == Link::State::over || event.what == Event::What::ended) pending_.add_ending(link);
}

void EventDispatcher::receive(Port& port, Message& message) {
    bool kept = false;
    if (message.header.kind == Kind::hello) {
        listener_.take(port, {message.body, message.size});
    } else if (Link* const link = links_.find(message.header); link != nullptr && &link->port == &port) {
        link->arrived(message, kept);
    } // others are late, or were never ours
    if (!kept) port.recycle(message);
}

// Any link of the port may have lost a read.
void EventDispatcher::suspect_reads(const Port& port, const std::string& why) {
    host_.log(host_.self, PLEXUS_DEBUG, ("an operation failed: " + why).c_str());
    timeouts_.expect();
    links_.each([&](Link& link) {
        if (&link.port == &port) link.receiver.suspect_read(why);
    });
}

} // namespace plexus::message_link
