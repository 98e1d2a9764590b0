#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cni/address.h"
#include "json/at.h"
#include "json/json.h"
#include "lint/config_rules.h"

namespace mnet::lint {
namespace {

using Bytes = std::array<std::uint8_t, 16>;

// How many bits of the 16 bytes the prefix has: IPv4 addresses are kept in mapped form.
int bits_of(const cni::Cidr& cidr) { return cidr.prefix + (cidr.is_v4() ? 96 : 0); }

// The first or the last address of the network.
Bytes edge(const cni::Cidr& cidr, bool is_last) {
  Bytes bytes = cidr.address.bytes();
  for (int bit = bits_of(cidr); bit < 128; ++bit) {
    const auto mask = static_cast<std::uint8_t>(0x80 >> (bit % 8));
    std::uint8_t& byte = bytes[static_cast<std::size_t>(bit / 8)];
    byte = static_cast<std::uint8_t>(is_last ? byte | mask : byte & ~mask);
  }
  return bytes;
}

bool is_inside(const cni::IpAddress& address, const cni::Cidr& cidr) {
  return address.is_v4() == cidr.is_v4() && address.bytes() >= edge(cidr, false) &&
         address.bytes() <= edge(cidr, true);
}

// Each range is compared with those before it.
constexpr std::size_t kMostCompared = 200;

bool do_overlap(const AddressRange& a, const AddressRange& b) {
  return a.is_v4 == b.is_v4 && a.first <= b.last && b.first <= a.last;
}

std::optional<AddressRange> range_of(const json::Object& range) {
  const std::string subnet = json::text_of(range.find_folded("subnet"));
  const auto cidr = cni::Cidr::parse(subnet);
  if (!cidr) return std::nullopt;
  const auto start = cni::IpAddress::parse(json::text_of(range.find_folded("rangeStart")));
  const auto end = cni::IpAddress::parse(json::text_of(range.find_folded("rangeEnd")));
  AddressRange out;
  out.is_v4 = cidr->is_v4();
  out.first = start ? start->bytes() : edge(*cidr, false);
  out.last = end ? end->bytes() : edge(*cidr, true);
  out.text = start || end ? cat(cni::IpAddress::of_bytes(out.first).text(), "-",
                                cni::IpAddress::of_bytes(out.last).text())
                          : subnet;
  return out;
}

void add_ranges(const json::Object& ipam, const std::string& pointer,
                std::vector<AddressRange>& out) {
  const auto add = [&out](const json::Value& value, std::string there) {
    const json::Object* object = value.as_object();
    auto range = object == nullptr ? std::nullopt : range_of(*object);
    if (!range) return;
    range->pointer = std::move(there);
    out.push_back(*std::move(range));
  };
  if (ipam.find_folded("subnet") != nullptr) add(json::Value(ipam), cat(pointer, "/subnet"));
  const json::Array* sets = json::as_array(ipam.find_folded("ranges"));
  for (std::size_t i = 0; sets != nullptr && i < sets->size(); ++i) {
    const json::Array* set = (*sets)[i].as_array();
    for (std::size_t j = 0; set != nullptr && j < set->size(); ++j) {
      add((*set)[j], cat(pointer, "/ranges/", i, "/", j));
    }
  }
}

class IpamCheck {
 public:
  IpamCheck(const PluginPart& plugin, Reporter& report) : plugin_(plugin), report_(report) {}

  void run(const json::Object& ipam, const std::string& pointer) {
    const std::string type = json::text_of(ipam.find_folded("type"));
    if (type == "host-local") check_host_local(ipam, pointer);
    if (type == "static") check_static(ipam, pointer);
    if (type == "whereabouts") check_whereabouts(ipam, pointer);
    if (type == "host-local" || type == "static") check_routes(ipam, pointer);
  }

 private:
  void refuse(const std::string& pointer, std::string why) {
    report_.value(pointer, "MN017", std::move(why));
  }

  std::optional<cni::Cidr> cidr(const json::Object& object, std::string_view key,
                                const std::string& pointer) {
    const json::Value* value = object.find_folded(key);
    if (value == nullptr || value->is_null()) return std::nullopt;
    const std::string text = json::text_of(value);
    auto parsed = cni::Cidr::parse(text);
    if (parsed) return *parsed;
    refuse(below(pointer, key),
           cat(key, " must be an address with prefix length such as 10.1.0.0/24, not ",
               go_quoted(text)));
    return std::nullopt;
  }

