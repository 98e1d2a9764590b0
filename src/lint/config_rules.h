// Rules for one network's configuration: a definition's spec.config or a CNI configuration file.
// Internal.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/json.h"
#include "lint/finding.h"
#include "lint/lint.h"
#include "lint/text.h"

namespace mnet::lint {

// One plugin of a configuration, and where it stands.
struct PluginPart {
  const json::Object& conf;
  std::string pointer;  // "" for a conf, /plugins/0 in a list
  std::string type;
};
// Refers to `config`.
std::vector<PluginPart> plugins_of(const json::Object& config);

// The pointer of a member of the value at `pointer`.
std::string below(std::string_view pointer, std::string_view key);

// What MN015 says.
std::string unknown_version(std::string_view version);

// What findings of one text have in common.
class Reporter {
 public:
  Reporter(const Text& text, std::string object, std::vector<Finding>& findings)
      : text_(text), object_(std::move(object)), findings_(findings) {}

  void value(std::string_view pointer, std::string_view code, std::string why) {
    findings_.push_back({text_.spot(pointer), code, object_, std::move(why)});
  }
  void key(std::string_view pointer, std::string_view code, std::string why) {
    findings_.push_back({text_.spot(pointer, Part::kKey), code, object_, std::move(why)});
  }
  void error(std::string_view code, const std::string& why) {
    findings_.push_back({text_.spot_of_error(why), code, object_, text_.without_place(why)});
  }

 private:
  const Text& text_;
  const std::string object_;
  std::vector<Finding>& findings_;
};

// Everything but what the daemon itself refuses.
void check_config(const json::Object& config, const Options& options, Reporter& report);
// What the plugin's program would refuse.
void check_values(const PluginPart& plugin, Reporter& report);
// The same of the whole list: some only go on with what a plugin before them began.
void check_order(const std::vector<PluginPart>& plugins, Reporter& report);
// Addresses and ranges of the plugin's `ipam`.
void check_ipam(const PluginPart& plugin, const json::Object& ipam, Reporter& report);

// The range of addresses of one plugin with host-local, and which link they are used on.
struct AddressRange {
  std::string link;     // bridge br0
  std::string network;  // by name, as host-local keeps addresses
  std::string pointer;
  bool is_v4 = true;
  std::array<std::uint8_t, 16> first{}, last{};
  std::string text;  // as it is written
};
std::vector<AddressRange> ranges_of(const json::Object& config);

}  // namespace mnet::lint
