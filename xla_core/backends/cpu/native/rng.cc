#include "xla_core/backends/cpu/native/rng.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "xla_core/base/error.h"
#include "xla_core/base/parallel_for.h"

namespace armillary::native {
namespace {

using U128 = unsigned __int128;

// Counters are worked on in groups of this many: enough for vectors, and small on the stack.
constexpr int64_t kGroup = 64;

#define ARM_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))

// Threefry-2x32-20 of the counters first ... first + kGroup - 1.
ARM_CLONES void threefry_group(uint64_t key, uint64_t first, uint32_t* __restrict x0,
                               uint32_t* __restrict x1) {
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  const uint32_t keys[3] = {k0, k1, 0x1BD11BDAu ^ k0 ^ k1};
  for (int64_t i = 0; i < kGroup; ++i) {
    x0[i] = static_cast<uint32_t>(first + i) + k0;
    x1[i] = static_cast<uint32_t>((first + i) >> 32) + k1;
  }
  for (uint32_t block = 0; block < 5; ++block) {
    const int* r = kRotations[block % 2];
    const uint32_t add0 = keys[(block + 1) % 3], add1 = keys[(block + 2) % 3] + block + 1;
    for (int64_t i = 0; i < kGroup; ++i) {
      uint32_t a = x0[i], b = x1[i];
      a += b, b = (b << r[0] | b >> (32 - r[0])) ^ a;
      a += b, b = (b << r[1] | b >> (32 - r[1])) ^ a;
      a += b, b = (b << r[2] | b >> (32 - r[2])) ^ a;
      a += b, b = (b << r[3] | b >> (32 - r[3])) ^ a;
      x0[i] = a + add0;
      x1[i] = b + add1;
    }
  }
}

// Philox-4x32-10; word w of counter i goes to out[w][i].
ARM_CLONES void philox_group(uint64_t key, const uint32_t* __restrict counters, uint32_t* __restrict out) {
  std::memcpy(out, counters, 4 * kGroup * sizeof(uint32_t));
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
    for (int64_t i = 0; i < kGroup; ++i) {
      const uint64_t p0 = uint64_t{0xD2511F53u} * out[i], p1 = uint64_t{0xCD9E8D57u} * out[2 * kGroup + i];
      out[i] = static_cast<uint32_t>(p1 >> 32) ^ out[kGroup + i] ^ k0;
      out[kGroup + i] = static_cast<uint32_t>(p1);
      out[2 * kGroup + i] = static_cast<uint32_t>(p0 >> 32) ^ out[3 * kGroup + i] ^ k1;
      out[3 * kGroup + i] = static_cast<uint32_t>(p0);
    }
  }
}

// Where the two words of a pair go: they lie side by side along one dimension, the first even one, else the
// largest.
struct PairPlaces {
  int64_t pairs = 1;                       // counters used
  int64_t size = 1, half = 1, stride = 1;  // of the dimension that is split