  std::optional<cni::IpAddress> address(const json::Object& object, std::string_view key,
                                        const std::string& pointer) {
    const std::string text = json::text_of(object.find_folded(key));
    if (text.empty()) return std::nullopt;
    auto parsed = cni::IpAddress::parse(text);
    if (parsed) return *parsed;
    refuse(below(pointer, key), cat(key, " must be an address, not ", go_quoted(text)));
    return std::nullopt;
  }

  void check_host_local(const json::Object& ipam, const std::string& pointer) {
    const json::Array* sets = json::as_array(ipam.find_folded("ranges"));
    const bool has_subnet = ipam.find_folded("subnet") != nullptr;
    // Without either, the capability ipRanges may provide them.
    if (has_subnet) check_range(ipam, pointer);
    for (std::size_t i = 0; sets != nullptr && i < sets->size(); ++i) {
      const json::Array* set = (*sets)[i].as_array();
      const std::string there = cat(pointer, "/ranges/", i);
      if (set == nullptr) {
        refuse(there, cat("ranges must be a list of lists of ranges, [[{\"subnet\": ...}]], not ",
                          (*sets)[i].kind()));
        continue;
      }
      if (set->empty()) refuse(there, "a set of ranges must not be empty");
      for (std::size_t j = 0; j < set->size(); ++j) {
        const json::Object* range = (*set)[j].as_object();
        if (range != nullptr) check_range(*range, cat(there, "/", j));
      }
    }
    check_side_by_side(ipam, pointer);
  }

  // All ranges of one ipam.
  void check_side_by_side(const json::Object& ipam, const std::string& pointer) {
    std::vector<AddressRange> ranges;
    add_ranges(ipam, pointer, ranges);
    ranges.resize(std::min(ranges.size(), kMostCompared));
    const auto set_of = [](const AddressRange& range) {
      return range.pointer.substr(0, range.pointer.rfind('/'));
    };
    for (std::size_t i = 1; i < ranges.size(); ++i) {
      if (ranges[i].is_v4 != ranges[i - 1].is_v4 && set_of(ranges[i]) == set_of(ranges[i - 1])) {
        refuse(ranges[i].pointer, "IPv4 and IPv6 cannot be in one set: make a set of each");
      }
      const auto others = std::span(ranges).first(i);
      const auto other = std::ranges::find_if(
          others, [&](const AddressRange& one) { return do_overlap(one, ranges[i]); });
      if (other != others.end()) {
        refuse(ranges[i].pointer,
               cat(ranges[i].text, " overlaps ", other->text, " of the same ipam"));
      }
    }
  }

  void check_range(const json::Object& range, const std::string& pointer) {
    const auto subnet = cidr(range, "subnet", pointer);
    const auto start = address(range, "rangeStart", pointer);
    const auto end = address(range, "rangeEnd", pointer);
    const auto gateway = address(range, "gateway", pointer);
    if (!subnet) return;
    check_gateway(gateway, *subnet, below(pointer, "gateway"));
    if (edge(*subnet, false) != subnet->address.bytes()) {
      const cni::Cidr network{cni::IpAddress::of_bytes(edge(*subnet, false)), subnet->prefix};
      refuse(below(pointer, "subnet"),
             cat("subnet has host bits: the network is ", network.text()));
    }
    if (bits_of(*subnet) > 126) {
      refuse(below(pointer, "subnet"),
             cat("subnet ", subnet->text(), " is too small to take addresses from"));
    }
    for (const auto& [key, limit] :
         {std::pair<std::string_view, const std::optional<cni::IpAddress>&>("rangeStart", start),
          {"rangeEnd", end}}) {
      if (limit && !is_inside(*limit, *subnet)) {
        refuse(below(pointer, key),
               cat(key, " ", limit->text(), " is not in subnet ", subnet->text()));
      }
    }
    if (start && end && start->bytes() > end->bytes()) {
      refuse(below(pointer, "rangeEnd"), "rangeEnd is before rangeStart");
    }
  }

  // The IPAM plugin takes it. ptp makes a route to it, and each link leads to IPv6's link-local
  // ones.
  void check_gateway(const std::optional<cni::IpAddress>& gateway, const cni::Cidr& subnet,
                     const std::string& pointer) {
    if (!gateway || is_inside(*gateway, subnet) || plugin_.type == "ptp") return;
    const bool is_link_local =
        !gateway->is_v4() && is_inside(*gateway, cni::Cidr::parse("fe80::/10").value());
    if (is_link_local && !subnet.is_v4()) return;
    const cni::Cidr network{cni::IpAddress::of_bytes(edge(subnet, false)), subnet.prefix};
    report_.value(pointer, "MN027",
                  cat("gateway ", gateway->text(), " is not in ", network.text(),
                      ": routes through it fail unless another route leads to it"));
  }

