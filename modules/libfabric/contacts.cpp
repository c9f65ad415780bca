// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/contacts.h"

#include <sys/stat.h>
#include <unistd.h>

namespace plexus::libfabric {

std::string key_of(const Bytes& name) { return {reinterpret_cast<const char*>(name.data()), name.size()}; }

std::string shared_file_of(const Bytes& name) {
    const std::string text = key_of(name);
    const std::size_t start = text.find("://");
    if (start == std::string::npos) return {};
    const std::string file = text.substr(start + 3, text.find('\0') - start - 3);
    return file.empty() || file.find('/') != std::string::npos ? std::string() : "/" + file;
}

namespace {

/// A regular file, not a folder.
bool is_readable_file(const std::string& path) {
    struct stat facts {};
    return ::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) && ::access(path.c_str(), R_OK) == 0;
}

} // namespace

Neighbours& Neighbours::all() {
    static auto& the = *new Neighbours; // what is abandoned outlives everything
    return the;
}

int Contacts::add(fid_av* table, const Address& own, const Bytes& name, Contact*& out) {
    const std::string key = key_of(name);
    if (const auto found = contacts_.find(key); found != contacts_.end()) {
        out = &found->second;
        ++out->users;
        return 0;
    }
    const bool on_host = own.reach == Reach::host;
    if (name.size() != own.name.size() && !on_host) return -FI_EINVAL;
    // The shm provider trips over an address that means no file, and over one of a process of which nothing
    // is left.
    if (on_host && !is_readable_file("/dev/shm" + shared_file_of(name))) return -FI_ENOENT;
    Bytes ended = name;
    ended.push_back(std::byte{0}); // some providers' names are strings
    Contact made;
    const int count = fi_av_insert(table, ended.data(), 1, &made.address, 0, nullptr);
    if (count != 1 || made.address == FI_ADDR_NOTAVAIL) return count < 0 ? count : -FI_EINVAL;
    made.name = key;
    made.users = 1;
    if (on_host) {
        Neighbours& all = Neighbours::all();
        const Lock hold(all.mutex);
        made.is_near = all.open.count(key) > 0;
    }
    out = &contacts_.emplace(key, std::move(made)).first->second;
    return 0;
}

void Contacts::drop(fid_av* table, Contact& contact) {
    --contact.users;
    tidy(table, contact);
}

void Contacts::tidy(fid_av* table, const Contact& contact) {
    if (contact.users > 0 || contact.sending > 0) return;
    fi_addr_t address = contact.address;
    if (table != nullptr) (void)fi_av_remove(table, &address, 1, 0);
    contacts_.erase(std::string(contact.name));
}

} // namespace plexus::libfabric
