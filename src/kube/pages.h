// The pages of one list, which a broken server may give without end.
#pragma once

#include <string>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"

namespace mnet::kube {

class Pages {
 public:
  // Whether another page follows one that ended with this token (`metadata.continue`). kProtocol:
  // the list has no end.
  Result<bool> go_on(const std::string& token) {
    if (token.empty()) return false;
    if (token == last_ || ++count_ == kMost) {
      return Error(
          Errc::kProtocol,
          cat("the list did not end: the server repeated a continue token, or sent more than ",
              kMost, " pages"));
    }
    last_ = token;
    return true;
  }

 private:
  static constexpr int kMost = 1000;  // no cluster has so many objects of a kind

  std::string last_;
  int count_ = 0;
};

}  // namespace mnet::kube
