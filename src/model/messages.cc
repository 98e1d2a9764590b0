#include "model/messages.h"

#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "cni/conf.h"
#include "json/at.h"
#include "model/attachment_record.h"
#include "model/delegate.h"
#include "model/pod_args.h"

namespace mnet::model {
namespace {

std::string identity(const Pod& pod) {
  return cat(shown_name(pod.ns), "/", shown_name(pod.name), "/", excerpt(pod.uid));
}

}  // namespace

Error prefixed(const Error& error, std::string_view prefix) {
  const ErrorObject* origin = error.origin();
  if (origin == nullptr) return error.with_text(cat(prefix, error.text()));
  // The text ends in `; details`, and the object has the details in a member of their own.
  std::string_view msg = error.text();
  if (const std::string tail = cat("; ", origin->details);
      !origin->details.empty() && msg.ends_with(tail)) {
    msg.remove_suffix(tail.size());
  }
  return Error::from_object(error.code(), {origin->code, cat(prefix, msg), origin->details});
}

Error core_error(const Error& error, const Pod& pod) {
  if (!pod.known()) return prefixed(error, "Multus: ");
  return prefixed(error, cat("Multus: [", identity(pod), "]: "));
}

Error core_error(Error error, const Pod& pod, std::string_view doing) {
  return core_error(std::move(error).wrap(doing), pod);
}

Error with_master(Error error, const Delegate& delegate) {
  if (!delegate.list) return error;
  for (const cni::PluginConf& plugin : delegate.list->plugins) {
    const std::string master = json::text_of(plugin.object.find_folded("master"));
    if (master.empty()) continue;
    const std::string definition =
        delegate.name == delegate.cni_name ? "" : cat("definition ", excerpt(delegate.name), ", ");
    return std::move(error).wrap(cat(definition, "master ", go_quoted(master)));
  }
  return error;
}

Error add_error(const Error& error, const Pod& pod, std::string_view network) {
  return prefixed(error, cat("[", identity(pod), ":", excerpt(network),
                             "]: error adding container to network ", go_quoted(network), ": "));
}

Error held_error(const Error& error, std::string_view device, const AttachmentRecord& holder,
                 std::string_view ns) {
  const std::string who = holder.pod_ns == ns ? cat("pod ", holder.pod_ns, "/", holder.pod_name,
                                                    " holds (container ", holder.container_id, ")")
                                              : std::string("a pod of another namespace holds");
  return prefixed(error, cat("device ", excerpt(device), ", which ", who, ": "));
}

Error name_error(Error error, const Delegate& delegate, std::string_view ifname) {
  const std::string type = delegate.is_list ? std::string() : delegate.types.front();
  return std::move(error).wrap(
      cat("cannot set ", go_quoted(type), " interface name to ", go_quoted(ifname)));
}

Error name_taken(std::string_view ifname) {
  return Error(Errc::kConflict, cat("interface name ", excerpt(ifname), " already exists"));
}

}  // namespace mnet::model
