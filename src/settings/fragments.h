// The fragments of a configuration: what a folder beside daemon-config.json adds to it. Knows
// nothing about keys.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "json/json.h"

namespace mnet::settings {

struct Fragment {
  std::string path;
  json::Object document;
};

struct Fragments {
  std::vector<Fragment> read;         // in byte order of their names
  std::vector<std::string> warnings;  // of files that are not read
};

// `daemon-config.d` beside `daemon-config.json`.
std::string fragments_directory(const std::string& config_file);

// Every `*.json` in that folder but hidden ones. No folder: no fragments. A fragment that cannot be
// read, is larger than a ConfigMap or is one of too many is an error that names it.
Result<Fragments> load_fragments(const std::string& config_file);

}  // namespace mnet::settings
