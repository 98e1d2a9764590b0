#include "multusctl/hands/archive.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "logfile/gzip.h"

namespace mnet::multusctl {
namespace {

constexpr std::size_t kBlock = 512, kMostName = 100, kMostPrefix = 155;

// Where the fields of a ustar header begin, and how long they are.
struct Field {
  std::size_t at, size;
};
constexpr Field kName{0, 100}, kMode{100, 8}, kOwner{108, 8}, kGroup{116, 8}, kSize{124, 12},
    kTime{136, 12}, kSum{148, 8}, kMagic{257, 8}, kPrefix{345, 155};
constexpr std::size_t kType = 156;

using Header = std::array<char, kBlock>;

void put(Header& header, Field field, std::string_view text) {
  text.copy(header.data() + field.at, field.size);
}

// Octal digits up to the last byte, which is NUL.
void put(Header& header, Field field, std::uint64_t number) {
  for (std::size_t i = field.size - 1; i > 0; --i, number /= 8) {
    header[field.at + i - 1] = static_cast<char>('0' + number % 8);
  }
}

std::string clean(std::string name) {
  for (char& c : name) {
    const bool is_fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                         (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_' || c == '/';
    if (!is_fine) c = '_';
  }
  for (std::size_t at = name.find(".."); at != std::string::npos; at = name.find("..")) {
    name[at] = '_';
  }
  const std::size_t begin = std::min(name.find_first_not_of('/'), name.size());
  name.erase(0, begin);
  if (name.size() > kMostName + kMostPrefix) name.resize(kMostName + kMostPrefix);
  return name;
}

// A long name is divided at a slash.
void put_name(Header& header, const std::string& name) {
  if (name.size() <= kMostName) return put(header, kName, name);
  const std::size_t slash = name.find('/', name.size() - kMostName - 1);
  if (slash == std::string::npos || slash > kMostPrefix) {
    return put(header, kName, std::string_view(name).substr(name.size() - kMostName));
  }
  put(header, kPrefix, std::string_view(name).substr(0, slash));
  put(header, kName, std::string_view(name).substr(slash + 1));
}

Header header_of(const ArchivedFile& file, std::uint64_t seconds) {
  Header header{};
  put_name(header, clean(file.name));
  put(header, kMode, 0600u);
  put(header, kOwner, 0u);
  put(header, kGroup, 0u);
  put(header, kSize, file.text.size());
  put(header, kTime, seconds);
  put(header, kSum, "        ");
  header[kType] = '0';
  put(header, kMagic, std::string_view("ustar\00000", 8));
  std::uint64_t sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  put(header, {kSum.at, 7}, sum);
  return header;
}

}  // namespace

Result<std::string> make_archive(const std::vector<ArchivedFile>& files,
                                 std::chrono::system_clock::time_point time) {
  const auto seconds = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count());
  std::string out;
  for (const ArchivedFile& file : files) {
    const Header header = header_of(file, seconds);
    out.append(header.data(), header.size());
    out += file.text;
    out.resize((out.size() + kBlock - 1) / kBlock * kBlock, '\0');
  }
  out.append(2 * kBlock, '\0');
  return logfile::compressed(out);
}

}  // namespace mnet::multusctl
