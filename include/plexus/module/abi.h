/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract between Plexus and a communication module: plain C data and
   functions, nothing of C++ crosses. Within one major version tables carry their
   size first and grow only at the tail; the loader fills a slot that a table is too
   short for, or leaves null, with a function that answers PLEXUS_UNSUPPORTED.

   Threads. `progress`: called by whichever thread polls, one at a time per
   context. `setup`: the thread that starts or ends the context; nothing else runs
   in the module meanwhile. `any`: any thread, also while `progress` runs.

   A link is one connection to one context, both ways, message-preserving, in
   order, each message at most once. Those of a module with PLEXUS_CAP_UNRELIABLE keep no order and may
   lose messages. */
#ifndef PLEXUS_MODULE_ABI_H
#define PLEXUS_MODULE_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PLEXUS_ABI_MAGIC 0x315355584c504c50ull
#define PLEXUS_ABI_MAJOR 2u
#define PLEXUS_ABI_MINOR 1u
#define PLEXUS_EXPORT __attribute__((visibility("default")))

/* What is broken for good, smallest thing first. */
enum plexus_status {
    PLEXUS_OK = 0,
    PLEXUS_AGAIN = 1,  /* nothing is wrong: repeat after progress                 */
    PLEXUS_POSTED = 2, /* accepted; `sent` will be called, the pieces must stay   */
    /* this call */
    PLEXUS_BAD_ARGUMENT = 10,
    PLEXUS_TOO_LARGE = 11,
    PLEXUS_UNSUPPORTED = 12,
    /* this configuration */
    PLEXUS_BAD_CONFIG = 20,
    PLEXUS_BAD_MODULE = 21,
    PLEXUS_NO_METHOD = 22,
    PLEXUS_DENIED = 23, /* the peer does not hold the job's key                   */
    PLEXUS_BUSY = 25,   /* a port or a name is taken                              */
    /* this message */
    PLEXUS_MESSAGE_LOST = 30,
    /* this link: another method may still reach the peer */
    PLEXUS_LINK_LOST = 40,
    PLEXUS_WRONG_PEER = 41, /* another context answered at that address           */
    /* this peer */
    PLEXUS_PEER_LOST = 50,
    /* this process */
    PLEXUS_RUNTIME_LOST = 60
};

/* Bytes that belong to the caller. */
struct plexus_view {
    const void* data;
    size_t size;
};

/* Room for a result; the callee writes at most `capacity` bytes and sets `size`. */
struct plexus_text {
    char* data;
    size_t capacity;
    size_t size;
};

/* The longest label and the longest descriptor of a row. */
#define PLEXUS_LABEL_MAX 31u
#define PLEXUS_DESCRIPTOR_MAX 1024u

/* One row of a context's descriptor table: one way by which a module reaches the context. */
struct plexus_row {
    struct plexus_text label;      /* tells the rows of a module apart: see `describe`      */
    struct plexus_text descriptor; /* the bytes by which others reach this context          */
};

/* Room for rows; the callee fills at most `capacity` of them and sets `size`. */
struct plexus_rows {
    struct plexus_row* data;
    size_t capacity;
    size_t size;
};

/* A context's identity: fresh at every start, so a restarted peer is another. */
struct plexus_id {
    uint8_t bytes[16];
};

enum plexus_level { PLEXUS_ERROR, PLEXUS_WARN, PLEXUS_INFO, PLEXUS_DEBUG };

struct plexus_ops;
/* The module's own state, which the host only names: */
typedef struct plexus_module plexus_module;               /* one per context                 */
typedef struct plexus_link plexus_link;                   /* one per link                    */
typedef struct plexus_memory_region plexus_memory_region; /* registered memory of ours       */
typedef struct plexus_remote_key plexus_remote_key;       /* a peer's region, for one link   */

/* The longest key of a memory region. */
#define PLEXUS_KEY_MAX 512u

/* Message pieces: piece 0 is the head, at most this many bytes. A module that moves
   large messages apart from small ones carries the head ahead of the rest. */
#define PLEXUS_HEAD_MAX 64u

