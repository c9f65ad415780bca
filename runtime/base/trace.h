// SPDX-License-Identifier: BSD-3-Clause
// Static trace points (USDT) of the provider `plexus`, for bpftrace, perf and gdb. A point is one nop and a
// note in the library that says where its arguments are; nobody looks at these until a tracer does. Without
// the option `trace_points`, which needs <sys/sdt.h>, there is nothing. Any thread.
//
//   send(peer, method, bytes)           a channel has accepted a message
//   deliver(peer, method, bytes)        a message has come, and is given to its handler or its place
//   select(peer, method, preferred)     a pointer's method was chosen; 1: the first, or by a policy
//   repair(peer, method, because, why)  a way has broken, or was not made: what is done, and the reason
//
// peer: the first 8 digits of the context's identity, as logs and `plexus top` show it. peer, method, because
// and why are C strings, bytes a size of the frame. Name arguments that are there already: reading them is
// all that a point may cost.
#pragma once

#if defined(PLEXUS_TRACE_POINTS)
#include <sys/sdt.h>
#define PLEXUS_TRACE3(point, one, two, three) DTRACE_PROBE3(plexus, point, one, two, three)
#define PLEXUS_TRACE4(point, one, two, three, four) DTRACE_PROBE4(plexus, point, one, two, three, four)
#else
#define PLEXUS_TRACE3(point, one, two, three) static_cast<void>(0)
#define PLEXUS_TRACE4(point, one, two, three, four) static_cast<void>(0)
#endif
