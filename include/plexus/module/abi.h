/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract between Plexus and a communication module: plain C data and
   functions, nothing of C++ crosses. Tables carry their size first and grow only
   at the tail; a slot that a table is too short for answers PLEXUS_UNSUPPORTED.

   Threads. `progress`: called by whichever thread polls, one at a time per
   context. `setup`: the thread that starts or ends the context; nothing else runs
   in the module meanwhile. `any`: any thread, also while `progress` runs.

   A link is one connection to one context, both ways, message-preserving, in
   order, each message at most once. */
#ifndef PLEXUS_MODULE_ABI_H
#define PLEXUS_MODULE_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PLEXUS_ABI_MAGIC 0x315355584c504c50ull
#define PLEXUS_ABI_MAJOR 1u
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

/* A context's identity: fresh at every start, so a restarted peer is another. */
struct plexus_id {
    uint8_t bytes[16];
};

enum plexus_level { PLEXUS_ERROR, PLEXUS_WARN, PLEXUS_INFO, PLEXUS_DEBUG };

struct plexus_ops;
typedef struct plexus_module plexus_module; /* a module's own state, one per context */
typedef struct plexus_link plexus_link;     /* a module's own state, one per link    */
typedef struct plexus_memory plexus_memory; /* memory of ours that peers may reach (1.1) */
typedef struct plexus_remote plexus_remote; /* a peer's, as one link knows it (1.1)      */

/* The longest key of exposed memory. */
#define PLEXUS_KEY_MAX 512u

/* Message pieces: piece 0 is the head, at most this many bytes. A module that moves
   large messages apart from small ones carries the head ahead of the rest. */
#define PLEXUS_HEAD_MAX 64u

/* What the host lets a module call. Every callback but `log`, `setting`, `random`
   and `prove` may come only from inside `poll` (thread `progress`). A callback may
   call `send`, `connect` and `disconnect` of the same module. */
struct plexus_host {
    uint32_t size;       /* bytes of this table                                    */
    void* self;          /* first argument of every callback that has no cookie    */
    struct plexus_id id; /* the context that the module serves                     */

    /* One line for the log; `text` is NUL-terminated English. Any thread. */
    void (*log)(void* self, enum plexus_level level, const char* text);

    /* The configured value of one of the module's parameters as text (its default if
       nobody set it). PLEXUS_BAD_ARGUMENT: no such parameter in the passport. Any thread. */
    int32_t (*setting)(void* self, const char* key, struct plexus_text* value);

    /* Fills `data` with unpredictable bytes. Any thread. */
    void (*random)(void* self, void* data, size_t size);

    /* HMAC-SHA256 of `transcript` under the job's key: what a peer that holds the same
       key computes too. Any thread. */
    int32_t (*prove)(void* self, struct plexus_view transcript, uint8_t proof[32]);

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

    /* A send, get or put that returned PLEXUS_POSTED is over; its bytes may be reused. */
    void (*sent)(void* cookie, void* token, int32_t status);

    /* A send that returned PLEXUS_AGAIN is worth repeating. */
    void (*writable)(void* cookie);

    /* The link is broken, `why` says how in English. No further `opened`, `deliver` or
       `place` for it; what was posted and placements have been ended by `sent` and `placed`
       before. The host answers with `disconnect`. */
    void (*lost)(void* cookie, int32_t status, struct plexus_view why);

    /* Opens another module under this one (compression, encryption, faults compose so).
       `under` is the host table that the inner one shall call; it and the outer module
       live longer than the inner one. The inner module is the caller's to close, drain
       and destroy. Thread `setup`. */
    int32_t (*open_inner)(void* self, const char* name, const struct plexus_host* under,
                          const struct plexus_ops** ops, plexus_module** module);
    /* -- ABI 1.0 ends here; append below, note the version -- */
};

/* Abilities; each bit demands the slots it names. */
#define PLEXUS_CAP_SLEEP (1u << 0) /* arm, wait_fd: a thread may sleep until there is work */
#define PLEXUS_CAP_FRAGILE                                                                                   \
    (1u << 1)                      /* a link may break while both ends live: the host keeps                  \
                                      copies until the far side has confirmed             */
#define PLEXUS_CAP_LOCAL (1u << 2) /* reaches contexts of this very host only             */
#define PLEXUS_CAP_REMOTE_MEMORY                                                                             \
    (1u << 3) /* 1.1: expose, withdraw, attach, detach, get, put                               */

enum plexus_query {
    PLEXUS_QUERY_MAX_MESSAGE,   /* bytes; 0: no limit of its own                            */
    PLEXUS_QUERY_INLINE_BYTES,  /* largest message that travels with its header             */
    PLEXUS_QUERY_EAGER_BYTES,   /* largest message that is copied into the transport        */
    PLEXUS_QUERY_LATENCY_NS,    /* one way, small message; an estimate before any was sent  */
    PLEXUS_QUERY_BANDWIDTH_BPS, /* bytes a second, large messages; an estimate as above     */
    PLEXUS_QUERY_QUEUED_BYTES,  /* accepted, not yet out: the load                          */
    PLEXUS_QUERY_LINKS,         /* open links                                               */
    PLEXUS_QUERY_SHARED_BYTES,  /* shared memory held                                       */
    PLEXUS_QUERY_REMOTE_BYTES   /* 1.1: from so many on, get and put beat messages; 0: never   */
};

struct plexus_ops {
    uint32_t size; /* bytes of the table that the module was built with                     */
    uint32_t caps; /* PLEXUS_CAP_* bits                                                     */

