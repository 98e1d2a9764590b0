// Any bytes as a template, as a manifest with variables, as lists of names, as a ledger and as what
// a process says of its health: what is accepted keeps its promises.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cni_node/names.h"
#include "cni_node/substitute.h"
#include "cni_node/template.h"
#include "http/http.h"
#include "ledger/ledger.h"
#include "nodetools/health.h"

using namespace mnet::cni_node;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const std::string& name : pointers_in(text)) {
    if (!is_valid_name(name) || name.find("__") != std::string::npos) std::abort();
  }
  const auto expanded =
      expand_pointers(text, [](const std::string&) { return mnet::Result<std::string>("{}"); });
  if (expanded && !expanded->empty() && !expanded->ends_with('\n')) std::abort();

  const auto replaced = substitute(text, {{"A", "1"}, {"B", ""}});
  if (text.find('$') == std::string_view::npos && replaced.text != text) std::abort();
  if (substitute(text, {}, {{}}).text != text) std::abort();

  if (const auto lists = parse_lists(text, Pinning::kAllowed)) {
    for (const auto& [name, pin] : lists->pins) {
      if (!is_valid_name(name) || pin.size() != 64) std::abort();
    }
    for (const std::string& name : lists->desired) {
      if (!is_valid_name(name)) std::abort();
    }
  }
  if (const auto ledger = mnet::ledger::parse_ledger(text)) {
    if (mnet::ledger::parse_ledger(dump_ledger(*ledger)).value() != *ledger) std::abort();
  }
  (void)mnet::nodetools::parse_health(text, {});
  (void)mnet::http::parse_listen_address(text);
  return 0;
}