  void check_static(const json::Object& ipam, const std::string& pointer) {
    const json::Array* addresses = json::as_array(ipam.find_folded("addresses"));
    for (std::size_t i = 0; addresses != nullptr && i < addresses->size(); ++i) {
      const json::Object* one = (*addresses)[i].as_object();
      const std::string there = cat(pointer, "/addresses/", i);
      if (one == nullptr) {
        refuse(there, cat("an element of addresses must be an object with \"address\", not ",
                          (*addresses)[i].kind()));
        continue;
      }
      if (one->find_folded("address") == nullptr) {
        refuse(there, "an element of addresses needs \"address\"");
      }
      const auto own = cidr(*one, "address", there);
      const auto gateway = address(*one, "gateway", there);
      if (own) check_gateway(gateway, *own, below(there, "gateway"));
    }
  }

  // `10.0.0.0/24` or `10.0.0.5-10.0.0.9/24`
  void check_whereabouts(const json::Object& ipam, const std::string& pointer) {
    const std::string range = json::text_of(ipam.find_folded("range"));
    const std::size_t dash = range.find('-');
    const bool is_good =
        dash == std::string::npos
            ? cni::Cidr::parse(range).has_value()
            : cni::IpAddress::parse(trim(std::string_view(range).substr(0, dash))).has_value() &&
                  cni::Cidr::parse(trim(std::string_view(range).substr(dash + 1))).has_value();
    if (!range.empty() && !is_good) {
      refuse(below(pointer, "range"), cat("range must be an address with prefix length such as "
                                          "10.1.0.0/24, not ",
                                          go_quoted(range)));
    }
    (void)address(ipam, "gateway", pointer);
    const json::Array* excluded = json::as_array(ipam.find_folded("exclude"));
    for (std::size_t i = 0; excluded != nullptr && i < excluded->size(); ++i) {
      const std::string text = json::text_of(&(*excluded)[i]);
      if (!cni::Cidr::parse(text) && !cni::IpAddress::parse(text)) {
        refuse(cat(pointer, "/exclude/", i),
               cat("exclude: not an address range: ", go_quoted(text)));
      }
    }
  }

  void check_routes(const json::Object& ipam, const std::string& pointer) {
    const json::Array* routes = json::as_array(ipam.find_folded("routes"));
    for (std::size_t i = 0; routes != nullptr && i < routes->size(); ++i) {
      const json::Object* route = (*routes)[i].as_object();
      if (route == nullptr) continue;
      const std::string there = cat(pointer, "/routes/", i);
      if (route->find_folded("dst") == nullptr) refuse(there, "a route needs \"dst\"");
      (void)cidr(*route, "dst", there);
      (void)address(*route, "gw", there);
    }
  }

  const PluginPart& plugin_;
  Reporter& report_;
};

// Plugins with the same value share a link, so their address ranges must not overlap.
std::string link_of(const PluginPart& plugin) {
  if (plugin.type == "bridge") {
    const std::string bridge = json::text_of(plugin.conf.find_folded("bridge"));
    const json::Value* vlan = plugin.conf.find_folded("vlan");
    const bool has_vlan = vlan != nullptr && vlan->as_number() != nullptr;
    return cat("bridge ", bridge.empty() ? "cni0" : bridge,
               has_vlan ? cat(" vlan ", vlan->as_number()->text()) : "");
  }
  return {};
}

}  // namespace

void check_ipam(const PluginPart& plugin, const json::Object& ipam, Reporter& report) {
  IpamCheck(plugin, report).run(ipam, below(plugin.pointer, "ipam"));
}

std::vector<AddressRange> ranges_of(const json::Object& config) {
  std::vector<AddressRange> all;
  for (const PluginPart& plugin : plugins_of(config)) {
    const json::Object* ipam = json::as_object(plugin.conf.find_folded("ipam"));
    const std::string link = link_of(plugin);
    if (link.empty() || ipam == nullptr) continue;
    if (json::text_of(ipam->find_folded("type")) != "host-local") continue;
    std::vector<AddressRange> ranges;
    add_ranges(*ipam, cat(plugin.pointer, "/ipam"), ranges);
    for (AddressRange& range : ranges) {
      range.link = link;
      range.network = json::text_of(config.find_folded("name"));
      all.push_back(std::move(range));
    }
  }
  return all;
}

}  // namespace mnet::lint