/* What the host lets a module call. Every callback but `log`, `setting`, `random`
   and `hmac` may come only from inside `poll` (thread `progress`). A callback may
   call `send`, `connect` and `disconnect` of the same module. */
struct plexus_host {
    uint32_t size;       /* bytes of this table                                    */
    void* self;          /* first argument of every callback that has no cookie    */
    struct plexus_id id; /* the context that the module serves                     */

    /* One line for the log; `text` is NUL-terminated English. Any thread. */
    void (*log)(void* self, enum plexus_level level, const char* text);

    /* The configured value of one of the module's parameters as text (its default if
       nobody set it). PLEXUS_BAD_ARGUMENT: no such parameter in the passport. A module that
       keeps messages of its own asks for "limits.max_message", the most bytes of a message
       that the host takes; a host may not know it. Any thread. */
    int32_t (*setting)(void* self, const char* key, struct plexus_text* value);

    /* Fills `data` with unpredictable bytes. Any thread. */
    void (*random)(void* self, void* data, size_t size);

    /* HMAC-SHA256 of `transcript` under the job's key: a peer that holds the same key
       computes the same code. Any thread. */
    int32_t (*hmac)(void* self, struct plexus_view transcript, uint8_t code[32]);

    /* A peer that has proved to hold the key opened `link`; `peer` is who it proved to
       be. Sets *cookie, the first argument of later callbacks about this link. Not OK:
       the host does not want it, the module drops the link. */
    int32_t (*accepted)(void* self, plexus_link* link, const struct plexus_id* peer, void** cookie);

    /* A link made by `connect` has reached, and authenticated, the very context it named. */
    void (*opened)(void* cookie);

    /* One whole message has arrived. `message` is 8-byte aligned, contiguous, the
       module's own, and valid until return. */
    void (*deliver)(void* cookie, struct plexus_view message);

    /* A large message is coming: `head` is its piece 0, `rest` the number of bytes after
       it. Sets *where to the place that the rest belongs in (the host's; 64-byte aligned
       unless it is an application's own array) and *token; the module fills it, then calls
       `placed` exactly once. Not OK: take the bytes off the wire and drop them. */
    int32_t (*place)(void* cookie, struct plexus_view head, size_t rest, void** where, void** token);
    void (*placed)(void* cookie, void* token, int32_t status);

    /* More of a message that is not whole yet has come: its sender lives, however long the message
       takes. A module whose messages may take seconds says so as often as it likes, at best once
       for a link and turn; others never. */
    void (*arriving)(void* cookie);

    /* A send, get or put that returned PLEXUS_POSTED is over; its bytes may be reused. */
    void (*sent)(void* cookie, void* token, int32_t status);

    /* A send that returned PLEXUS_AGAIN is worth repeating. */
    void (*writable)(void* cookie);

    /* The link is broken, `why` says how in English. No further `opened`, `deliver`, `arriving` or
       `place` for it; what was posted and placements have been ended by `sent` and `placed`
       before. The host answers with `disconnect`. */
    void (*lost)(void* cookie, int32_t status, struct plexus_view why);

    /* Opens another module under this one (compression, encryption, faults compose so).
       `under` is the host table that the inner one shall call; it and the outer module
       live longer than the inner one. The inner module is the caller's to close, drain
       and destroy. Thread `setup`. */
    int32_t (*open_inner)(void* self, const char* name, const struct plexus_host* under,
                          const struct plexus_ops** ops, plexus_module** module);
    /* -- ABI 2.0 ends here; append below, note the version -- */
};

/* Abilities; each bit demands the slots that PLEXUS_OPS_SLOTS lists with it. SLEEP: a thread may
   sleep until there is work. FRAGILE: a link may break while both ends live, so the host keeps
   copies until the peer has confirmed them. LOCAL: reaches contexts of this very host only.
   REMOTE_MEMORY: moves bytes to and from a peer's memory without the peer's host.
   ENCRYPTS: nobody between the two ends of a link reads or changes what it carries.
   SUBNET: if the setting "within" is "subnet", links lead to hosts on this host's own networks only, and no
   router passes their packets on (ABI 2.1).
   UNRELIABLE: links lose and reorder messages, but bring none twice and none that the peer did not send.
   They carry only requests that a program has marked so. `send` says OK or AGAIN (the host then drops
   the message, and waits for no `writable`), and TOO_LARGE above PLEXUS_QUERY_MAX_MESSAGE, which may differ
   from link to link; it never says POSTED. `place` is not called. */
