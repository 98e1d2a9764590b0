// Kubernetes objects of a manifest: from its text to the objects one by one (04, 1.10, "Parsing").
// Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/json.h"
#include "ledger/ledger.h"

namespace mnet::cni_node {

using ledger::ObjectName;

struct ManifestObject {
  ObjectName id;
  int document = 1;  // in its file, from 1
  json::Object object;
};

// A stream of YAML documents or of JSON objects; empty documents are skipped, lists taken apart.
// Errors say which document.
Result<std::vector<ManifestObject>> parse_manifest(std::string_view text);

// Whether a text that may not even parse might hold a Secret, which must not be logged.
bool may_hold_secret(std::string_view text);

}  // namespace mnet::cni_node
