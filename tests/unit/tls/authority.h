// SPDX-License-Identifier: BSD-3-Clause
// Certificates for tests: an authority that signs and revokes, as PEM files in a folder.
#pragma once

#include "support/tmpdir.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

typedef struct evp_pkey_st EVP_PKEY;
typedef struct x509_st X509;

namespace plexus::testing {

struct FreeCrypto {
    void operator()(EVP_PKEY* key) const noexcept;
    void operator()(X509* certificate) const noexcept;
};
using Key = std::unique_ptr<EVP_PKEY, FreeCrypto>;
using Certificate = std::unique_ptr<X509, FreeCrypto>;

/// What is in a file.
std::string text_of(const std::string& path);

class Authority {
  public:
    /// Its own certificate is `<name>.pem` in the folder. Throws std::runtime_error.
    Authority(const TmpDir& folder, const std::string& name);
    /// One that `above` has signed.
    Authority(const TmpDir& folder, const std::string& name, Authority& above);

    struct Member {
        std::string certificate; ///< path; those of the authorities below the first one follow in the file
        std::string key;         ///< path
        long serial = 0;
    };
    /// Valid from yesterday for so many days; 0: it ended this morning.
    Member sign(const std::string& name, int days = 30);
    /// Writes the list of those revoked so far; its path.
    std::string revoke(const std::vector<Member>& members);

    const std::string& file() const noexcept { return file_; }
    /// As a member of the authority above it, to be revoked there.
    const Member& self() const noexcept { return self_; }

    /// The method's parameters of a member.
    std::map<std::string, std::string> settings(const Member& member) const;

  private:
    Authority(const TmpDir& folder, const std::string& name, Authority* above);

    const TmpDir& folder_;
    const std::string name_;
    const std::string file_;
    Key key_;
    Certificate certificate_;
    Member self_;
    std::string chain_; // PEM: this one's certificate, and those above it but for the first
    long serial_ = 1;
};

} // namespace plexus::testing