  explicit PairPlaces(const Dims& dims) {
    if (dims.empty()) return;
    auto split = std::ranges::find_if(dims, [](int64_t d) { return d % 2 == 0; });
    if (split == dims.end()) split = std::ranges::max_element(dims);
    size = *split;
    half = size - size / 2;
    stride = product({std::next(split), dims.end()});
    pairs = product({dims.begin(), split}) * half * stride;
  }
  // The element of the pair's first word; its second word is `stride` further, if there is such a place.
  int64_t first(int64_t pair) const {
    return (pair / stride / half * size + 2 * (pair / stride % half)) * stride + pair % stride;
  }
  bool has_second(int64_t pair) const { return 2 * (pair / stride % half) + 1 < size; }
};

template <class T>
void threefry_pairs(uint64_t key, uint64_t counter, const PairPlaces& places, T* out) {
  parallel_for((places.pairs + kGroup - 1) / kGroup, 32, [&](int64_t begin, int64_t end) {
    uint32_t x0[kGroup], x1[kGroup];
    for (int64_t g = begin * kGroup; g < end * kGroup; g += kGroup) {
      threefry_group(key, counter + g, x0, x1);
      for (int64_t i = 0; i < std::min(kGroup, places.pairs - g); ++i) {
        const int64_t at = places.first(g + i);
        out[at] = static_cast<T>(x0[i]);
        if (places.has_second(g + i)) out[at + places.stride] = static_cast<T>(x1[i]);
      }
    }
  });
}

void threefry_words(uint64_t key, uint64_t counter, int64_t n, uint64_t* out) {
  parallel_for((n + kGroup - 1) / kGroup, 32, [&](int64_t begin, int64_t end) {
    uint32_t x0[kGroup], x1[kGroup];
    for (int64_t g = begin * kGroup; g < end * kGroup; g += kGroup) {
      threefry_group(key, counter + g, x0, x1);
      for (int64_t i = 0; i < std::min(kGroup, n - g); ++i) out[g + i] = x0[i] | uint64_t{x1[i]} << 32;
    }
  });
}

// Returns how far the counter moves.
uint64_t threefry(uint64_t key, uint64_t counter, const ArrayRef& bits) {
  const int64_t n = bits.size();
  if (byte_size(bits.dtype) == 8) return threefry_words(key, counter, n, bits.as<uint64_t>()), n;
  const PairPlaces places(bits.dims);
  if (n == 0) return 0;
  switch (byte_size(bits.dtype)) {
    case 1:
      threefry_pairs(key, counter, places, bits.as<uint8_t>());
      break;
    case 2:
      threefry_pairs(key, counter, places, bits.as<uint16_t>());
      break;
    default:
      threefry_pairs(key, counter, places, bits.as<uint32_t>());
      break;
  }
  return places.pairs;
}

void philox_counters(U128 first, uint32_t* counters) {
  for (int64_t i = 0; i < kGroup; ++i)
    for (int w = 0; w < 4; ++w) counters[w * kGroup + i] = static_cast<uint32_t>((first + i) >> (32 * w));
}

// Four words a counter, in order; dtypes below 32 bits keep the low bits of each.
template <class T>
void philox_words(uint64_t key, U128 counter, int64_t n, T* out) {
  parallel_for((n + 4 * kGroup - 1) / (4 * kGroup), 16, [&](int64_t begin, int64_t end) {
    uint32_t counters[4 * kGroup], words[4 * kGroup];
    for (int64_t g = begin; g < end; ++g) {
      philox_counters(counter + static_cast<U128>(g * kGroup), counters);
      philox_group(key, counters, words);
      const int64_t at = g * 4 * kGroup;
      for (int64_t i = 0; i < std::min(4 * kGroup, n - at); ++i)
        out[at + i] = static_cast<T>(words[i % 4 * kGroup + i / 4]);
    }
  });
}

uint64_t philox(uint64_t key, U128 counter, const ArrayRef& bits) {
  const int64_t n = bits.size();
  switch (byte_size(bits.dtype)) {
    case 1:
      philox_words(key, counter, n, bits.as<uint8_t>());
      break;
    case 2:
      philox_words(key, counter, n, bits.as<uint16_t>());
      break;
    case 4:
      philox_words(key, counter, n, bits.as<uint32_t>());
      break;
    default:
      philox_words(key, counter, 2 * n, bits.as<uint32_t>());
      return (n + 1) / 2;  // low word first
  }
  return (n + 3) / 4;
}

}  // namespace

void philox_blocks(uint64_t key, U128 first, int64_t count, uint32_t* out) {
  philox_words(key, first, 4 * count, out);
}

void rng_bit_generator(RngAlgorithm algorithm, const ArrayRef& state, const ArrayRef& new_state,
                       const ArrayRef& bits) {
  ARM_CHECK(bit_width(bits.dtype) >= 8 && state.bytes() % 8 == 0 && state.bytes() >= 16);
  std::vector<uint64_t> words(state.bytes() / 8);
  std::memcpy(words.data(), state.data, state.bytes());
  if (algorithm == RngAlgorithm::kThreeFry) {
    words[1] += threefry(words[0], words[1], bits);
  } else {
    // A state without the counter's high half takes the key in its place.
    const bool full = words.size() > 2;
    U128 counter = U128{full ? words[2] : words[0]} << 64 | words[1];
    counter += philox(words[0], counter, bits);
    words[1] = static_cast<uint64_t>(counter);
    if (full) words[2] = static_cast<uint64_t>(counter >> 64);
  }
  std::memcpy(new_state.data, words.data(), new_state.bytes());
}

}  // namespace armillary::native
