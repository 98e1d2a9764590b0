#include "upkeep/decision.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "model/attachment_record.h"
#include "upkeep/rule.h"

namespace mnet::upkeep {
namespace {

using model::RecordState;

// All facts that there can be, in every combination.
void for_all(const std::function<void(const Facts&, Mode)>& visit) {
  const auto each = [](auto values, auto& field, auto next) {
    for (const auto value : values) {
      field = value;
      next();
    }
  };
  const std::vector<RecordState> states = {RecordState::kCreating, RecordState::kReady,
                                           RecordState::kDeleting};
  const std::vector<Namespace> namespaces{Namespace::kSame, Namespace::kOther, Namespace::kGone,
                                          Namespace::kUnknown};
  const std::vector<PodState> pods{PodState::kUnknown, PodState::kAbsent, PodState::kPresent,
                                   PodState::kRunning};
  Facts f;
  each(states, f.state, [&] {
    each(namespaces, f.netns, [&] {
      each(pods, f.pod, [&] {
        for (unsigned bits = 0; bits < 2048; ++bits) {
          bool* const flags[] = {
              &f.is_complete,   &f.awaits_pending,     &f.has_pending,        &f.is_of_this_boot,
              &f.has_pod,       &f.has_living_sibling, &f.sees_host,          &f.sees_running_pods,
              &f.is_past_grace, &f.is_empty,           &f.had_damaged_pending};
          for (unsigned i = 0; i < 11; ++i) *flags[i] = (bits >> i & 1) != 0;
          for (const Mode mode : {Mode::kOff, Mode::kReport, Mode::kOn}) visit(f, mode);
        }
      });
    });
  });
}

bool runs_plugins(const Decision& decision) {
  return decision.action == Action::kFinish || decision.action == Action::kDelete;
}

// An ADD was answered, and no DEL was asked for since.
bool may_be_in_use(const Facts& facts) {
  return facts.state == RecordState::kReady ||
         (facts.state == RecordState::kCreating && facts.is_complete);
}

TEST(Decision, NeverTouchesALivingPodsNetwork) {
  for_all([](const Facts& facts, Mode mode) {
    const bool lives = may_be_in_use(facts) && facts.is_of_this_boot &&
                       ((facts.netns == Namespace::kSame && !facts.is_empty) ||
                        facts.netns == Namespace::kUnknown);
    if (!lives) return;
    EXPECT_EQ(decide(facts, mode).action, Action::kKeep);
  });
}

// A namespace that we fail to see is not gone: the pod, or all running pods, say otherwise.
TEST(Decision, NeedsTwoWitnessesToTakeAContainerForGone) {
  for_all([](const Facts& facts, Mode mode) {
    if (!may_be_in_use(facts) || !runs_plugins(decide(facts, mode))) return;
    EXPECT_EQ(mode, Mode::kOn);
    EXPECT_TRUE(facts.is_past_grace && facts.sees_running_pods && !facts.has_pending);
    EXPECT_TRUE(facts.sees_host || !facts.is_of_this_boot);
    EXPECT_TRUE(facts.has_living_sibling || !facts.has_pod || facts.pod == PodState::kAbsent);
    if (facts.has_living_sibling || facts.has_pod) return;
    EXPECT_FALSE(facts.is_of_this_boot) << "without a pod only a reboot tells";
  });
}

TEST(Decision, LeavesToAPendingDelWhatItWillDo) {
  for_all([](const Facts& facts, Mode mode) {
    if (facts.has_pending) EXPECT_EQ(decide(facts, mode).action, Action::kKeep);
  });
}

TEST(Decision, FinishesWhatACrashCutOff) {
  EXPECT_EQ(decide({.state = RecordState::kCreating, .is_complete = false}, Mode::kOff).action,
            Action::kFinish);
  EXPECT_EQ(decide({.state = RecordState::kDeleting}, Mode::kOff).action, Action::kFinish);
}

// The last write of an ADD may fail after its answer was promised.
TEST(Decision, TakesACompleteRecordForAnAnsweredAdd) {
  EXPECT_EQ(decide({.state = RecordState::kCreating, .is_complete = true}, Mode::kOn).action,
            Action::kKeep);
}

TEST(Decision, DropsWhatAPersonGaveUp) {
  EXPECT_EQ(decide({.state = RecordState::kDeleting, .awaits_pending = true}, Mode::kOn).action,
            Action::kDrop);
}

TEST(Decision, FinishesWhatADamagedPendingDelCannot) {
  EXPECT_EQ(
      decide({.state = RecordState::kDeleting, .awaits_pending = true, .had_damaged_pending = true},
             Mode::kOn)
          .action,
      Action::kFinish);
}

TEST(Decision, DeletesAContainerThatIsGone) {
  Facts gone{.netns = Namespace::kGone, .pod = PodState::kAbsent, .is_past_grace = true};
  EXPECT_EQ(decide(gone, Mode::kOn).action, Action::kDelete);
  EXPECT_EQ(decide(gone, Mode::kReport).action, Action::kReport);
  EXPECT_EQ(decide(gone, Mode::kOff).action, Action::kKeep);
  gone.is_past_grace = false;
  EXPECT_EQ(decide(gone, Mode::kOn).action, Action::kWatch);
  gone = {.netns = Namespace::kGone, .pod = PodState::kRunning, .is_past_grace = true};
  EXPECT_EQ(decide(gone, Mode::kOn).action, Action::kKeep);
  // The runtime died between ADD and saving: the kubelet made another sandbox for the same pod.
  gone.has_living_sibling = true;
  EXPECT_EQ(decide(gone, Mode::kOn).action, Action::kDelete);
  gone.sees_host = false;
  EXPECT_EQ(decide(gone, Mode::kOn).action, Action::kReport);
}

// It also left the namespace, before any process was in it.
TEST(Decision, DeletesAContainerWhoseNamespaceWasLeftBehindEmpty) {
  Facts left{.pod = PodState::kRunning, .is_empty = true, .is_past_grace = true};
  EXPECT_EQ(decide(left, Mode::kOn).action, Action::kKeep);
  left.has_living_sibling = true;
  EXPECT_EQ(decide(left, Mode::kOn).action, Action::kDelete);
  left.has_living_sibling = false;
  left.pod = PodState::kAbsent;
  EXPECT_EQ(decide(left, Mode::kOn).action, Action::kDelete);
}

}  // namespace
}  // namespace mnet::upkeep
