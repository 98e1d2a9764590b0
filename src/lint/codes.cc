#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "lint/finding.h"

namespace mnet::lint {
namespace {

using enum Severity;

constexpr std::array kCodes = {
    Code{"MN001", kError, "the file is not YAML or JSON"},
    Code{"MN002", kError, "the API server refuses the object"},
    Code{"MN003", kWarning, "two objects have the same name"},
    Code{"MN010", kError, "spec.config is not JSON"},
    Code{"MN011", kError, "the daemon refuses the configuration"},
    Code{"MN012", kError, "no such plugin"},
    Code{"MN013", kError, "the type is Multus itself, or a path"},
    Code{"MN014", kWarning, "unknown key of a plugin"},
    Code{"MN015", kError, "no such CNI version"},
    Code{"MN016", kWarning, "ranges of addresses overlap"},
    Code{"MN017", kError, "an address or range that the IPAM plugin refuses"},
    Code{"MN018", kError, "a required key is missing"},
    Code{"MN019", kError, "a value that the plugin refuses"},
    Code{"MN020", kWarning, "isolation keeps all pods from the definition"},
    Code{"MN021", kWarning, "the pod does not request the resource of its network"},
    Code{"MN022", kWarning, "both type and plugins"},
    Code{"MN023", kError, "the network's name is not allowed"},
    Code{"MN024", kError, "the type is not among allowedPluginTypes"},
    Code{"MN025", kWarning, "a plugin for devices without a resource"},
    Code{"MN026", kError, "a plugin comes first that must follow another"},
    Code{"MN027", kWarning, "a gateway outside of its subnet"},
    Code{"MN030", kError, "the annotation cannot be read"},
    Code{"MN031", kWarning, "unknown key of a selection element"},
    Code{"MN032", kError, "no such definition"},
    Code{"MN033", kWarning, "no plugin has the capability"},
    Code{"MN034", kError, "an address without prefix length"},
    Code{"MN035", kError, "interface names clash or are not allowed"},
    Code{"MN036", kWarning, "unknown annotation"},
    Code{"MN037", kWarning, "the annotation is not on the pod template"},
    Code{"MN038", kError, "the namespace is not allowed"},
    Code{"MN039", kWarning, "two networks want the default route"},
    Code{"MN040", kWarning, "a pod in the host's network gets no networks"},
    Code{"MN041", kWarning, "several pods share a fixed address"},
    Code{"MN042", kError, "a port or a rate that the plugin refuses"},
    Code{"MN050", kError, "the daemon refuses its configuration"},
    Code{"MN051", kWarning, "unknown key of the daemon"},
    Code{"MN052", kWarning, "a key has no effect"},
    Code{"MN060", kError, "the CNI configuration file cannot be used"},
    Code{"MN061", kWarning, "the file's name does not fit its contents"},
};

}  // namespace

std::string_view name_of(Severity severity) { return severity == kError ? "error" : "warning"; }

std::span<const Code> all_codes() { return kCodes; }

const Code& code_of(std::string_view code) { return *std::ranges::find(kCodes, code, &Code::code); }

}  // namespace mnet::lint