#define PLEXUS_CAP_SLEEP (1u << 0)
#define PLEXUS_CAP_FRAGILE (1u << 1)
#define PLEXUS_CAP_LOCAL (1u << 2)
#define PLEXUS_CAP_REMOTE_MEMORY (1u << 3)
#define PLEXUS_CAP_ENCRYPTS (1u << 4)
#define PLEXUS_CAP_UNRELIABLE (1u << 5)
#define PLEXUS_CAP_SUBNET (1u << 6)

/* What a peer says of itself. */
enum plexus_claim {
    PLEXUS_CLAIM_SITE, /* at which site it is  */
    PLEXUS_CLAIM_NAME  /* how it is called     */
};

enum plexus_query {
    PLEXUS_QUERY_MAX_MESSAGE,   /* bytes; 0: no limit of its own                            */
    PLEXUS_QUERY_INLINE_BYTES,  /* largest message that travels with its header             */
    PLEXUS_QUERY_EAGER_BYTES,   /* largest message that is copied into the transport        */
    PLEXUS_QUERY_LATENCY_NS,    /* one way, small message; an estimate before any was sent  */
    PLEXUS_QUERY_BANDWIDTH_BPS, /* bytes a second, large messages; an estimate as above     */
    PLEXUS_QUERY_QUEUED_BYTES,  /* accepted, not yet out: the load                          */
    PLEXUS_QUERY_LINKS,         /* open links                                               */
    PLEXUS_QUERY_SHARED_BYTES,  /* shared memory held                                       */
    PLEXUS_QUERY_REMOTE_BYTES,  /* smallest size at which get and put beat messages; 0: none */
    PLEXUS_QUERY_REFUSED,       /* messages that were forged, replayed, malformed or of no link */
    PLEXUS_QUERY_DROPPED        /* messages that came and found no room, since `open`       */
};

/* What the host calls. The host serialises calls about one link, except `query`, `row_of` and
   `check_claim`, by a lock that it holds during the call. */
struct plexus_ops {
    uint32_t size; /* bytes of the table that the module was built with                     */
    uint32_t caps; /* PLEXUS_CAP_* bits                                                     */

    /* ---- life: thread `setup` ---------------------------------------------------------- */

    /* Opens the module for one context. May block. Errors: BAD_CONFIG and UNSUPPORTED (say
       why by host->log): the method is then left out. */
    int32_t (*open)(const struct plexus_host* host, plexus_module** module);

    /* Refuses new links and sends from here on. Does not block. */
    void (*close)(plexus_module* module);

    /* After `close`: ends every link, and returns when no callback can run any more. May block. */
    void (*drain)(plexus_module* module);

    /* After `drain`: frees the module. */
    void (*destroy)(plexus_module* module);

    /* ---- addresses --------------------------------------------------------------------- */

    /* Describes every way by which others reach this context as a row of the context's table,
       best first; none: the module only reaches others. A label makes a row "<name>:<label>": at most
       PLEXUS_LABEL_MAX of [a-z0-9_], no two alike; it may be empty if there is one row only. A descriptor has
       at most PLEXUS_DESCRIPTOR_MAX bytes. A link joins rows of one label, or without. TOO_LARGE: there is no
       room for all rows. Thread `setup`. */
    int32_t (*describe)(plexus_module* module, struct plexus_rows* rows);

    /* OK if this module can send to the owner of `descriptor`, and perhaps a remark in *why ("via
       gate"); else NO_METHOD and a reason ("other host"). No I/O, never blocks. The bytes come from the wire:
       check them. Thread `any`. */
    int32_t (*applies)(plexus_module* module, struct plexus_view descriptor, struct plexus_text* why);

