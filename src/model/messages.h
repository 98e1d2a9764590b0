// The texts of the core's errors (02, 0.4): which pod, what was being done, and always the code
// that the plugin chose.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"
#include "model/attachment_record.h"
#include "model/delegate.h"
#include "model/pod_args.h"

namespace mnet::model {

// What a line of the log shows of a result. One of an ordinary network has some 500 bytes; its
// author may make it 4 MiB.
inline constexpr std::size_t kMostOfResult = 4096;

// `prefix` before the text. An error object inside keeps its code and details and gains the prefix
// and all text wrapped so far in its `msg`: the container runtime sees what the log sees (02-F35).
Error prefixed(const Error& error, std::string_view prefix);

// `Multus: [<ns>/<pod>/<uid>]: `, `Multus: ` for a pod that is not known.
Error core_error(const Error& error, const Pod& pod);
// The same prefix before `<doing>: <error>`.
Error core_error(Error error, const Pod& pod, std::string_view doing);

// `definition default/macv, master "eth7": <error>` if a plugin of the network has a master: the
// plugins' "Link not found" names neither. Else the error unchanged.
Error with_master(Error error, const Delegate& delegate);

// `[<ns>/<pod>/<uid>:<network>]: error adding container to network "<network>": <error>`
Error add_error(const Error& error, const Pod& pod, std::string_view network);

// `device <device>, which pod <ns>/<pod> holds (container <id>): <error>`
// A pod of another namespace than `ns` is not named: tenants read this.
Error held_error(const Error& error, std::string_view device, const AttachmentRecord& holder,
                 std::string_view ns);

// `cannot set "<type>" interface name to "<ifname>": <error>`; the type of a list is empty (02, 5.1
// step 7b).
Error name_error(Error error, const Delegate& delegate, std::string_view ifname);
Error name_taken(std::string_view ifname);  // `interface name <ifname> already exists`

}  // namespace mnet::model