    /* Opens the module for one context. May block. Thread `setup`. Errors: BAD_CONFIG and
       UNSUPPORTED (say why by host->log): the method is then left out. */
    int32_t (*open)(const struct plexus_host* host, plexus_module** module);

    /* Teardown. close: refuses new links and sends, does not block. drain: ends every link
       and returns when no callback can run any more; may block. destroy: frees. `setup`. */
    void (*close)(plexus_module* module);
    void (*drain)(plexus_module* module);
    void (*destroy)(plexus_module* module);

    /* Writes the bytes by which others reach this context, at most 1,024. Thread `setup`. */
    int32_t (*describe)(plexus_module* module, struct plexus_text* descriptor);

    /* OK if a message to the owner of `descriptor` can leave by me; else NO_METHOD and a
       reason in *why ("other host"). No I/O, never blocks. The bytes come from the wire:
       check them. Thread `any`. */
    int32_t (*applies)(plexus_module* module, struct plexus_view descriptor, struct plexus_text* why);

    /* Starts a link to `peer`. Never blocks: ends in host->opened or host->lost, from a
       later poll. Sends before `opened` may answer AGAIN. Thread `any`. */
    int32_t (*connect)(plexus_module* module, struct plexus_view descriptor, const struct plexus_id* peer,
                       void* cookie, plexus_link** link);

    /* Gives a link up, also after `lost`. What was accepted before is still sent as far as
       possible; `link` is the module's from here on and no callback names its cookie again
       (`placed` neither: its token is void), but for ending posted sends. Does not block. Thread `any`, under
       the host's lock of this link. */
    void (*disconnect)(plexus_link* link);

    /* Sends one message. OK: the pieces may be reused. POSTED: they stay the module's until
       host->sent(cookie, token). AGAIN: no room; host->writable will say when to repeat.
       Never blocks. The host serialises sends on one link. Thread `any`. */
    int32_t (*send)(plexus_link* link, const struct plexus_view* pieces, uint32_t count, void* token);

    /* Does at most about `budget` events, never blocks, returns how many. `progress`. */
    int32_t (*poll)(plexus_module* module, uint32_t budget);

    /* Makes wait_fd readable as soon as poll would find something. AGAIN: it would already,
       do not sleep. May lower *sleep_ns, the longest time that the host may stay away. Undone
       by the next poll. `progress`. */
    int32_t (*arm)(plexus_module* module, uint64_t* sleep_ns);

    /* The descriptor to sleep on, the same for the module's life; poll(2) and epoll(7) take
       it. Owned by the module. Thread `any`. */
    int32_t (*wait_fd)(plexus_module* module);

    /* Enquiry about a link, or about the module where `link` is null. Thread `any`. */
    int32_t (*query)(plexus_module* module, plexus_link* link, enum plexus_query what, uint64_t* value);

    /* Changes a parameter of a link while it runs. BAD_ARGUMENT and a reason in *why, or
       UNSUPPORTED: only at open. Thread `any`, under the host's lock of this link. */
    int32_t (*set)(plexus_link* link, const char* key, const char* value, struct plexus_text* why);
    /* -- ABI 1.0 ends here; append below, note the version -- */

    /* 1.1: a module that reaches others in several ways, say by several fabrics, describes
       each as a row of the context's table, best first, from 0; NO_METHOD: there are no more.
       Row 0 is what `describe` says. `label` tells rows apart, as "fabric" in "method:fabric":
       at most 31 of [a-z0-9_], not twice the same; empty where there is but one way. A link
       joins rows of one label, or without. Thread `setup`. */
    int32_t (*describe_row)(plexus_module* module, uint32_t row, struct plexus_text* label,
                            struct plexus_text* descriptor);

    /* 1.1, with describe_row: the row that a link goes by. Thread `any`. */
    int32_t (*row_of)(plexus_link* link, uint32_t* row);

    /* Remote memory access (ABI 1.1), all or none: PLEXUS_CAP_REMOTE_MEMORY. */

    /* Lets peers reach the `size` bytes at *data by the key that it writes; where *data is null
       it allocates them, 64-byte aligned, as its transport reaches them best. May take its time: pages
       may be pinned. Not OK: this memory can't be reached so. Thread `any`. */
    int32_t (*expose)(plexus_module* module, void** data, size_t size, struct plexus_text* key,
                      plexus_memory** memory);

    /* Ends that, and frees what it had allocated. The host sees to it that no peer uses the key
       any more. Comes for each, before `drain` at the latest. Thread `any`. */
    void (*withdraw)(plexus_module* module, plexus_memory* memory);

    /* The peer's memory of that key, for this link. The bytes come from the peer: check them.
       It ends by detach, or with the link's disconnect. Thread `any`, under the host's lock of this link. */
    int32_t (*attach)(plexus_link* link, struct plexus_view key, plexus_remote** remote);
    void (*detach)(plexus_link* link, plexus_remote* remote);

    /* Moves `size` bytes between `offset` of the peer's memory and ours, without the peer's host.
       OK: they are in place, there (put) or here (get). POSTED: host->sent(cookie, token) will
       tell that; until then ours stay. Others: the host goes on by messages. Never AGAIN: what has no room is
       kept by the module. In no order with messages. Never blocks. Thread `any`, under the host's lock of
       this link. */
    int32_t (*get)(plexus_link* link, plexus_remote* remote, uint64_t offset, void* into, size_t size,
                   void* token);
    int32_t (*put)(plexus_link* link, plexus_remote* remote, uint64_t offset, const void* from, size_t size,
                   void* token);
    /* -- ABI 1.1 ends here -- */
};

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
