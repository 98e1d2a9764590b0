// Any bytes as an attachment record: damaged, or read into what is written the same again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "attach/attachment_record.h"
#include "base/error.h"
#include "json/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto document =
      mnet::json::parse_object(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!document) return 0;
  const auto record = mnet::attach::decode_record(*document);
  if (!record) {
    if (record.error().code() != mnet::Errc::kProtocol) std::abort();
    return 0;
  }
  const auto written = mnet::attach::encode_record(*record);
  const auto again = mnet::attach::decode_record(written);
  if (!again || again->attachments.size() != record->attachments.size()) std::abort();
  if (mnet::json::dump(mnet::attach::encode_record(*again)) != mnet::json::dump(written)) {
    std::abort();
  }
  for (const auto& attachment : record->attachments) {
    if (record->find(attachment.ifname) != &attachment) std::abort();
    if (mnet::attach::config_hash(attachment.config).size() != 71) std::abort();
  }
  return 0;
}
