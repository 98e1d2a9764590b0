#include "upkeep/decision.h"

#include <string_view>

#include "model/attachment_record.h"
#include "upkeep/rule.h"

namespace mnet::upkeep {
namespace {

// Why no request will ever ask for the container again; empty: one may.
std::string_view why_abandoned(const Facts& facts) {
  if (facts.has_living_sibling) return "its pod has another container";
  if (!facts.has_pod) return facts.is_of_this_boot ? "" : "the machine has booted since";
  return facts.pod == PodState::kAbsent ? "its pod is gone" : "";
}

// A record that an ADD may have been answered from.
Decision reconcile(const Facts& facts, Mode mode) {
  if (mode == Mode::kOff || !is_gone(facts)) return {};
  const std::string_view reason = why_abandoned(facts);
  if (reason.empty()) return {};
  if (!facts.is_past_grace) return {.action = Action::kWatch, .reason = reason};
  const bool is_sure = (facts.sees_host || !facts.is_of_this_boot) && facts.sees_running_pods;
  return {.action = mode == Mode::kOn && is_sure ? Action::kDelete : Action::kReport,
          .reason = reason};
}

}  // namespace

std::string_view name_of(Action action) {
  switch (action) {
    case Action::kKeep:
      return "keep";
    case Action::kWatch:
      return "watch";
    case Action::kFinish:
      return "finish";
    case Action::kDrop:
      return "drop";
    case Action::kReport:
      return "report";
    case Action::kDelete:
      return "delete";
  }
  return "";
}

bool is_gone(const Facts& facts) {
  return !facts.is_of_this_boot || facts.netns == Namespace::kGone ||
         facts.netns == Namespace::kOther || (facts.netns == Namespace::kSame && facts.is_empty);
}

Decision decide(const Facts& facts, Mode mode) {
  if (facts.has_pending) return {};  // its replay sees to it
  if (facts.state == model::RecordState::kDeleting) {
    if (facts.awaits_pending && !facts.had_damaged_pending) {
      return {.action = Action::kDrop, .reason = "its pending DEL was given up or removed by hand"};
    }
    return {.action = Action::kFinish, .reason = "its DEL was not finished"};
  }
  if (facts.state == model::RecordState::kCreating && !facts.is_complete) {
    return {.action = Action::kFinish, .reason = "its ADD was not finished"};
  }
  return reconcile(facts, mode);
}

}  // namespace mnet::upkeep
