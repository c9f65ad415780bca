// SPDX-License-Identifier: BSD-3-Clause
// The tls module's passport: data only.
#include "over/link.h"
#include "plexus/module/table.h"
#include "stream_link/parameters.h"
#include "tls/module.h"

namespace {

using plexus::tls::Module;

// Without remote memory: its bytes would go in the clear. A damaged message breaks a link.
constexpr plexus_ops kOps =
    plexus::module::table_of<Module, plexus::over::Link,
                             PLEXUS_CAP_SLEEP | PLEXUS_CAP_FRAGILE | PLEXUS_CAP_ENCRYPTS>();

constexpr auto kParameters = plexus::stream_link::with_socket_parameters({
    {"over", "text", "",
     "the method that carries the messages; empty: TCP connections of its own, by the parameters from listen "
     "on"},
    {"ca", "text", "",
     "file with the certificates of trusted authorities; empty: the job's key says who may join"},
    {"certificate", "text", "",
     "file with the certificate of this context, and those between it and an authority"},
    {"key", "text", "", "file with the private key of that certificate, without a passphrase"},
    {"crl", "text", "",
     "file with the lists of revoked certificates of all authorities; empty: none is revoked"},
    {"names", "list", "",
     "a peer's certificate has one of these names (*.example: any below); empty: any signed by an authority"},
    {"sites", "list", "",
     "NAME=SITE, where NAME is as in names: a peer may say that it is at SITE only with such a certificate; "
     "empty: at any"},
    {"contexts", "list", "",
     "NAME=CONTEXT: a peer may say by this method that its key name is CONTEXT only with such a certificate; "
     "empty: any"},
    {"update_after", "size", "16 GiB",
     "a link sends so many bytes under one key, then takes the next; each record counts 22 more"},
    {"handshake_timeout", "duration", "5 s", "how long a handshake may take"},
});

} // namespace

PLEXUS_PASSPORT(tls) = {
    .magic = PLEXUS_ABI_MAGIC,
    .abi_major = PLEXUS_ABI_MAJOR,
    .abi_minor = PLEXUS_ABI_MINOR,
    .name = "tls",
    .help = "every message encrypted and authenticated by TLS 1.3 (OpenSSL), over TCP or over another method",
    .ops = &kOps,
    .parameters = kParameters.data(),
    .parameter_count = kParameters.size(),
    .parameter_size = sizeof(plexus_parameter),
};
