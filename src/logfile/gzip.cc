#include "logfile/gzip.h"

#include <sys/stat.h>
#include <zconf.h>
#include <zlib.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <ios>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/durability.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "sys/append_file.h"
#include "sys/file.h"

namespace mnet::logfile {
namespace {

constexpr std::size_t kChunk = 64u << 10;

Error failed(std::string_view doing, std::string_view path) {
  return Error::from_errno(errno == 0 ? EIO : errno, cat(doing, " ", path));
}

// The same name in every attempt, so that the next one overwrites what a crash has left.
std::string temporary_of(const std::string& path) {
  const std::size_t name = path.rfind('/') + 1;
  return cat(path.substr(0, name), sys::kTemporaryPrefix, path.substr(name), kGzipSuffix);
}

Result<void> copy_compressed(const std::string& from, const std::string& to) {
  std::ifstream in(from, std::ios::binary);
  if (!in) return failed("open", from);
  errno = 0;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> out(::gzopen(to.c_str(), "wbe"), ::gzclose);
  if (!out) return failed("open", to);

  std::vector<char> chunk(kChunk);
  for (;;) {
    in.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    const auto got = static_cast<unsigned>(in.gcount());
    if (in.bad()) return failed("read", from);
    if (got == 0) break;
    if (::gzwrite(out.get(), chunk.data(), got) != static_cast<int>(got)) {
      return failed("write", to);
    }
  }
  errno = 0;
  if (::gzclose(out.release()) != Z_OK) return failed("write", to);
  return {};
}

Result<void> make_compressed(const std::string& path, const std::string& temporary) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return failed("stat", path);
  // zlib would create it with its own choice of mode.
  MNET_TRY([[maybe_unused]] const auto& made,
           sys::AppendFile::open(temporary, status.st_mode & 07777));
  MNET_TRY_VOID(copy_compressed(path, temporary));
  MNET_TRY_VOID(sys::sync_file(temporary));
  const std::string compressed = cat(path, kGzipSuffix);
  if (::rename(temporary.c_str(), compressed.c_str()) != 0) return failed("rename", temporary);
  return {};
}

}  // namespace

Result<void> compress_file(const std::string& path) {
  const std::string temporary = temporary_of(path);
  auto made = make_compressed(path, temporary);
  if (!made) {
    (void)sys::remove_file(temporary, Durability::kInPlace);  // the first error says more
    return made;
  }
  MNET_TRY([[maybe_unused]] const auto& removed, sys::remove_file(path, Durability::kInPlace));
  return {};
}

Result<std::string> compressed(std::string_view bytes) {
  constexpr int kGzip = 15 + 16;  // the largest window, and the header of gzip
  constexpr int kMemory = 8;
  z_stream stream{};
  if (::deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kMemory,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
    return Error(Errc::kIo, "zlib cannot start");
  }
  const std::unique_ptr<z_stream, int (*)(z_stream*)> owner(&stream, ::deflateEnd);
  std::string out(::deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  if (::deflate(&stream, Z_FINISH) != Z_STREAM_END) return Error(Errc::kIo, "zlib has failed");
  out.resize(stream.total_out);
  return out;
}

}  // namespace mnet::logfile
