// What an API server may send: the lines of a watch, and lists, cut anywhere.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "json/json.h"
#include "kube/list_reader.h"
#include "kube/objects.h"
#include "kube/reply.h"
#include "kube/watch_event.h"

namespace {

using mnet::kube::LineSplitter;
using mnet::kube::ListReader;

void read_object(const mnet::json::Object& object) {
  (void)mnet::kube::parse_pod(object);
  (void)mnet::kube::parse_network(object);
}

void read_watch(std::string_view text, std::size_t step) {
  LineSplitter lines(4096);
  for (std::size_t at = 0; at < text.size(); at += step) {
    lines.put(text.substr(at, step));
    while (const auto line = lines.next()) {
      if (const auto event = mnet::kube::parse_watch_event(line->text)) read_object(event->object);
    }
  }
}

void read_list(std::string_view text, std::size_t step) {
  ListReader reader(4096);
  for (std::size_t at = 0; at < text.size(); at += step) {
    if (!reader.put(text.substr(at, step))) return;
    while (const auto item = reader.next_item()) {
      if (const auto object = mnet::json::parse_object(*item)) read_object(*object);
    }
  }
  (void)reader.finish();
}

}  // namespace

// The first byte chooses the size of the pieces in which the rest arrives.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t step = data[0] % 64u + 1u;
  read_watch(text, step);
  read_list(text, step);
  (void)mnet::kube::parse_status(500, text);
  return 0;
}
