#include "base/sha256.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

namespace mnet {
namespace {

// The examples of FIPS 180-4 and of its test vectors.
TEST(Sha256, GivesTheKnownAnswers) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
                       "ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"),
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(sha256_hex(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, IsTheSameAsNumbersAndAsText) {
  EXPECT_EQ(sha256("abc"), (Sha256::Digest{0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223,
                                           0xb00361a3, 0x96177a9c, 0xb410ff61, 0xf20015ad}));
}

// Lengths around the block: where the padding takes one block more.
TEST(Sha256, PadsEveryLengthRight) {
  EXPECT_EQ(sha256_hex(std::string(55, 'a')),
            "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
  EXPECT_EQ(sha256_hex(std::string(56, 'a')),
            "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
  EXPECT_EQ(sha256_hex(std::string(64, 'a')),
            "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}

TEST(Sha256, OfPiecesIsThatOfTheWhole) {
  const std::string whole(300, 'a');
  for (const std::size_t size : {1U, 63U, 64U, 65U, 130U}) {
    Sha256 hash;
    for (std::size_t at = 0; at < whole.size(); at += size) hash.add(whole.substr(at, size));

    EXPECT_EQ(hash.hex(), sha256_hex(whole)) << size;
  }
}

}  // namespace
}  // namespace mnet
