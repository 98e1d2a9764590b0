#include "metrics/record_counts.h"

#include <set>
#include <string>

#include "aio/task.h"
#include "base/result.h"
#include "base/try.h"
#include "store/store.h"

namespace mnet::metrics {
namespace {

Result<store::Counts> count(const std::set<std::string>& directories) {
  store::Counts sum;
  for (const std::string& directory : directories) {
    MNET_TRY(const auto& found, store::count_files(directory));
    sum.attachments += found.attachments;
    sum.scratch += found.scratch;
    sum.results += found.results;
    sum.bad_pending_dels += found.bad_pending_dels;
  }
  return sum;
}

}  // namespace

aio::Task<void> RecordCounts::refresh() {
  if (is_counting_) co_return Result<void>();
  is_counting_ = true;
  const auto counted =
      co_await pool_.run([directories = directories_()] { return count(directories); });
  is_counting_ = false;
  if (!counted) co_return counted.error();
  numbers_ = *counted;
  co_return Result<void>();
}

}  // namespace mnet::metrics
