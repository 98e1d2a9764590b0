// Events of the core API, as `kubectl describe` shows them.
#pragma once

#include <chrono>
#include <string>

#include "json/json.h"

namespace mnet::kube {

struct Event {
  std::string ns;
  json::Object involved;  // kind, apiVersion, name and so on of the object that it is about
  bool is_warning = false;
  std::string reason, message;
  std::string component;  // that tells it
};

json::Object event_object(Event event, std::string name, std::chrono::system_clock::time_point now);

// The name of an event about an object of that name: it and the time, or a UUID made of both if
// that is not a valid name (02, 5.6).
std::string event_name(const std::string& of, std::chrono::system_clock::time_point now);

}  // namespace mnet::kube