    /* ---- links: thread `any`, none blocks ---------------------------------------------- */

    /* Starts a link to `peer`. It ends in host->opened or host->lost, from a later poll. Sends
       before `opened` may answer AGAIN. */
    int32_t (*connect)(plexus_module* module, struct plexus_view descriptor, const struct plexus_id* peer,
                       void* cookie, plexus_link** link);

    /* Gives a link up, also after `lost`. The module still sends what it had accepted, as far as
       possible. From here on the module owns `link`, and no callback names its cookie except
       `sent` for posted sends; tokens of `place` are void. */
    void (*disconnect)(plexus_link* link);

    /* Changes a parameter of a link while it runs. BAD_ARGUMENT and a reason in *why, or
       UNSUPPORTED: only at open. */
    int32_t (*set)(plexus_link* link, const char* key, const char* value, struct plexus_text* why);

    /* The row of `describe` that a link uses, from 0. A module with one row needs no such slot. */
    int32_t (*row_of)(plexus_link* link, uint32_t* row);

    /* ---- data: thread `any` ------------------------------------------------------------ */

    /* Sends one message. OK: the pieces may be reused. POSTED: they stay the module's until
       host->sent(cookie, token). AGAIN: no room; host->writable will say when to repeat.
       A send that is accepted before that call may take its place: none follows then.
       Never blocks. */
    int32_t (*send)(plexus_link* link, const struct plexus_view* pieces, uint32_t count, void* token);

    /* ---- progress: thread `progress` --------------------------------------------------- */

    /* Handles at most about `budget` events, never blocks, returns how many. */
    int32_t (*poll)(plexus_module* module, uint32_t budget);

    /* Makes wait_fd readable as soon as poll would find something. AGAIN: it would already,
       do not sleep. May lower *sleep_ns, the longest time until the next poll. The next poll
       undoes it. */
    int32_t (*arm)(plexus_module* module, uint64_t* sleep_ns);

    /* The file descriptor to sleep on, the same for the module's life; poll(2) and epoll(7) take
       it. The module owns it. Thread `any`. */
    int32_t (*wait_fd)(plexus_module* module);

    /* ---- questions: thread `any` ------------------------------------------------------- */

    /* A number about a link, or about the module if `link` is null. */
    int32_t (*query)(plexus_module* module, plexus_link* link, enum plexus_query what, uint64_t* value);

    /* ---- remote memory: thread `any` --------------------------------------------------- */

    /* Lets peers reach the `size` bytes at *data by the key that is written to *key; if *data is
       null, the module allocates them, 64-byte aligned, where its transport reaches them best. May take long:
       pages may be pinned. Errors: peers can't reach this memory, the host uses messages. */
    int32_t (*register_memory)(plexus_module* module, void** data, size_t size, struct plexus_text* key,
                               plexus_memory_region** region);

    /* Ends a registration, and frees the bytes that register_memory allocated. The host sees to it that no
       peer uses the key any more. Comes for each region, before `drain` at the latest. */
    void (*deregister_memory)(plexus_module* module, plexus_memory_region* region);

    /* Opens the peer's region of that key for this link. The bytes come from the peer: check them.
       The remote key ends by detach, or with the link's disconnect. */
    int32_t (*attach)(plexus_link* link, struct plexus_view key, plexus_remote_key** remote);
    void (*detach)(plexus_link* link, plexus_remote_key* remote);

    /* Moves `size` bytes between `offset` of the peer's region and our memory, without the peer's
       host. OK: they are in place, there (put) or here (get). POSTED: host->sent(cookie, token) will
       tell when; until then our bytes stay. Other errors: the host goes on by messages. Never AGAIN:
       the module keeps what has no room. In no order with messages. Never blocks. */
    int32_t (*get)(plexus_link* link, plexus_remote_key* remote, uint64_t offset, void* into, size_t size,
                   void* token);
    int32_t (*put)(plexus_link* link, plexus_remote_key* remote, uint64_t offset, const void* from,
                   size_t size, void* token);
    /* -- ABI 2.0 ends here -- */

