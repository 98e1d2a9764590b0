// Decides what to do about one container that is on record. Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/attachment_record.h"
#include "model/reconcile_mode.h"
#include "upkeep/rule.h"

namespace mnet::upkeep {

using Mode = model::ReconcileMode;

enum class PodState : std::uint8_t {
  kUnknown,  // the store of pods is not filled
  kAbsent,
  kPresent,
  kRunning,
};

struct Facts {
  model::RecordState state = model::RecordState::kReady;
  bool is_complete = true;      // all its networks have results: its ADD may have been answered
  bool awaits_pending = false;  // the record says that a pending DEL is to end it
  bool has_pending = false;     // there is a pending DEL of the container
  bool had_damaged_pending = false;  // one was set aside: no person gave it up
  bool is_of_this_boot = true;
  Namespace netns = Namespace::kSame;
  bool has_pod = true;  // it is a pod's, and the store has every pod
  PodState pod = PodState::kPresent;
  bool has_living_sibling = false;  // another container of the same pod lives
  // Its namespace exists, but no process is in it, while processes are seen in those of others.
  bool is_empty = false;
  bool sees_host = true;          // namespaces are looked at as the host has them
  bool sees_running_pods = true;  // no namespace of a running pod is missing
  bool is_past_grace = false;     // it has been gone for long enough
};

enum class Action : std::uint8_t {
  kKeep,
  kWatch,   // it seems to be gone, for too short a time yet
  kFinish,  // its ADD is undone, or its DEL finished
  kDrop,    // a person gave it up: its records go, no plugin runs
  kReport,  // it seems to be gone; a person must look
  kDelete,  // it is gone: its networks are deleted
};

struct Decision {
  Action action = Action::kKeep;
  std::string_view reason = {};
};

// keep, watch, finish, drop, report, delete.
std::string_view name_of(Action action);

Decision decide(const Facts& facts, Mode mode);
// Its namespace is no longer there, or was left behind.
bool is_gone(const Facts& facts);

}  // namespace mnet::upkeep
