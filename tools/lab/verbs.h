// SPDX-License-Identifier: BSD-3-Clause
// The smaller verbs behind `plexus lab`. Each gets its own name as arguments[0]; main prints what they
// throw.
#pragma once

namespace plexus::tools::lab {

/// `plexus lab enter [--alone] [--shell] HOST PROGRAM ...`, inside a lab: becomes that program on that host.
/// --alone: the program is no part of the job. --shell: all words together are a line for the shell, as with
/// ssh, so that launchers can use the verb in place of ssh.
int enter(int count, char** arguments);
/// `plexus lab ctl [--lab PROCESS] REQUEST ...`
int ctl(int count, char** arguments);
/// `plexus lab list`
int list_networks();

} // namespace plexus::tools::lab
