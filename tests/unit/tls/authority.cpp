// SPDX-License-Identifier: BSD-3-Clause
#include "authority.h"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdexcept>

namespace plexus::testing {
namespace {

constexpr long kDay = 24 * 3600;

struct CloseFile {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

void require(bool holds, const char* what) {
    if (!holds) throw std::runtime_error(std::string("no certificate for a test: ") + what);
}

template <class Write>
void write_file(const std::string& path, Write&& write, const char* mode = "w") {
    const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), mode));
    require(file != nullptr && write(file.get()) == 1, path.c_str());
}

Key make_key() {
    Key key(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
    require(key != nullptr, "key");
    return key;
}

void add_extension(X509* certificate, int kind, const std::string& text) {
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, text.c_str());
    require(extension != nullptr && X509_add_ext(certificate, extension, -1) == 1, text.c_str());
    X509_EXTENSION_free(extension);
}

Certificate make_certificate(const std::string& name, long serial, EVP_PKEY* key, long days) {
    Certificate made(X509_new());
    require(made != nullptr, "memory");
    X509_set_version(made.get(), X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(made.get()), serial);
    X509_gmtime_adj(X509_getm_notBefore(made.get()), -2 * kDay);
    X509_gmtime_adj(X509_getm_notAfter(made.get()), days > 0 ? days * kDay : -3600);
    X509_set_pubkey(made.get(), key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    return made;
}

} // namespace

void FreeCrypto::operator()(EVP_PKEY* key) const noexcept { EVP_PKEY_free(key); }
void FreeCrypto::operator()(X509* certificate) const noexcept { X509_free(certificate); }

std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

Authority::Authority(const TmpDir& folder, const std::string& name)
  : Authority(folder, name, nullptr) {}

Authority::Authority(const TmpDir& folder, const std::string& name, Authority& above)
  : Authority(folder, name, &above) {}

Authority::Authority(const TmpDir& folder, const std::string& name, Authority* above)
  : folder_(folder)
  , name_(name)
  , file_(folder / (name + ".pem"))
  , key_(make_key())
  , certificate_(make_certificate(name, above != nullptr ? ++above->serial_ : 1, key_.get(), 365)) {
    const Authority& signer = above != nullptr ? *above : *this;
    X509_set_issuer_name(certificate_.get(), X509_get_subject_name(signer.certificate_.get()));
    add_extension(certificate_.get(), NID_basic_constraints, "critical,CA:TRUE");
    add_extension(certificate_.get(), NID_key_usage, "critical,keyCertSign,cRLSign");
    require(X509_sign(certificate_.get(), signer.key_.get(), EVP_sha256()) > 0, "signature");
    write_file(file_, [&](std::FILE* file) { return PEM_write_X509(file, certificate_.get()); });
    self_ = {file_, {}, above != nullptr ? above->serial_ : 1};
    if (above != nullptr) chain_ = text_of(file_) + above->chain_;
}

Authority::Member Authority::sign(const std::string& name, int days) {
    const std::string stem = folder_ / (name_ + "-" + name + "-" + std::to_string(++serial_));
    Member member{stem + ".pem", stem + ".key", serial_};
    const Key key = make_key();
    const Certificate made = make_certificate(name, serial_, key.get(), days);
    X509_set_issuer_name(made.get(), X509_get_subject_name(certificate_.get()));
    add_extension(made.get(), NID_subject_alt_name, "DNS:" + name);
    require(X509_sign(made.get(), key_.get(), EVP_sha256()) > 0, "signature");
    write_file(member.certificate, [&](std::FILE* file) { return PEM_write_X509(file, made.get()); });
    const auto add_chain = [&](std::FILE* file) { return std::fputs(chain_.c_str(), file) >= 0 ? 1 : 0; };
    write_file(member.certificate, add_chain, "a");
    write_file(member.key, [&](std::FILE* file) {
        return PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    });
    return member;
}

std::string Authority::revoke(const std::vector<Member>& members) {
    X509_CRL* const list = X509_CRL_new();
    require(list != nullptr, "memory");
    X509_CRL_set_issuer_name(list, X509_get_subject_name(certificate_.get()));
    ASN1_TIME* const when = ASN1_TIME_new();
    X509_gmtime_adj(when, -kDay);
    X509_CRL_set1_lastUpdate(list, when);
    for (const Member& member : members) {
        X509_REVOKED* const entry = X509_REVOKED_new();
        ASN1_INTEGER* const serial = ASN1_INTEGER_new();
        ASN1_INTEGER_set(serial, member.serial);
        X509_REVOKED_set_serialNumber(entry, serial);
        X509_REVOKED_set_revocationDate(entry, when);
        X509_CRL_add0_revoked(list, entry);
        ASN1_INTEGER_free(serial);
    }
    X509_gmtime_adj(when, 30 * kDay);
    X509_CRL_set1_nextUpdate(list, when);
    ASN1_TIME_free(when);
    require(X509_CRL_sign(list, key_.get(), EVP_sha256()) > 0, "signature of a list");
    const std::string path = folder_ / (name_ + ".crl");
    write_file(path, [&](std::FILE* file) { return PEM_write_X509_CRL(file, list); });
    X509_CRL_free(list);
    return path;
}

std::map<std::string, std::string> Authority::settings(const Member& member) const {
    return {{"ca", file_}, {"certificate", member.certificate}, {"key", member.key}};
}

} // namespace plexus::testing
