// Runs the cases of one file of vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "group.h"
#include "json/json.h"

namespace mnet::vectors {

struct Tally {
  std::size_t passed = 0, failed = 0, skipped = 0;
  std::vector<std::string> failures;  // `<group>/<id>: <what is wrong>`

  void add(const Tally& other);
  std::string line() const;  // `N passed, N failed, N skipped`
};

enum class Mode : std::uint8_t {
  kVerify,  // every case must pass
  kDoubt,   // every expectation is falsified, one leaf at a time, and must then fail: this finds
            // cases that pass whatever the code does
};

// `cases` is the file's document. If `group` is null the file is unknown and all its cases fail.
Tally run_cases(const std::string& name, const json::Value& cases, const Group* group, Mode mode);

}  // namespace mnet::vectors