    /* The peer of an open link says this of itself, never "". OK if what the module knows of the peer (its
       certificate) allows that, else DENIED and a reason in *why. Never blocks. Thread `progress`. */
    int32_t (*check_claim)(plexus_link* link, enum plexus_claim what, const char* said,
                           struct plexus_text* why);
    /* -- ABI 2.1 ends here; append below and to PLEXUS_OPS_SLOTS, note the version -- */
};

/* Every slot of plexus_ops, in its order, and the modules that must have it: all, those that claim
   the ability, or none. The loader's checks and defaults, the tables that table.h makes and those of
   modules in two parts are made from this list; table.h checks it against the struct. */
#define PLEXUS_SLOT_ALWAYS (1u << 31)
#define PLEXUS_SLOT_OPTIONAL 0u
#define PLEXUS_OPS_SLOTS(SLOT)                                                                               \
    SLOT(open, PLEXUS_SLOT_ALWAYS)                                                                           \
    SLOT(close, PLEXUS_SLOT_ALWAYS)                                                                          \
    SLOT(drain, PLEXUS_SLOT_ALWAYS)                                                                          \
    SLOT(destroy, PLEXUS_SLOT_ALWAYS)                                                                        \
    SLOT(describe, PLEXUS_SLOT_ALWAYS)                                                                       \
    SLOT(applies, PLEXUS_SLOT_ALWAYS)                                                                        \
    SLOT(connect, PLEXUS_SLOT_ALWAYS)                                                                        \
    SLOT(disconnect, PLEXUS_SLOT_ALWAYS)                                                                     \
    SLOT(set, PLEXUS_SLOT_OPTIONAL)                                                                          \
    SLOT(row_of, PLEXUS_SLOT_OPTIONAL)                                                                       \
    SLOT(send, PLEXUS_SLOT_ALWAYS)                                                                           \
    SLOT(poll, PLEXUS_SLOT_ALWAYS)                                                                           \
    SLOT(arm, PLEXUS_CAP_SLEEP)                                                                              \
    SLOT(wait_fd, PLEXUS_CAP_SLEEP)                                                                          \
    SLOT(query, PLEXUS_SLOT_OPTIONAL)                                                                        \
    SLOT(register_memory, PLEXUS_CAP_REMOTE_MEMORY)                                                          \
    SLOT(deregister_memory, PLEXUS_CAP_REMOTE_MEMORY)                                                        \
    SLOT(attach, PLEXUS_CAP_REMOTE_MEMORY)                                                                   \
    SLOT(detach, PLEXUS_CAP_REMOTE_MEMORY)                                                                   \
    SLOT(get, PLEXUS_CAP_REMOTE_MEMORY)                                                                      \
    SLOT(put, PLEXUS_CAP_REMOTE_MEMORY)                                                                      \
    SLOT(check_claim, PLEXUS_SLOT_OPTIONAL)

/* A parameter of [method.<name>]. Types: "bool", "count", "size" ("4 MiB"), "duration"
   ("50 us"), "text", "list" (of text, comma between). */
struct plexus_parameter {
    const char* key;
    const char* type;
    const char* preset; /* the default, written as in a configuration file */
    const char* help;   /* one line */
};

/* What the loader reads before it calls anything: plain data, no constructor runs. */
struct plexus_passport {
    uint64_t magic;
    uint32_t abi_major;
    uint32_t abi_minor;
    const char* name; /* the method's: [a-z][a-z0-9_]*, at most 31 characters */
    const char* help; /* one line */
    const struct plexus_ops* ops;
    const struct plexus_parameter* parameters;
    uint32_t parameter_count;
    uint32_t parameter_size; /* sizeof(struct plexus_parameter) of the module's build */
};

enum { PLEXUS_OPS_SIZE = sizeof(struct plexus_ops), PLEXUS_HOST_SIZE = sizeof(struct plexus_host) };
/* The name that the loader looks up in a shared object. */
#define PLEXUS_PASSPORT_SYMBOL "plexus_passport"

#ifdef __cplusplus
}
#endif
#endif
