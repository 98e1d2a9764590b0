// Any bytes as an attachment record: damaged, or read into a record that is the same after writing
// and reading.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "json/json.h"
#include "model/attachment_record.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto document =
      mnet::json::parse_object(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!document) return 0;
  const auto record = mnet::model::decode_record(*document);
  if (!record) {
    if (record.error().code() != mnet::Errc::kProtocol) std::abort();
    return 0;
  }
  const auto written = mnet::model::encode_record(*record);
  const auto again = mnet::model::decode_record(written);
  if (!again || again->attachments.size() != record->attachments.size()) std::abort();
  if (mnet::json::dump(mnet::model::encode_record(*again)) != mnet::json::dump(written)) {
    std::abort();
  }
  for (const auto& attachment : record->attachments) {
    if (record->find(attachment.ifname) != &attachment) std::abort();
    if (mnet::model::config_hash(attachment.config).size() != 71) std::abort();
  }
  return 0;
}
