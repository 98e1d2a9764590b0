// Where a Reflector puts what it sees.
#pragma once

#include <string>

#include "base/result.h"
#include "json/json.h"
#include "kube/watch_event.h"

namespace mnet::kube {

// Called on the reflector's loop. References are valid during the call. An object that add() or
// change() refuses comes once more, and then is skipped.
class Sink {
 public:
  virtual ~Sink() = default;

  // A new list begins beside the one that is in use.
  virtual void begin() {}
  virtual Result<void> add(const json::Object& object) = 0;
  // The new list is complete and takes the place of the old one: what it lacks is gone.
  virtual void commit() {}

  // What happened to an object after the list: kAdded, kModified, or kDeleted with its last state.
  // The same state may come again.
  virtual Result<void> change(EventType type, const json::Object& object) = 0;

  // The one object that is followed does not exist, says a GET; its list was empty.
  virtual void absent() {}
  // The server answers for the first time, or again after trouble.
  virtual void connected() {}
  // A failure after which the reflector tries again; the same words at most once a minute.
  virtual void trouble(const std::string& why) { (void)why; }
};

}  // namespace mnet::kube
